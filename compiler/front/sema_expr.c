// Typing of expressions in one instantiation: type, stage, class; static parts are folded on the way.
#include "front/sema_int.h"

#include <math.h>

struct diag *ctx_report(struct ctx *c, struct span at, enum diag_code code,
                        const struct str *args, uint32_t n_args) {
  c->n_errors++;
  struct diag *g = diag_report(c->diags, at, code, args, n_args);
  if (c->note.n != 0) {
    diag_note(c->diags, g, c->note_at, c->note);
  }
  return g;
}

struct texpr *texpr_new(struct ctx *c, enum tex_kind kind, enum vtype type,
                        struct span span) {
  struct texpr *t = ARENA_NEW(c->s->f->arena, struct texpr);
  *t = (struct texpr){.kind = kind, .type = type, .span = span};
  return t;
}

struct texpr *texpr_poison(struct ctx *c, struct span span) {
  return texpr_new(c, TEX_POISON, VT_POISON, span);
}

struct texpr *texpr_number(struct ctx *c, double x, struct span span) {
  struct texpr *t = texpr_new(c, TEX_CONST, VT_NUMBER, span);
  t->num = x;
  return t;
}

// ---- names

static struct texpr *copy_of(struct ctx *c, const struct texpr *value, struct span span) {
  struct texpr *t = ARENA_NEW(c->s->f->arena, struct texpr);
  *t = *value;
  t->span = span;
  return t;
}

static struct texpr *type_static(struct ctx *c, const struct binding *b,
                                 const struct expr *e) {
  if (b->needs_shape) {
    c->saw_shape = true;
    if (c->scope == SCOPE_HYPER) {
      (void)REPORT(c, e->span, E0215, e->text);
    }
    return texpr_poison(c, e->span);
  }
  return b->value == NULL ? texpr_poison(c, e->span) : copy_of(c, b->value, e->span);
}

static struct texpr *type_let(struct ctx *c, const struct binding *b,
                              const struct expr *e) {
  if (b->value == NULL) { // used above its declaration: reported
    return texpr_poison(c, e->span);
  }
  if (b->value->kind == TEX_CONST || is_poison(b->value)) {
    return copy_of(c, b->value, e->span);
  }
  struct texpr *t = texpr_new(c, TEX_LET, b->value->type, e->span);
  t->stage = b->value->stage;
  t->cls = b->value->cls;
  t->index = b->index;
  return t;
}

static struct texpr *type_state(struct ctx *c, uint32_t i, const struct expr *e) {
  const struct binding *b = &c->bind[i];
  const struct stmt *decl = c->o->opt->stmt[i];
  if (!b->exists) {
    struct diag *g = REPORT(c, e->span, E0222, e->text);
    diag_note(c->diags, g, decl->span, STR("its `when` is false here"));
    return texpr_poison(c, e->span);
  }
  struct texpr *t = texpr_new(c, TEX_STATE, VT_NUMBER, e->span);
  t->index = b->index;
  t->cls = b->cls;
  t->stage = b->is_host ? STAGE_HOST : STAGE_DEVICE;
  return t;
}

static struct texpr *type_stmt(struct ctx *c, uint32_t i, const struct expr *e) {
  const struct binding *b = &c->bind[i];
  switch (c->o->opt->stmt[i]->kind) {
  case STMT_HYPER: {
    struct texpr *t = texpr_new(c, TEX_HYPER, VT_NUMBER, e->span);
    t->index = b->index;
    t->stage = STAGE_HOST;
    return t;
  }
  case STMT_STATIC: return type_static(c, b, e);
  case STMT_LET: return type_let(c, b, e);
  case STMT_STATE: return type_state(c, i, e);
  case STMT_INPUT: {
    struct texpr *t = texpr_new(c, TEX_INPUT, VT_NUMBER, e->span);
    t->index = b->index;
    t->cls = b->cls;
    t->stage = b->is_host ? STAGE_HOST : STAGE_DEVICE;
    return t;
  }
  case STMT_REQUIRE:
  case STMT_UPDATE: break;
  }
  return texpr_poison(c, e->span);
}

static struct texpr *device_leaf(struct ctx *c, enum tex_kind kind,
                                 const struct expr *e) {
  struct texpr *t = texpr_new(c, kind, VT_NUMBER, e->span);
  t->stage = STAGE_DEVICE;
  t->cls = CLS_ELEM;
  return t;
}

