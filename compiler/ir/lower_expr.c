// Typed expressions to IR.
#include "ir/lower_int.h"

#include <assert.h>

struct ir_ref lower_add(struct lower *l, struct ir_ins proto) {
  bool leaf = ir_op_info(proto.op)->kind == IRK_LEAF; // named after what it reads
  if (proto.name.n == 0 && (!leaf || proto.op == IR_CONST)) {
    proto.name = leaf ? STR("const") : l->name; // a constant serves whoever has the same
  }
  return ir_add(l->ir, proto);
}

static const struct ir_ins *at(const struct lower *l, struct ir_ref r) {
  return ir_at(l->ir, r);
}

struct ir_ref lower_to_device(struct lower *l, struct ir_ref v, struct span span) {
  const struct ir_ins *x = at(l, v);
  if (!ir_is_host(x->type)) {
    return v;
  }
  bool is_bool = ir_is_bool(x->type);
  struct ir_ins proto = {.arg = {v}, .name = x->name, .span = span};
  if (x->op == IR_CONST) {
    proto.op = IR_CONST;
    proto.type = is_bool ? IRT_DBOOL : IRT_F32;
    proto.num = (double)(float)x->num;
  } else {
    proto.op = is_bool ? IR_TO_BOOL : IR_TO_F32;
  }
  return lower_add(l, proto);
}

// One operation; when any operand is on the device, all go there.
static struct ir_ref emit(struct lower *l, enum ir_op op, uint32_t n,
                          const struct ir_ref *arg, struct span span) {
  struct ir_ins proto = {.op = op, .arg = {IR_NONE, IR_NONE, IR_NONE}, .span = span};
  assert(n <= 3);
  bool device = ir_op_info(op)->where == IR_D;
  for (uint32_t k = 0; k < n; k++) {
    device = device || !ir_is_host(at(l, arg[k])->type);
  }
  for (uint32_t k = 0; k < n; k++) {
    proto.arg[k] = device ? lower_to_device(l, arg[k], span) : arg[k];
  }
  return lower_add(l, proto);
}

static struct ir_ref emit2(struct lower *l, enum ir_op op, struct ir_ref a,
                           struct ir_ref b, struct span span) {
  return emit(l, op, 2, (struct ir_ref[]){a, b}, span);
}

static struct ir_ref number(struct lower *l, double x, struct span span) {
  return lower_add(
      l, (struct ir_ins){.op = IR_CONST, .type = IRT_F64, .num = x, .span = span});
}

// k a + (1 - k) b, with 1 - k formed on k's own side.
static struct ir_ref emit_ema(struct lower *l, const struct ir_ref *x, struct span s) {
  struct ir_ref rest = emit2(l, IR_SUB, number(l, 1, s), x[2], s);
  struct ir_ref kept = emit2(l, IR_MUL, x[2], x[0], s);
  return emit2(l, IR_ADD, kept, emit2(l, IR_MUL, rest, x[1], s), s);
}

// a + t (b - a)
static struct ir_ref emit_lerp(struct lower *l, const struct ir_ref *x, struct span s) {
  struct ir_ref way = emit2(l, IR_SUB, x[1], x[0], s);
  return emit2(l, IR_ADD, x[0], emit2(l, IR_MUL, x[2], way, s), s);
}

// min(max(x, lo), hi)
static struct ir_ref emit_clamp(struct lower *l, const struct ir_ref *x, struct span s) {
  return emit2(l, IR_MIN, emit2(l, IR_MAX, x[0], x[1], s), x[2], s);
}

static uint32_t add_iteration(struct lower *l, const struct iteration *src) {
  struct ir *ir = l->ir;
  for (uint32_t i = 0; i < ir->iteration.n; i++) {
    if (str_eq(ir->iteration.v[i].name, src->name)) {
      return i;
    }
  }
  struct ir_iteration it = ir_expand_iteration(ir->arena, src);
  VEC_PUSH(ir->arena, ir->iteration, it);
  return ir->iteration.n - 1;
}

static struct ir_ref emit_ortho(struct lower *l, const struct texpr *t) {
  struct ir_ref x = lower_to_device(l, lower_expr(l, t->arg[0]), t->span);
  uint32_t it = add_iteration(l, t->iteration);
  enum storage compute = l->ir->iteration.v[it].compute;
  // `in f32`: the norm is that of the unrounded operand, so the iteration rounds it, after the division.
  if (compute != ST_F32 && !l->ir->iteration.v[it].norm_in_f32) {
    x = lower_add(
        l,
        (struct ir_ins){.op = IR_ROUND, .storage = compute, .arg = {x}, .span = t->span});
  }
  return lower_add(
      l, (struct ir_ins){.op = IR_ORTHO, .index = it, .arg = {x}, .span = t->span});
}

static struct ir_ref emit_reduce(struct lower *l, enum ir_op op, const struct texpr *t) {
  struct ir_ins proto = {.op = op, .to = t->to, .span = t->span};
  for (uint32_t k = 0; k < ir_op_info(op)->n_args; k++) {
    proto.arg[k] = lower_to_device(l, lower_expr(l, t->arg[k]), t->span);
  }
  return lower_add(l, proto);
}

