// From a recipe and a model to a job: each parameter gets its line, each distinct instantiation its rule.
#include "front/recipe_int.h"

// ---- which line takes a parameter

static bool line_takes(struct job_builder *b, const struct bound_use *u,
                       const struct model_param *p, struct str note) {
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
                  .note = note,
                  .note_at = u->use->span};
  bool truth = false;
  enum cls cls;
  return type_condition(&c, u->use->when, "when", &truth, &cls) && truth;
}

static uint32_t line_for(struct job_builder *b, const struct model_param *p) {
  struct diags *d = b->f->diags;
  uint32_t said = d->n_errors + d->n_warnings + d->n_repeated, i = 0;
  struct arena_mark mark = arena_mark(b->f->arena);
  struct str note = param_note(b->f->arena, p);
  while (i < b->line.n && !line_takes(b, &b->line.use[i], p, note)) {
    i++;
  }
  if (d->n_errors + d->n_warnings + d->n_repeated == said) { // nothing of it is kept
    arena_rewind(b->f->arena, mark);
  }
  return i < b->line.n ? i
                       : NO_INDEX; // only after an error: the last line is unconditional
}

// ---- parameters

static void report_view(struct job_builder *b, const struct use *u,
                        const struct view_parts *v, const struct model_param *p) {
  struct arena *a = b->f->arena;
  struct diag *g =
      DIAG(b->f->diags, v->bad->span, E0314, p->name, shape_text(a, &p->shape), v->why);
  diag_note(b->f->diags, g, u->span, STR("this line takes it"));
}

static uint32_t take_rule(struct job_builder *b, uint32_t line,
                          const struct model_param *p, const struct shape *shape) {
  uint32_t rule = job_rule(b, line, p, shape);
  if (rule != NO_INDEX) {
    job_check_place(b, p, b->rule.v[rule]);
  }
  return rule;
}

static void resolve_param(struct job_builder *b, uint32_t i) {
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
    out->rule = take_rule(b, out->use, p, &p->shape);
    return;
  }
  struct view_parts v = views_apply(b->f->arena, use, &p->shape);
  if (v.part.n == 0) {
    report_view(b, use, &v, p);
    return;
  }
  out->rule = take_rule(b, out->use, p, &v.part.v[0]);
  if (use_splits(use)) {
    out->n_parts = v.part.n;
    out->part = ARENA_ARRAY(b->f->arena, uint32_t, v.part.n);
    for (uint32_t k = 0; k < v.part.n; k++) {
      out->part[k] = take_rule(b, out->use, p, &v.part.v[k]);
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

static void take_recipe(struct job_builder *b, const struct recipe_info *r) {
  b->line = recipe_lines(b->s, r);
  b->job->name = r->recipe->name;
  b->job->clip = clip_of(b->s, r);
  for (uint32_t i = 0; i < r->recipe->n_items; i++) {
    b->job->skip_nonfinite |= r->recipe->item[i].kind == ITEM_SKIP;
  }
}

static void take_optimizer(struct job_builder *b, const struct optimizer *o) {
  struct arena *a = b->f->arena;
  b->line.use = ARENA_NEW(a, struct bound_use);
  b->line.label = ARENA_NEW(a, struct str);
  b->line.use[0] = bound_use_new(b->s, sema_optimizer(b->s, o));
  b->line.label[0] = o->name;
  b->line.n = 1;
  b->job->name = o->name;
}

static void fill_uses(struct job_builder *b, const struct hyper_list *h) {
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
static void fill_rules(struct job_builder *b) {
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
  job_pick(&s, o->pick, &recipe, &optimizer);
  if (recipe == NULL && optimizer == NULL) {
    return NULL;
  }
  struct job_builder b = {
      .s = &s, .f = f, .model = m, .job = ARENA_NEW(f->arena, struct job)};
  b.job->model = m;
  uint32_t before = sema_errors(&s);
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
  if (sema_errors(&s) == before) {
    fill_uses(&b, &h);
    fill_rules(&b);
  }
  return sema_errors(&s) == before ? b.job : NULL;
}