static struct texpr *type_string(struct ctx *c, struct str text, struct span span) {
  struct texpr *t = texpr_new(c, TEX_CONST, VT_STRING, span);
  t->text = text;
  return t;
}

// Elements of one matrix; of the whole tensor where rank < 2.
static double numel_of(const struct shape *s) {
  return s->rank < 2 ? (double)shape_numel(s)
                     : (double)shape_rows(s) * (double)shape_cols(s);
}

// What is known of the parameter has class per param: a value per group must not depend on it.
static struct texpr *type_shape(struct ctx *c, enum name_kind k, const struct expr *e) {
  const struct shape *s = c->shape;
  if (s == NULL) {
    c->saw_shape = true;
    return texpr_poison(c, e->span);
  }
  if ((k == NAME_ROWS || k == NAME_COLS) && s->rank < 2) {
    (void)REPORT(c, e->span, E0214, e->text);
    return texpr_poison(c, e->span);
  }
  struct texpr *t = k == NAME_DTYPE
                        ? type_string(c, str_of(storage_name(c->dtype)), e->span)
                        : texpr_number(c,
                                       k == NAME_RANK   ? s->rank
                                       : k == NAME_ROWS ? (double)shape_rows(s)
                                       : k == NAME_COLS ? (double)shape_cols(s)
                                                        : numel_of(s),
                                       e->span);
  t->cls = CLS_PARAM;
  return t;
}

static struct texpr *type_name(struct ctx *c, const struct expr *e) {
  struct name_ref ref = name_resolve(c->s, c->o, c->r, e->text);
  struct texpr *t;
  if (ref.kind != NAME_UNKNOWN && !name_in_scope(c->scope, c->o, ref)) {
    return texpr_poison(c, e->span); // reported with the names
  }
  switch (ref.kind) {
  case NAME_STMT: return type_stmt(c, ref.index, e);
  case NAME_PARAM: return device_leaf(c, TEX_PARAM, e);
  case NAME_GRAD: return device_leaf(c, TEX_GRAD, e);
  case NAME_STEP:
    t = texpr_new(c, TEX_STEP, VT_NUMBER, e->span);
    t->stage = STAGE_HOST;
    t->cls = CLS_PARAM;
    return t;
  case NAME_RANK:
  case NAME_ROWS:
  case NAME_COLS:
  case NAME_NUMEL:
  case NAME_DTYPE: return type_shape(c, ref.kind, e);
  case NAME_NAME: return type_string(c, c->param_name, e->span);
  case NAME_ITERATION:
    t = texpr_new(c, TEX_CONST, VT_ITERATION, e->span);
    t->iteration = ref.iteration;
    return t;
  case NAME_STORAGE:
    t = texpr_new(c, TEX_CONST, VT_STORAGE, e->span);
    t->num = (double)ref.storage;
    return t;
  case NAME_RECIPE_HYPER:
    t = texpr_new(c, TEX_HYPER, VT_NUMBER, e->span);
    t->stage = STAGE_HOST;
    t->index = ref.index;
    return t;
  case NAME_UNKNOWN: break; // reported with the names
  }
  return texpr_poison(c, e->span);
}

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
    (void)REPORT(c, e->span, E0217, str_of(what), STR("bool"),
                 str_of(vtype_name(t->type)));
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
    (void)REPORT(c, bad->span, E0217, STR("~"), STR("string"),
                 str_of(vtype_name(bad->type)));
    return texpr_poison(c, e->span);
  }
  return type_truth(c, str_glob(r->text, l->text), cls_join(l->cls, r->cls), e->span);
}

// Equality of compile-time values that are no numbers: choices, bools, iterations, storages.
static struct texpr *type_equal(struct ctx *c, const struct expr *e, struct texpr *l,
                                struct texpr *r) {
  if (l->type != r->type) {
    (void)REPORT(c, e->span, E0219, str_of(vtype_name(l->type)),
                 str_of(vtype_name(r->type)));
    return texpr_poison(c, e->span);
  }
  if (l->stage != STAGE_STATIC || r->stage != STAGE_STATIC) {
    (void)REPORT(c, e->span, E0217, str_of(expr_op_text(e->op)), STR("number"),
                 str_of(vtype_name(l->type)));
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
  case EXPR_STR: return type_string(c, e->text, e->span);
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
