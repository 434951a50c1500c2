// Typing of expressions in one instantiation: type, stage, class; static parts are folded on the way.
#include "front/sema_type.h"

#include <math.h>

// ---- conditions

bool type_condition(struct ctx *c, const struct expr *e, const char *what, bool *truth,
                    enum cls *cls) {
  struct texpr *t = type_expr(c, e);
  if (is_poison(t)) {
    return false;
  }
  if (t->stage != STAGE_STATIC) {
    struct diag *g = str_is(str_of(what), "if") ? REPORT0(c, e->span, E0204)
                                                : REPORT(c, e->span, E0216, str_of(what));
    diag_help(c->diags, g, STR("per value, choose with `where(condition, a, b)`"));
    return false;
  }
  if (t->type != VT_BOOL) {
    (void)REPORT(c, e->span, E0217, str_of(what), STR("a bool"),
                 str_of(vtype_noun(t->type)));
    return false;
  }
  *truth = t->num != 0;
  *cls = t->cls;
  return true;
}

// The class of the chosen arm; one chosen by the parameter's shape is a value of that parameter.
static struct texpr *type_if(struct ctx *c, const struct expr *e) {
  bool truth = false;
  enum cls cls = CLS_GROUP;
  if (!type_condition(c, e->arg[0], "if", &truth, &cls)) {
    return texpr_poison(c, e->span);
  }
  struct texpr *t = type_expr(c, e->arg[truth ? 1 : 2]);
  if (cls_join(t->cls, cls) != t->cls) {
    t->cls = cls_join(t->cls, cls);
  }
  return t;
}

// `and` and `or` look at their right side only where the left leaves the answer open.
static struct texpr *type_logic(struct ctx *c, const struct expr *e) {
  enum fn f = e->op == EOP_AND ? FN_AND : FN_OR;
  struct texpr *arg[2] = {type_expr(c, e->arg[0]), NULL};
  bool decides = arg[0]->kind == TEX_CONST && arg[0]->type == VT_BOOL &&
                 (arg[0]->num != 0) == (f == FN_OR);
  if (decides) {
    return arg[0];
  }
  arg[1] = type_expr(c, e->arg[1]);
  return type_apply(c, f, arg, 2, CLS_GROUP, false, e->span);
}

static enum fn binary_fn(enum expr_op op) {
  switch (op) {
  case EOP_ADD: return FN_ADD;
  case EOP_SUB: return FN_SUB;
  case EOP_MUL: return FN_MUL;
  case EOP_DIV: return FN_DIV;
  case EOP_EQ: return FN_EQ;
  case EOP_NE: return FN_NE;
  case EOP_LT: return FN_LT;
  case EOP_LE: return FN_LE;
  case EOP_GT: return FN_GT;
  case EOP_GE: return FN_GE;
  case EOP_AND: return FN_AND;
  case EOP_OR: return FN_OR;
  case EOP_NEG: return FN_NEG;
  case EOP_NOT: return FN_NOT;
  case EOP_GLOB:
  case EOP_NONE: break;
  }
  return N_FNS;
}

static struct texpr *type_truth(struct ctx *c, bool x, enum cls cls, struct span span) {
  struct texpr *t = texpr_new(c, TEX_CONST, VT_BOOL, span);
  t->num = x;
  t->cls = cls;
  return t;
}

// `name ~ "*embed*"`: both sides are strings.
static struct texpr *type_glob(struct ctx *c, const struct expr *e) {
  struct texpr *l = type_expr(c, e->arg[0]), *r = type_expr(c, e->arg[1]);
  if (is_poison(l) || is_poison(r)) {
    return texpr_poison(c, e->span);
  }
  const struct texpr *bad = l->type != VT_STRING ? l : r->type != VT_STRING ? r : NULL;
  if (bad != NULL) {
    (void)REPORT(c, bad->span, E0217, STR("~"), STR("a string"),
                 str_of(vtype_noun(bad->type)));
    return texpr_poison(c, e->span);
  }
  return type_truth(c, str_glob(r->text, l->text), cls_join(l->cls, r->cls), e->span);
}

// Equality of compile-time values that are no numbers: choices, bools, iterations, storages.
static struct texpr *type_equal(struct ctx *c, const struct expr *e, struct texpr *l,
                                struct texpr *r) {
  if (l->type != r->type) {
    (void)REPORT(c, e->span, E0219, str_of(vtype_noun(l->type)),
                 str_of(vtype_noun(r->type)));
    return texpr_poison(c, e->span);
  }
  if (l->stage != STAGE_STATIC || r->stage != STAGE_STATIC) {
    (void)REPORT(c, e->span, E0217, str_of(expr_op_text(e->op)), STR("a number"),
                 str_of(vtype_noun(l->type)));
    return texpr_poison(c, e->span);
  }
  bool same =
      l->num == r->num && str_eq(l->text, r->text) && l->iteration == r->iteration;
  return type_truth(c, same == (e->op == EOP_EQ), cls_join(l->cls, r->cls), e->span);
}

static struct texpr *type_binary(struct ctx *c, const struct expr *e) {
  if (e->op == EOP_AND || e->op == EOP_OR) {
    return type_logic(c, e);
  }
  if (e->op == EOP_GLOB) {
    return type_glob(c, e);
  }
  struct texpr *arg[2] = {type_expr(c, e->arg[0]), type_expr(c, e->arg[1])};
  bool equality = e->op == EOP_EQ || e->op == EOP_NE;
  if (equality && !is_poison(arg[0]) && !is_poison(arg[1]) &&
      (arg[0]->type != VT_NUMBER || arg[1]->type != VT_NUMBER)) {
    return type_equal(c, e, arg[0], arg[1]);
  }
  return type_apply(c, binary_fn(e->op), arg, 2, CLS_GROUP, false, e->span);
}

struct texpr *type_expr(struct ctx *c, const struct expr *e) {
  switch (e->kind) {
  case EXPR_NUM: return texpr_number(c, e->num, e->span);
  case EXPR_INF: return texpr_number(c, INFINITY, e->span);
  case EXPR_BOOL: return type_truth(c, e->truth, CLS_GROUP, e->span);
  case EXPR_STR: return texpr_string(c, e->text, e->span);
  case EXPR_NAME: return type_name(c, e);
  case EXPR_CALL: return type_call(c, e);
  case EXPR_UNARY: {
    struct texpr *arg[1] = {type_expr(c, e->arg[0])};
    return type_apply(c, binary_fn(e->op), arg, 1, CLS_GROUP, false, e->span);
  }
  case EXPR_BINARY: return type_binary(c, e);
  case EXPR_IF: return type_if(c, e);
  case EXPR_PER:
  case EXPR_POISON: break; // reported by the names or the parser
  }
  return texpr_poison(c, e->span);
}
