// A recipe by itself, before any model: labels, arguments, views, keeps, clip and the last line.
#include "front/sema_rule.h"

struct checker {
  struct sema *s;
  struct diags *d;
  struct arena *arena;
  struct recipe_info *r;
};

static const struct stmt *recipe_hyper(const struct recipe *r, uint32_t index) {
  for (uint32_t i = 0; i < r->n_items; i++) {
    if (r->item[i].kind == ITEM_HYPER && index-- == 0) {
      return r->item[i].hyper;
    }
  }
  return NULL;
}

static struct name_walk walk(struct checker *c, enum scope scope) {
  return (struct name_walk){
      .s = c->s, .r = c->r, .scope = scope, .at = NO_INDEX, .updates = NO_INDEX};
}

static void check_hyper(struct checker *c, const struct stmt *st, uint32_t index) {
  if (name_is_taken(st->name, true)) {
    (void)DIAG(c->d, st->name_span, E0205, st->name);
  } else if (name_map_get(&c->r->names, st->name) != index) {
    struct diag *g = DIAG(c->d, st->name_span, E0202, st->name);
    uint32_t first = name_map_get(&c->r->names, st->name);
    diag_note(c->d, g, recipe_hyper(c->r->recipe, first)->name_span,
              STR("first declared here"));
  }
  if (st->type.kind != TYPE_F32 && st->type.kind != TYPE_POISON) {
    (void)DIAG(c->d, st->type.span, E0212, STR("hyper"), st->name);
  }
  struct name_walk w = walk(c, SCOPE_RECIPE_PLAIN);
  names_check(&w, st->value);
  names_check(&w, st->range.lo);
  names_check(&w, st->range.hi);
}

static void check_clip(struct checker *c, const struct expr *e) {
  struct name_walk w = walk(c, SCOPE_RECIPE_HYPER);
  names_check(&w, e);
  struct ctx x = {.s = c->s, .diags = c->d, .r = c->r, .scope = SCOPE_RECIPE_HYPER};
  struct texpr *t = type_expr(&x, e);
  if (is_poison(t)) {
    return;
  }
  if (t->type != VT_NUMBER) {
    (void)DIAG(c->d, e->span, E0217, STR("clip"), STR("a number"),
               str_of(vtype_noun(t->type)));
  } else if (t->kind == TEX_CONST && !(t->num > 0)) {
    (void)DIAG(c->d, e->span, E0309, num_shortest(c->arena, t->num));
  }
}

// ---- use lines

static void unknown_optimizer(struct checker *c, const struct use *u) {
  struct diag *g = DIAG(c->d, u->optimizer_span, E0302, u->optimizer);
  VEC(struct str) names = {0};
  const struct program *p = c->s->program;
  for (uint32_t m = 0; m < p->module.n; m++) {
    for (uint32_t i = 0; i < p->module.v[m]->decl.n; i++) {
      const struct decl *d = &p->module.v[m]->decl.v[i];
      if (d->kind == DECL_OPTIMIZER) {
        VEC_PUSH(c->arena, names, d->optimizer->name);
      }
    }
  }
  diag_suggest(c->d, g, u->optimizer, names.v, names.n);
}

static void unknown_argument(struct checker *c, const struct opt_info *o,
                             const struct use_arg *arg) {
  struct diag *g = DIAG(c->d, arg->name_span, E0305, o->opt->name, arg->name);
  VEC(struct str) names = {0};
  for (uint32_t i = 0; i < o->opt->n_stmts; i++) {
    const struct stmt *st = o->opt->stmt[i];
    if (st->kind == STMT_HYPER || st->kind == STMT_STATIC) {
      VEC_PUSH(c->arena, names, st->name);
    }
  }
  diag_suggest(c->d, g, arg->name, names.v, names.n);
}

static void check_arguments(struct checker *c, const struct opt_info *o,
                            const struct use *u) {
  struct name_map seen = {.arena = c->arena};
  for (uint32_t i = 0; i < u->n_args; i++) {
    const struct use_arg *arg = &u->arg[i];
    uint32_t at = name_map_get(&o->names, arg->name);
    enum stmt_kind kind = at == NO_INDEX ? STMT_LET : o->opt->stmt[at]->kind;
    if (!name_map_put(&seen, arg->name, i)) {
      (void)DIAG(c->d, arg->name_span, E0306, arg->name);
    } else if (kind != STMT_HYPER && kind != STMT_STATIC) {
      unknown_argument(c, o, arg);
    } else {
      struct name_walk w =
          walk(c, kind == STMT_HYPER ? SCOPE_RECIPE_HYPER : SCOPE_RECIPE_STATIC);
      names_check(&w, arg->value);
    }
  }
}

static void unknown_state(struct checker *c, const struct opt_info *o,
                          const struct keep *k) {
  struct diag *g = DIAG(c->d, k->state_span, E0312, o->opt->name, k->state);
  VEC(struct str) names = {0};
  for (uint32_t i = 0; i < o->opt->n_stmts; i++) {
    if (o->opt->stmt[i]->kind == STMT_STATE) {
      VEC_PUSH(c->arena, names, o->opt->stmt[i]->name);
    }
  }
  diag_suggest(c->d, g, k->state, names.v, names.n);
}

static void check_keep_words(struct checker *c, const struct keep *k) {
  enum storage ignored;
  if (!storage_find(k->storage.name, &ignored)) {
    (void)DIAG(c->d, k->storage.span, E0223, k->storage.name);
  }
  if (k->round.n != 0 && !str_is(k->round, "nearest") &&
      !str_is(k->round, "stochastic")) {
    (void)DIAG(c->d, k->round_span, E0227, k->round);
  }
}

