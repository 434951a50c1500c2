// Instantiation: one optimizer, one use line, one shape and dtype give one struct rule.
#include "front/sema_rule.h"

static void bind_hypers(struct ctx *c, const struct bound_use *u) {
  for (uint32_t i = 0; i < u->o->opt->n_stmts; i++) {
    if (u->o->opt->stmt[i]->kind == STMT_HYPER) {
      c->bind[i].index = u->first_hyper + u->o->hyper_at[i];
    }
  }
}

static const struct stmt *false_require(struct ctx *c) {
  c->scope = SCOPE_STATIC;
  for (uint32_t i = 0; i < c->o->opt->n_stmts; i++) {
    const struct stmt *st = c->o->opt->stmt[i];
    bool truth = true;
    enum cls cls;
    if (st->kind == STMT_REQUIRE &&
        type_condition(c, st->value, "require", &truth, &cls) && !truth) {
      return st;
    }
  }
  return NULL;
}

// Statics may ask for what only `require` makes sure of (rows, say), so it is judged first, without messages.
static const struct stmt *bind_statics(struct ctx *c, const struct bound_use *u) {
  struct diags *real = c->diags;
  struct diags quiet = sema_quiet(c->s);
  c->diags = &quiet;
  statics_bind(c, u);
  const struct stmt *no = false_require(c);
  bool clean = c->n_errors == 0;
  c->diags = real;
  c->n_errors = 0;
  if (no == NULL && !clean) {
    statics_bind(c, u);
    no = false_require(c);
  }
  return no;
}

static struct rule *rule_new(struct sema *s, const struct bound_use *u,
                             const struct target *t) {
  struct rule *rule = ARENA_NEW(s->f->arena, struct rule);
  *rule = (struct rule){.name = u->o->opt->name,
                        .shape = t->shape,
                        .dtype = t->dtype,
                        .grad = t->grad,
                        .optimizer = u->o->opt};
  return rule;
}

struct instance rule_instantiate(struct sema *s, struct diags *d,
                                 const struct bound_use *u, const struct target *t) {
  struct arena *a = s->f->arena;
  struct ctx c = {.s = s,
                  .diags = d,
                  .o = u->o,
                  .bind = ARENA_ARRAY(a, struct binding, u->o->opt->n_stmts),
                  .shape = &t->shape,
                  .dtype = t->dtype,
                  .is_small = t->is_small,
                  .note_at = t->note_at,
                  .note = t->note};
  const struct stmt *no = bind_statics(&c, u);
  if (no != NULL) {
    return (struct instance){.fit = FIT_REQUIRE, .require = no};
  }
  bind_hypers(&c, u);
  struct rule *rule = rule_new(s, u, t);
  c.scope = SCOPE_RULE;
  states_bind(&c, rule, u);
  body_type(&c, rule);
  states_keep(&c, rule, u);
  if (c.n_errors != 0) {
    return (struct instance){.fit = FIT_ERROR};
  }
  inputs_mark(a, rule);
  return (struct instance){.fit = FIT_OK, .rule = rule};
}
