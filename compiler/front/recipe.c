// From a recipe and a model to a job: each parameter gets its line, each distinct instantiation its rule.
#include "front/sema_int.h"

#include <string.h>

struct built_rule {    // one instantiation that was tried
  uint32_t line, rule; // NO_INDEX: refused
  struct shape shape;
  enum storage dtype, grad;
};

struct builder {
  struct sema *s;
  struct front *f;
  const struct model *model;
  struct job_lines line;
  struct job *job;
  VEC(struct rule *) rule;
  VEC(struct built_rule) built;
  uint32_t *slot, cap; // hash table over `built`
};

// ---- what was picked

static void report_no_pick(struct sema *s, struct str pick) {
  struct diag *g = DIAG(s->f->diags, NO_SPAN, E0317, pick);
  VEC(struct str) names = {0};
  for (uint32_t m = 0; m < s->program->module.n; m++) {
    const struct module *mod = s->program->module.v[m];
    for (uint32_t i = 0; i < mod->decl.n; i++) {
      const struct decl *d = &mod->decl.v[i];
      if (d->kind == DECL_OPTIMIZER || d->kind == DECL_RECIPE) {
        VEC_PUSH(s->f->arena, names,
                 d->kind == DECL_RECIPE ? d->recipe->name : d->optimizer->name);
      }
    }
  }
  diag_suggest(s->f->diags, g, pick, names.v, names.n);
}

// The only recipe of the root file, else its only optimizer.
static void pick_default(struct sema *s, const struct recipe **r,
                         const struct optimizer **o) {
  uint32_t n_recipes = 0, n_optimizers = 0;
  const struct module *root = s->program->module.v[0];
  for (uint32_t i = 0; i < root->decl.n; i++) {
    if (root->decl.v[i].kind == DECL_RECIPE) {
      *r = root->decl.v[i].recipe;
      n_recipes++;
    } else if (root->decl.v[i].kind == DECL_OPTIMIZER) {
      *o = root->decl.v[i].optimizer;
      n_optimizers++;
    }
  }
  struct str path = s->f->sources->file.v[root->file].path;
  if (n_recipes > 1 || (n_recipes == 0 && n_optimizers > 1)) {
    struct diag *g = DIAG(s->f->diags, NO_SPAN, E0316, path,
                          n_recipes > 1 ? STR("recipe") : STR("optimizer"));
    diag_help(s->f->diags, g, STR("pick one by name: FILE:NAME"));
    *r = NULL;
    *o = NULL;
  } else if (n_recipes == 0 && n_optimizers == 0) {
    (void)DIAG(s->f->diags, NO_SPAN, E0318, path);
  } else if (n_recipes == 1) {
    *o = NULL;
  }
}

static void pick(struct sema *s, struct str name, const struct recipe **r,
                 const struct optimizer **o) {
  *r = NULL;
  *o = NULL;
  if (name.n == 0) {
    pick_default(s, r, o);
    return;
  }
  *r = program_recipe(s->program, name);
  *o = *r == NULL ? program_optimizer(s->program, name) : NULL;
  if (*r == NULL && *o == NULL) {
    report_no_pick(s, name);
  }
}

// ---- which line takes a parameter

static struct str with_shape(struct arena *a, const struct model_param *p) {
  struct str shape = shape_text(a, &p->shape), name = str_escape(a, p->name);
  return str_fmt(a, "for `%.*s` (shape %.*s)", STR_FMT(name), STR_FMT(shape));
}

static bool line_takes(struct builder *b, const struct bound_use *u,
                       const struct model_param *p) {
  if (u->use == NULL || u->use->when == NULL) {
    return true;
  }
  struct ctx c = {.s = b->s,
                  .diags = b->f->diags,
                  .r = u->r,
                  .scope = SCOPE_RECIPE_WHEN,
                  .shape = &p->shape,
                  .dtype = p->dtype,
                  .param_name = p->name,
                  .note_at = u->use->span};
  struct arena_mark mark = arena_mark(b->f->arena);
  c.note = with_shape(b->f->arena, p);
  bool truth = false;
  enum cls cls;
  bool known = type_condition(&c, u->use->when, "when", &truth, &cls);
  if (c.n_errors == 0) { // nothing of it is kept
    arena_rewind(b->f->arena, mark);
  }
  return known && truth;
}

static uint32_t line_for(struct builder *b, const struct model_param *p) {
  for (uint32_t i = 0; i < b->line.n; i++) {
    if (line_takes(b, &b->line.use[i], p)) {
      return i;
    }
  }
  return NO_INDEX; // only after an error: the last line is unconditional
}

// ---- instantiations, each once