static void check_keeps(struct checker *c, const struct opt_info *o,
                        const struct use *u) {
  struct name_map seen = {.arena = c->arena};
  for (uint32_t i = 0; i < u->n_keeps; i++) {
    const struct keep *k = &u->keep[i];
    struct str what = k->kind == KEEP_MASTER ? STR("param") : k->state;
    if (!name_map_put(&seen, what, i)) {
      (void)DIAG(c->d, k->span, E0313, what);
    }
    check_keep_words(c, k);
    if (k->kind == KEEP_STORE) {
      uint32_t at = name_map_get(&o->names, k->state);
      if (at == NO_INDEX || o->opt->stmt[at]->kind != STMT_STATE) {
        unknown_state(c, o, k);
      }
    }
  }
}

// Sizes that fit no shape at all; whether the others fit is judged on each parameter.
static void check_views(struct checker *c, const struct use *u) {
  for (uint32_t i = 0; i < u->n_views; i++) {
    const struct view *v = &u->view[i];
    bool counts = v->kind == VIEW_FLATTEN ||
                  ((v->kind == VIEW_SPLIT_ROWS || v->kind == VIEW_SPLIT_COLS) &&
                   v->cut != CUT_LIST);
    bool zero = counts && v->n == 0;
    for (uint32_t k = 0; k < v->n_sizes; k++) {
      zero |= v->size[k] == 0;
    }
    if (zero) {
      (void)DIAG0(c->d, v->span, E0315);
    }
  }
}

// Judged on a matrix: whether `rows` stands before a rank is known shows only on a model.
static void check_when(struct checker *c, const struct expr *e) {
  struct name_walk w = walk(c, SCOPE_RECIPE_WHEN);
  names_check(&w, e);
  struct shape matrix = {.rank = 2, .dim = {2, 3}};
  struct ctx x = {.s = c->s,
                  .diags = c->d,
                  .r = c->r,
                  .scope = SCOPE_RECIPE_WHEN,
                  .shape = &matrix,
                  .param_name = STR("weight")};
  bool truth;
  enum cls cls;
  (void)type_condition(&x, e, "when", &truth, &cls);
}

static void check_use(struct checker *c, const struct use *u) {
  const struct optimizer *opt = program_optimizer(c->s->program, u->optimizer);
  if (opt == NULL) {
    unknown_optimizer(c, u);
  } else {
    const struct opt_info *o = sema_optimizer(c->s, opt);
    check_arguments(c, o, u);
    check_keeps(c, o, u);
  }
  check_views(c, u);
  if (u->when != NULL) {
    check_when(c, u->when);
  }
}

// ---- the whole

static void check_last(struct checker *c) {
  const struct recipe *r = c->r->recipe;
  const struct use *last = NULL, *open = NULL;
  for (uint32_t i = 0; i < r->n_items; i++) {
    if (r->item[i].kind != ITEM_USE) {
      continue;
    }
    last = r->item[i].use;
    if (open != NULL) {
      struct diag *g = DIAG0(c->d, last->span, W0908);
      diag_note(c->d, g, open->span, STR("this line takes every parameter"));
    } else if (last->when == NULL) {
      open = last;
    }
  }
  if (open == NULL) {
    struct diag *g = DIAG(c->d, last == NULL ? r->name_span : last->span, E0304, r->name);
    diag_help(c->d, g, STR("end the recipe with a `use` line without `when`"));
  }
}

static void check_once(struct checker *c, enum recipe_item_kind kind, const char *what) {
  const struct recipe *r = c->r->recipe;
  const struct recipe_item *first = NULL;
  for (uint32_t i = 0; i < r->n_items; i++) {
    if (r->item[i].kind == kind && first != NULL) {
      struct diag *g = DIAG(c->d, r->item[i].span, E0310, str_of(what));
      diag_note(c->d, g, first->span, STR("the first one is here"));
    } else if (r->item[i].kind == kind) {
      first = &r->item[i];
    }
  }
}

static void check_labels(struct checker *c) {
  const struct recipe *r = c->r->recipe;
  struct name_map taken = {.arena = c->arena};
  for (uint32_t i = 0; i < r->n_items; i++) {
    const struct use *u = r->item[i].kind == ITEM_USE ? r->item[i].use : NULL;
    if (u != NULL && u->label.n != 0 && !name_map_put(&taken, u->label, i)) {
      struct diag *g = DIAG(c->d, u->label_span, E0303, u->label);
      const struct use *first = r->item[name_map_get(&taken, u->label)].use;
      diag_note(c->d, g, first->label_span, STR("the first one is here"));
    }
  }
}

struct recipe_info *recipe_check(struct sema *s, const struct recipe *r) {
  struct checker c = {.s = s, .d = s->f->diags, .arena = s->f->arena};
  c.r = sema_recipe_names(s, r);
  uint32_t hyper = 0;
  for (uint32_t i = 0; i < r->n_items; i++) {
    switch (r->item[i].kind) {
    case ITEM_HYPER: check_hyper(&c, r->item[i].hyper, hyper++); break;
    case ITEM_CLIP: check_clip(&c, r->item[i].clip); break;
    case ITEM_SKIP: break;
    case ITEM_USE: check_use(&c, r->item[i].use); break;
    }
  }
  check_once(&c, ITEM_CLIP, "clip");
  check_once(&c, ITEM_SKIP, "skip");
  check_labels(&c);
  check_last(&c);
  return c.r;
}
