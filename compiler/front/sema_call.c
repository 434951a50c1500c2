// Type rules of the functions, per group of functions.def.
#include "front/sema_type.h"

#include <assert.h>

struct apply { // one application under judgement
  struct ctx *c;
  enum fn f;
  struct texpr **arg;
  uint32_t n;
  enum cls to;
  bool has_to;
  struct span span;
};

static struct str fn_text(enum fn f) {
  return f == FN_NEG ? STR("-") : str_of(fn_name(f));
}

static bool wants(struct apply *a, uint32_t i, enum vtype type) {
  if (a->arg[i]->type == type) {
    return true;
  }
  (void)REPORT(a->c, a->arg[i]->span, E0217, fn_text(a->f), str_of(vtype_noun(type)),
               str_of(vtype_noun(a->arg[i]->type)));
  return false;
}

// Which argument must be a bool: all of and, or, not; the condition of where.
static enum vtype argument_type(enum fn f, uint32_t i) {
  bool condition = fn_group_of(f) == FNG_LOGIC || (f == FN_WHERE && i == 0);
  return condition ? VT_BOOL : VT_NUMBER;
}

static bool check_arguments(struct apply *a) {
  for (uint32_t i = 0; i < a->n; i++) {
    if (!wants(a, i, argument_type(a->f, i))) {
      return false;
    }
  }
  return true;
}

static bool check_host(struct apply *a) {
  for (uint32_t i = 0; i < a->n; i++) {
    if (a->arg[i]->stage == STAGE_DEVICE) {
      (void)REPORT(a->c, a->arg[i]->span, E0220, fn_text(a->f));
      return false;
    }
  }
  return true;
}

// The class that a reduction gives: what `per` says, else one per matrix; there are no matrices under rank 2.
static bool reduction_class(struct apply *a, enum cls *to) {
  *to = a->has_to ? a->to : CLS_MATRIX;
  if (a->c->shape->rank < 2 && (*to == CLS_ROW || *to == CLS_COL)) {
    (void)REPORT(a->c, a->span, E0214, str_of(cls_name(*to)));
    return false;
  }
  if (a->c->shape->rank < 2 && *to == CLS_MATRIX) {
    *to = CLS_PARAM;
  }
  return true;
}

static bool check_reduction(struct apply *a, enum cls joined, enum stage stage,
                            enum cls *to) {
  if (stage != STAGE_DEVICE) {
    (void)REPORT(a->c, a->span, E0221, fn_text(a->f));
    return false;
  }
  if (!reduction_class(a, to)) {
    return false;
  }
  if (*to == joined || !cls_fits(*to, joined)) {
    struct diag *g = REPORT(a->c, a->span, E0224, fn_text(a->f), str_of(cls_name(joined)),
                            str_of(cls_name(*to)));
    diag_help(
        a->c->diags, g,
        STR("a reduction takes the elements that its argument has, unbroadcast, to a "
            "smaller class"));
    return false;
  }
  return true;
}

static bool check_matrix(struct apply *a) {
  assert(a->n == 2);
  if (!wants(a, 0, VT_NUMBER) || !wants(a, 1, VT_ITERATION)) {
    return false;
  }
  if (a->arg[0]->cls != CLS_ELEM) { // so it is a device value, and there is a parameter
    (void)REPORT(a->c, a->arg[0]->span, E0225, fn_text(a->f),
                 str_of(cls_name(a->arg[0]->cls)));
    return false;
  }
  if (a->c->shape->rank < 2) {
    (void)REPORT(a->c, a->span, E0214, fn_text(a->f));
    return false;
  }
  return true;
}

static struct texpr *finish(struct apply *a, enum vtype type, enum stage stage,
                            enum cls cls) {
  bool folds = stage == STAGE_STATIC;
  struct texpr *t = texpr_new(a->c, folds ? TEX_CONST : TEX_CALL, type, a->span);
  t->stage = stage;
  t->cls = cls;
  t->to = cls;
  if (folds) {
    double x[3] = {0};
    for (uint32_t i = 0; i < a->n; i++) {
      x[i] = a->arg[i]->num;
    }
    t->num = fn_eval(a->f, x);
    return t;
  }
  t->fn = a->f;
  for (uint32_t i = 0; i < a->n; i++) {
    t->arg[i] = a->arg[i];
  }
  t->n_args = a->n;
  return t;
}

static struct texpr *apply_group(struct apply *a, enum stage stage, enum cls cls) {
  enum fn_group group = fn_group_of(a->f);
  if (group == FNG_MATRIX) {
    if (!check_matrix(a)) {
      return texpr_poison(a->c, a->span);
    }
    a->n = 1;
    struct texpr *t = finish(a, VT_NUMBER, STAGE_DEVICE, CLS_ELEM);
    t->iteration = a->arg[1]->iteration;
    return t;
  }
  if (!check_arguments(a) || (group == FNG_HOST && !check_host(a))) {
    return texpr_poison(a->c, a->span);
  }
  if (group == FNG_REDUCE) {
    enum cls to;
    return check_reduction(a, cls, stage, &to) ? finish(a, VT_NUMBER, STAGE_DEVICE, to)
                                               : texpr_poison(a->c, a->span);
  }
  bool truth = group == FNG_COMPARE || group == FNG_LOGIC;
  return finish(a, truth ? VT_BOOL : VT_NUMBER, stage, cls);
}

struct texpr *type_apply(struct ctx *c, enum fn f, struct texpr **arg, uint32_t n,
                         enum cls to, bool has_to, struct span span) {
  enum stage stage = STAGE_STATIC;
  enum cls cls = CLS_GROUP;
  for (uint32_t i = 0; i < n; i++) {
    if (is_poison(arg[i])) {
      return texpr_poison(c, span);
    }
    stage = arg[i]->stage > stage ? arg[i]->stage : stage;
    cls = cls_join(cls, arg[i]->cls);
  }
  struct apply a = {c, f, arg, n, to, has_to, span};
  return apply_group(&a, stage, cls);
}

struct texpr *type_call(struct ctx *c, const struct expr *e) {
  enum fn f;
  struct texpr *arg[3] = {0};
  if (!expr_function(e, &f)) { // reported with the names
    return texpr_poison(c, e->span);
  }
  uint32_t n = 0;
  enum cls to = CLS_GROUP;
  bool has_to = false;
  for (uint32_t i = 0; i < e->n_args; i++) {
    if (e->arg[i]->kind == EXPR_PER) {
      to = e->arg[i]->per;
      has_to = true;
    } else {
      arg[n++] = type_expr(c, e->arg[i]);
    }
  }
  return type_apply(c, f, arg, n, to, has_to, e->span);
}
