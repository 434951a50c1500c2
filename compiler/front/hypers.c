// The hypers of a job: defaults, arguments of `use`, ranges, and values of bound ones.
#include "front/sema_rule.h"

#include <math.h>

bool hyper_in_range(const struct hyper *h, double value) {
  if (isnan(value)) {
    return false;
  }
  if (!h->has_range) {
    return true;
  }
  bool above = h->lo_open ? value > h->lo : value >= h->lo;
  bool below = h->hi_open ? value < h->hi : value <= h->hi;
  return above && below;
}

void hypers_resolve(const struct hyper *h, uint32_t n, const double *set, double *out) {
  for (uint32_t i = 0; i < n; i++) {
    out[i] = set[i];
  }
  for (uint32_t i = 0; i < n; i++) {
    if (h[i].bound != NULL) { // over recipe hypers, which are never bound themselves
      out[i] = texpr_host_value(h[i].bound, set);
    }
  }
}

struct str range_text(struct arena *a, const struct hyper *h) {
  struct str lo = num_shortest(a, h->lo), hi = num_shortest(a, h->hi);
  return str_fmt(a, "%c%.*s, %.*s%c", h->lo_open ? '(' : '[', STR_FMT(lo), STR_FMT(hi),
                 h->hi_open ? ')' : ']');
}

// A compile-time number in the scope of `c`; false after an error.
static bool number_of(struct ctx *c, const struct expr *e, const char *what,
                      double *out) {
  struct texpr *t = type_expr(c, e);
  if (is_poison(t)) {
    return false;
  }
  if (t->type != VT_NUMBER) {
    (void)REPORT(c, e->span, E0217, str_of(what), STR("a number"),
                 str_of(vtype_noun(t->type)));
    return false;
  }
  *out = t->num;
  return true;
}

static void take_range(struct ctx *c, const struct stmt *st, struct hyper *h) {
  const struct range *r = &st->range;
  if (!r->present || r->lo == NULL || r->hi == NULL) {
    return;
  }
  bool lo_known = number_of(c, r->lo, "range", &h->lo);
  bool hi_known = number_of(c, r->hi, "range", &h->hi); // both are judged
  if (!lo_known || !hi_known) {
    return;
  }
  h->lo_open = r->lo_open;
  h->hi_open = r->hi_open;
  bool empty = h->lo_open || h->hi_open ? !(h->lo < h->hi) : !(h->lo <= h->hi);
  if (empty) {
    (void)REPORT(c, r->span, E0237, range_text(c->s->f->arena, h), h->name);
    return;
  }
  h->has_range = true;
}

// One hyper with its declared default.
static struct hyper declared(struct ctx *c, const struct stmt *st, struct str label) {
  struct arena *a = c->s->f->arena;
  struct hyper h = {.label = label, .name = st->name, .as = st->as, .span = st->span};
  take_range(c, st, &h);
  if (st->value != NULL && number_of(c, st->value, "hyper", &h.value) &&
      !hyper_in_range(&h, h.value)) {
    (void)REPORT(c, st->value->span, E0238, num_shortest(a, h.value), h.name,
                 h.has_range ? range_text(a, &h) : STR("the numbers"));
  }
  return h;
}

void hypers_add_recipe(struct sema *s, const struct recipe_info *r,
                       struct hyper_list *out) {
  struct ctx c = {.s = s, .diags = s->f->diags, .r = r, .scope = SCOPE_RECIPE_PLAIN};
  for (uint32_t i = 0; i < r->recipe->n_items; i++) {
    const struct recipe_item *item = &r->recipe->item[i];
    // Doubled names keep a row, so that rows are hypers in order of declaration.
    if (item->kind == ITEM_HYPER) {
      struct hyper h = declared(&c, item->hyper, STR(""));
      VEC_PUSH(s->f->arena, out->v, h);
    }
  }
}

// The value that a use line gives: a number now, or an expression of recipe hypers for every step.
static void take_argument(struct sema *s, const struct bound_use *u,
                          const struct use_arg *arg, struct hyper *h) {
  struct ctx c = {.s = s, .diags = s->f->diags, .r = u->r, .scope = SCOPE_RECIPE_HYPER};
  struct arena *a = s->f->arena;
  struct texpr *t = type_expr(&c, arg->value);
  if (is_poison(t)) {
    return;
  }
  if (t->type != VT_NUMBER) {
    struct diag *g =
        DIAG(s->f->diags, arg->value->span, E0226, h->name, STR("f32"),
             t->stage == STAGE_STATIC ? texpr_text(a, t) : str_of(vtype_noun(t->type)));
    diag_note(s->f->diags, g, h->span, STR("declared here"));
  } else if (t->stage == STAGE_STATIC) {
    h->value = t->num;
    if (!hyper_in_range(h, h->value)) {
      struct diag *g =
          DIAG(s->f->diags, arg->value->span, E0308, h->name, num_shortest(a, h->value),
               h->has_range ? range_text(a, h) : STR("the numbers"));
      diag_note(s->f->diags, g, h->span,
                h->has_range ? STR("its range is declared here") : STR("declared here"));
    }
  } else {
    h->bound = t;
  }
  h->span = arg->value->span;
}

static const struct use_arg *argument_for(const struct use *u, struct str name) {
  for (uint32_t i = 0; u != NULL && i < u->n_args; i++) {
    if (str_eq(u->arg[i].name, name)) {
      return &u->arg[i];
    }
  }
  return NULL;
}

void hypers_add_use(struct sema *s, struct bound_use *u, struct str label,
                    struct hyper_list *out) {
  const struct opt_info *o = u->o;
  struct ctx c = {.s = s,
                  .diags = s->f->diags,
                  .o = o,
                  .bind = ARENA_ARRAY(s->f->arena, struct binding, o->opt->n_stmts)};
  struct diags quiet = sema_quiet(s);
  c.diags = &quiet; // what is wrong with statics is said where they are instantiated
  statics_bind(&c, u);
  c.diags = s->f->diags;
  c.scope = SCOPE_HYPER;
  u->first_hyper = out->v.n;
  for (uint32_t i = 0; i < o->opt->n_stmts; i++) {
    if (o->opt->stmt[i]->kind != STMT_HYPER || o->skip[i]) {
      continue;
    }
    struct hyper h = declared(&c, o->opt->stmt[i], label);
    const struct use_arg *arg = argument_for(u->use, h.name);
    if (arg != NULL) {
      take_argument(s, u, arg, &h);
    }
    VEC_PUSH(s->f->arena, out->v, h);
  }
}

void hypers_check(struct sema *s, const struct hyper_list *hypers) {
  struct arena *a = s->f->arena;
  const struct hyper *h = hypers->v.v;
  uint32_t n = hypers->v.n;
  double *set = ARENA_ARRAY(a, double, n), *value = ARENA_ARRAY(a, double, n);
  for (uint32_t i = 0; i < n; i++) {
    set[i] = h[i].value;
  }
  hypers_resolve(h, n, set, value);
  for (uint32_t i = 0; i < n; i++) {
    if (h[i].bound != NULL && !hyper_in_range(&h[i], value[i])) {
      (void)DIAG(s->f->diags, h[i].span, E0308, h[i].name, num_shortest(a, value[i]),
                 h[i].has_range ? range_text(a, &h[i]) : STR("the numbers"));
    }
  }
}