static uint64_t built_hash(const struct built_rule *k) {
  uint64_t h = k->line * 31u + (uint64_t)k->dtype * 7u + (uint64_t)k->grad;
  for (uint32_t i = 0; i < k->shape.rank; i++) {
    h = (h ^ k->shape.dim[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

static bool built_eq(const struct built_rule *a, const struct built_rule *b) {
  return a->line == b->line && a->dtype == b->dtype && a->grad == b->grad &&
         shape_eq(&a->shape, &b->shape);
}

static uint32_t *slot_for(struct builder *b, const struct built_rule *k) {
  uint64_t i = built_hash(k) & (b->cap - 1);
  while (b->slot[i] != 0 && !built_eq(&b->built.v[b->slot[i] - 1], k)) {
    i = (i + 1) & (b->cap - 1);
  }
  return &b->slot[i];
}

static void grow_slots(struct builder *b) {
  b->cap = b->cap == 0 ? 64 : b->cap * 2;
  b->slot = ARENA_ARRAY(b->f->arena, uint32_t, b->cap);
  for (uint32_t i = 0; i < b->built.n; i++) {
    *slot_for(b, &b->built.v[i]) = i + 1;
  }
}

static void report_misfit(struct builder *b, const struct bound_use *u,
                          const struct model_param *p, const struct shape *seen,
                          const struct stmt *require) {
  struct arena *a = b->f->arena;
  struct str shape = shape_text(a, &p->shape), view = shape_text(a, seen);
  if (!shape_eq(seen, &p->shape)) {
    shape = str_fmt(a, "%.*s, seen as %.*s", STR_FMT(shape), STR_FMT(view));
  }
  struct span at = u->use != NULL ? u->use->span : require->span;
  struct diag *g = DIAG(b->f->diags, at, E0301, u->o->opt->name,
                        expr_text(a, require->value), p->name, shape);
  if (u->use != NULL) {
    diag_note(b->f->diags, g, require->span, STR("required here"));
    diag_help(b->f->diags, g,
              STR("let an earlier line take this parameter, or narrow this line's "
                  "`when`"));
  }
}

static bool has_matrix_op(const struct texpr *t) {
  if (t->kind == TEX_CALL && t->fn == FN_ORTHOGONALIZE) {
    return true;
  }
  for (uint32_t i = 0; i < t->n_args; i++) {
    if (has_matrix_op(t->arg[i])) {
      return true;
    }
  }
  return false;
}

enum { TINY = 16 };

static void warn_tiny(struct builder *b, const struct bound_use *u,
                      const struct model_param *p, const struct rule *rule) {
  if (rule->shape.rank < 2 || shape_rows(&rule->shape) >= TINY ||
      shape_cols(&rule->shape) >= TINY) {
    return;
  }
  for (uint32_t i = 0; i < rule->n_stmts; i++) {
    if (has_matrix_op(rule->stmt[i].value)) {
      struct span at = u->use != NULL ? u->use->span : u->o->opt->name_span;
      struct diag *g = DIAG(b->f->diags, at, W0907, u->o->opt->name,
                            str_fmt(b->f->arena, "%llu x %llu",
                                    (unsigned long long)shape_rows(&rule->shape),
                                    (unsigned long long)shape_cols(&rule->shape)),
                            p->name);
      diag_help(b->f->diags, g, STR("`flatten 1` views a convolution as one matrix"));
      return;
    }
  }
}

static uint32_t build_rule(struct builder *b, uint32_t line, const struct model_param *p,
                           const struct built_rule *k) {
  const struct bound_use *u = &b->line.use[line];
  struct target t = {.shape = k->shape, .dtype = k->dtype, .grad = k->grad};
  t.note = with_shape(b->f->arena, p);
  t.note_at = u->use != NULL ? u->use->span : u->o->opt->name_span;
  struct instance in = rule_instantiate(b->s, b->f->diags, u, &t);
  switch (in.fit) {
  case FIT_REQUIRE: report_misfit(b, u, p, &k->shape, in.require); return NO_INDEX;
  case FIT_ERROR: return NO_INDEX;
  case FIT_OK: break;
  }
  in.rule->use = line;
  warn_tiny(b, u, p, in.rule);
  VEC_PUSH(b->f->arena, b->rule, in.rule);
  return b->rule.n - 1;
}

static uint32_t rule_for(struct builder *b, uint32_t line, const struct model_param *p,
                         const struct shape *shape) {
  struct built_rule k = {.line = line,
                         .shape = *shape,
                         .dtype = p->dtype,
                         .grad = p->has_grad ? p->grad : p->dtype};
  if (b->built.n * 2 >= b->cap) {
    grow_slots(b);
  }
  uint32_t *slot = slot_for(b, &k);
  if (*slot == 0) {
    k.rule = build_rule(b, line, p, &k);
    VEC_PUSH(b->f->arena, b->built, k);
    *slot = b->built.n;
  }
  return b->built.v[*slot - 1].rule;
}

// ---- parameters

static void report_view(struct builder *b, const struct use *u,
                        const struct view_parts *v, const struct model_param *p) {
  struct arena *a = b->f->arena;
  struct diag *g =
      DIAG(b->f->diags, v->bad->span, E0314, p->name, shape_text(a, &p->shape), v->why);
  diag_note(b->f->diags, g, u->span, STR("this line takes it"));
}

static void resolve_param(struct builder *b, uint32_t i) {
  const struct model_param *p = &b->model->param[i];
  struct job_param *out = &b->job->param[i];
  *out = (struct job_param){.use = NO_INDEX, .rule = NO_INDEX};
  if (p->frozen || p->tied_to != NO_INDEX) {
    return;
  }
  out->use = line_for(b, p);
  if (out->use == NO_INDEX) {
    return;
  }
  const struct use *use = b->line.use[out->use].use;
  if (use == NULL || use->n_views == 0) {
    out->rule = rule_for(b, out->use, p, &p->shape);
    return;
  }
  struct view_parts v = views_apply(b->f->arena, use, &p->shape);
  if (v.part.n == 0) {
    report_view(b, use, &v, p);
    return;
  }
  out->rule = rule_for(b, out->use, p, &v.part.v[0]);
  if (use_splits(use)) {
    out->n_parts = v.part.n;
    out->part = ARENA_ARRAY(b->f->arena, uint32_t, v.part.n);
    for (uint32_t k = 0; k < v.part.n; k++) {
      out->part[k] = rule_for(b, out->use, p, &v.part.v[k]);
    }
  }
}

// ---- the job

static struct texpr *clip_of(struct sema *s, const struct recipe_info *r) {
  struct ctx c = {.s = s, .diags = s->f->diags, .r = r, .scope = SCOPE_RECIPE_HYPER};
  for (uint32_t i = 0; i < r->recipe->n_items; i++) {
    if (r->recipe->item[i].kind == ITEM_CLIP) {
      return type_expr(&c, r->recipe->item[i].clip);
    }
  }
  return NULL;
}

static void take_recipe(struct builder *b, const struct recipe_info *r) {
  b->line = recipe_lines(b->s, r);
  b->job->name = r->recipe->name;
  b->job->clip = clip_of(b->s, r);
  for (uint32_t i = 0; i < r->recipe->n_items; i++) {
    b->job->skip_nonfinite |= r->recipe->item[i].kind == ITEM_SKIP;
  }
}

static void take_optimizer(struct builder *b, const struct optimizer *o) {
  struct arena *a = b->f->arena;
  b->line.use = ARENA_NEW(a, struct bound_use);
  b->line.label = ARENA_NEW(a, struct str);
  b->line.use[0] = bound_use_new(b->s, sema_optimizer(b->s, o));
  b->line.label[0] = o->name;
  b->line.n = 1;
  b->job->name = o->name;
}

static void fill_uses(struct builder *b, const struct hyper_list *h) {
  struct arena *a = b->f->arena;
  b->job->use = ARENA_ARRAY(a, struct job_use, b->line.n);
  b->job->n_uses = b->line.n;
  for (uint32_t i = 0; i < b->line.n; i++) {
    const struct bound_use *u = &b->line.use[i];
    uint32_t end = i + 1 < b->line.n ? b->line.use[i + 1].first_hyper : h->v.n;
    b->job->use[i] = (struct job_use){.label = b->line.label[i],
                                      .use = u->use,
                                      .optimizer = u->o->opt,
                                      .first_hyper = u->first_hyper,
                                      .n_hypers = end - u->first_hyper};
    if (u->use != NULL && u->use->when != NULL) {
      b->job->use[i].when_text = expr_text(a, u->use->when);
    }
  }
  b->job->hyper = h->v.v;
  b->job->n_hypers = h->v.n;
}

// Optimizers are judged where a recipe uses them: two passes over parameters would say nothing twice.
static void fill_rules(struct builder *b) {
  b->job->param = ARENA_ARRAY(b->f->arena, struct job_param, b->model->n_params);
  for (uint32_t i = 0; i < b->model->n_params; i++) {
    resolve_param(b, i);
  }
  b->job->rule = b->rule.v;
  b->job->n_rules = b->rule.n;
}

struct job *sema_job(struct front *f, const struct program *p, const struct model *m,
                     const struct job_options *o) {
  struct sema s = {.f = f, .program = p};
  const struct recipe *recipe;
  const struct optimizer *optimizer;
  pick(&s, o->pick, &recipe, &optimizer);
  if (recipe == NULL && optimizer == NULL) {
    return NULL;
  }
  struct builder b = {
      .s = &s, .f = f, .model = m, .job = ARENA_NEW(f->arena, struct job)};
  b.job->model = m;
  uint32_t before = f->diags->n_errors;
  struct hyper_list h = {0};
  if (recipe != NULL) {
    const struct recipe_info *r = recipe_check(&s, recipe);
    take_recipe(&b, r);
    hypers_add_recipe(&s, r, &h);
  } else {
    take_optimizer(&b, optimizer);
  }
  settings_define(&s, &b.line, o->define, o->n_defines);
  for (uint32_t i = 0; i < b.line.n; i++) {
    hypers_add_use(&s, &b.line.use[i], b.line.label[i], &h);
  }
  settings_set(&s, &b.line, o->set, o->n_sets, &h);
  hypers_check(&s, &h);
  if (f->diags->n_errors == before) {
    fill_uses(&b, &h);
    fill_rules(&b);
  }
  return f->diags->n_errors == before ? b.job : NULL;
}
