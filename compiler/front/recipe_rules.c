// The distinct rules of a job: one for each use line, shape and dtype that its parameters show.
#include "front/recipe_int.h"

struct str param_note(struct arena *a, const struct model_param *p) {
  struct str shape = shape_text(a, &p->shape), name = str_escape(a, p->name);
  return str_fmt(a, "for `%.*s` (shape %.*s)", STR_FMT(name), STR_FMT(shape));
}

static uint64_t built_hash(const struct built_rule *k) {
  uint64_t h =
      (uint64_t)k->line * 31u + (uint64_t)k->dtype * 7u + (uint64_t)k->grad + k->is_small;
  for (uint32_t i = 0; i < k->shape.rank; i++) {
    h = (h ^ k->shape.dim[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

static bool built_eq(const struct built_rule *a, const struct built_rule *b) {
  return a->line == b->line && a->dtype == b->dtype && a->grad == b->grad &&
         a->is_small == b->is_small && shape_eq(&a->shape, &b->shape);
}

static uint32_t *slot_for(struct job_builder *b, const struct built_rule *k) {
  uint64_t i = built_hash(k) & (b->cap - 1);
  while (b->slot[i] != 0 && !built_eq(&b->built.v[b->slot[i] - 1], k)) {
    i = (i + 1) & (b->cap - 1);
  }
  return &b->slot[i];
}

static void grow_slots(struct job_builder *b) {
  b->cap = b->cap == 0 ? 64 : b->cap * 2;
  b->slot = ARENA_ARRAY(b->f->arena, uint32_t, b->cap);
  for (uint32_t i = 0; i < b->built.n; i++) {
    *slot_for(b, &b->built.v[i]) = i + 1;
  }
}

static void report_misfit(struct job_builder *b, const struct bound_use *u,
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

static void warn_tiny(struct job_builder *b, const struct bound_use *u,
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

static uint32_t build_rule(struct job_builder *b, uint32_t line,
                           const struct model_param *p, const struct built_rule *k) {
  const struct bound_use *u = &b->line.use[line];
  struct target t = {
      .shape = k->shape, .dtype = k->dtype, .grad = k->grad, .is_small = k->is_small};
  t.note = param_note(b->f->arena, p);
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

uint32_t job_rule(struct job_builder *b, uint32_t line, const struct model_param *p,
                  const struct shape *shape) {
  struct built_rule k = {.line = line,
                         .shape = *shape,
                         .dtype = p->dtype,
                         .grad = p->has_grad ? p->grad : p->dtype,
                         .is_small = shape_is_small(&p->shape)};
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