// The operation of a function that needs no expansion; N_IR_OPS for the others.
static enum ir_op op_of(enum fn f) {
  switch (f) {
  case FN_ADD: return IR_ADD;
  case FN_SUB: return IR_SUB;
  case FN_MUL: return IR_MUL;
  case FN_DIV: return IR_DIV;
  case FN_NEG: return IR_NEG;
  case FN_ABS: return IR_ABS;
  case FN_SQRT: return IR_SQRT;
  case FN_RSQRT: return IR_RSQRT;
  case FN_SIGN: return IR_SIGN;
  case FN_MIN: return IR_MIN;
  case FN_MAX: return IR_MAX;
  case FN_WHERE: return IR_WHERE;
  case FN_FMA: return IR_FMA;
  case FN_EQ: return IR_EQ;
  case FN_NE: return IR_NE;
  case FN_LT: return IR_LT;
  case FN_LE: return IR_LE;
  case FN_GT: return IR_GT;
  case FN_GE: return IR_GE;
  case FN_AND: return IR_AND;
  case FN_OR: return IR_OR;
  case FN_NOT: return IR_NOT;
  case FN_POW: return IR_POW;
  case FN_EXP: return IR_EXP;
  case FN_LOG: return IR_LOG;
  case FN_COS: return IR_COS;
  case FN_FLOOR: return IR_FLOOR;
  case FN_SUM: return IR_SUM;
  case FN_MEAN: return IR_MEAN;
  case FN_MAXOF: return IR_MAXOF;
  case FN_NORM: return IR_NORM;
  case FN_RMS: return IR_RMS;
  case FN_DOT: return IR_DOT;
  case FN_ORTHOGONALIZE: return IR_ORTHO;
  case FN_CLAMP:
  case FN_EMA:
  case FN_LERP:
  case N_FNS: return N_IR_OPS;
  }
  return N_IR_OPS;
}

static struct ir_ref lower_call(struct lower *l, const struct texpr *t) {
  enum ir_op op = op_of(t->fn);
  if (op == IR_ORTHO) {
    return emit_ortho(l, t);
  }
  if (op != N_IR_OPS && ir_op_info(op)->kind == IRK_REDUCE) {
    return emit_reduce(l, op, t);
  }
  struct ir_ref x[3] = {IR_NONE, IR_NONE, IR_NONE};
  for (uint32_t k = 0; k < t->n_args; k++) {
    x[k] = lower_expr(l, t->arg[k]);
  }
  return t->fn == FN_EMA     ? emit_ema(l, x, t->span)
         : t->fn == FN_LERP  ? emit_lerp(l, x, t->span)
         : t->fn == FN_CLAMP ? emit_clamp(l, x, t->span)
                             : emit(l, op, ir_op_info(op)->n_args, x, t->span);
}

static struct ir_ref leaf(struct lower *l, enum ir_op op, const struct texpr *t) {
  return lower_add(l, (struct ir_ins){.op = op, .index = t->index, .span = t->span});
}

// Reads once; later the name means whatever was stored.
static struct ir_ref read_once(struct lower *l, struct ir_ref *now, enum ir_op op,
                               const struct texpr *t) {
  if (ir_is_none(*now)) {
    *now = leaf(l, op, t);
  }
  return *now;
}

static struct ir_ref read_grad(struct lower *l, const struct texpr *t) {
  if (ir_is_none(l->grad)) {
    l->grad = leaf(l, IR_GRAD, t);
    if (l->job->clip != NULL) {
      struct ir_ins mul = {.op = IR_MUL, .name = STR("grad"), .span = t->span};
      mul.arg[0] = l->grad;
      mul.arg[1] = leaf(l, IR_CLIP, t);
      l->grad = lower_add(l, mul);
    }
  }
  return l->grad;
}

struct ir_ref lower_expr(struct lower *l, const struct texpr *t) {
  switch (t->kind) {
  case TEX_CONST:
    return lower_add(l, (struct ir_ins){.op = IR_CONST,
                                        .type = t->type == VT_BOOL ? IRT_HBOOL : IRT_F64,
                                        .num = t->num,
                                        .span = t->span});
  case TEX_HYPER: return leaf(l, IR_HYPER, t);
  case TEX_STEP: return leaf(l, IR_STEP, t);
  case TEX_PARAM: return read_once(l, &l->param, IR_PARAM, t);
  case TEX_GRAD: return read_grad(l, t);
  case TEX_STATE: {
    bool host = l->ir->state[t->index].is_host;
    return read_once(l, &l->state[t->index], host ? IR_HOST_STATE : IR_STATE, t);
  }
  case TEX_INPUT:
    return leaf(l, l->ir->input[t->index].is_scalar ? IR_HOST_INPUT : IR_INPUT, t);
  case TEX_LET: return l->let[t->index];
  case TEX_CALL: return lower_call(l, t);
  case TEX_POISON: break;
  }
  assert(false && "a rule without errors has no poison");
  return IR_NONE;
}
