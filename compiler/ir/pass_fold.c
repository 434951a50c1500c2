// Folding: constants are evaluated on the side where they are (f32 ones with f32 rounding), and operations that give
// one of their operands bit for bit go.
//
// Never changes bits. `x + 0` stays (it turns -0 into +0); pow, exp, log and cos stay (they are the running host's).
// An operand takes the place of its operation only where the classes are equal: reductions count the elements that
// their argument has.
#include "ir/rewrite.h"
#include "ir/value.h"

#include <math.h>

static const struct ir_ins *const_arg(const struct ir *ir, const struct ir_ins *ins,
                                      uint32_t k) {
  const struct ir_ins *a = ir_at(ir, ins->arg[k]);
  return a->op == IR_CONST ? a : NULL;
}

static bool is_num(const struct ir *ir, const struct ir_ins *ins, uint32_t k, double x) {
  const struct ir_ins *a = const_arg(ir, ins, k);
  return a != NULL && a->num == x && signbit(a->num) == signbit(x);
}

static bool may_evaluate(const struct ir_ins *ins) {
  bool libm =
      ins->op == IR_POW || ins->op == IR_EXP || ins->op == IR_LOG || ins->op == IR_COS;
  return (ir_op_info(ins->op)->kind == IRK_VALUE && !libm) || ins->op == IR_TO_F32 ||
         ins->op == IR_TO_BOOL;
}

static bool fold_constants(const struct ir *ir, struct ir_ins *ins) {
  double x[3] = {0};
  bool ok = may_evaluate(ins);
  for (uint32_t k = 0; ok && k < ir_op_info(ins->op)->n_args; k++) {
    const struct ir_ins *a = const_arg(ir, ins, k);
    ok = a != NULL;
    x[k] = ok ? a->num : 0;
  }
  if (!ok) {
    return false;
  }
  bool f32 = !ir_is_host(ins->type);
  double num = ins->op == IR_TO_F32    ? (double)(float)x[0]
               : ins->op == IR_TO_BOOL ? x[0]
                                       : value_eval(ins->op, f32, x);
  *ins = (struct ir_ins){.op = IR_CONST,
                         .type = ins->type,
                         .cls = CLS_GROUP,
                         .arg = {IR_NONE, IR_NONE, IR_NONE},
                         .num = isnan(num) ? (double)NAN : num,
                         .name = ins->name,
                         .span = ins->span};
  return true;
}

// Operand k of operand 0, when operand 0 is `op`.
static struct ir_ref inner(const struct ir *ir, const struct ir_ins *ins, enum ir_op op) {
  const struct ir_ins *a = ir_at(ir, ins->arg[0]);
  return a->op == op ? a->arg[0] : IR_NONE;
}

// The identity that this operation has for `b` in x op b, or NaN.
static double right_identity(enum ir_op op) {
  return op == IR_MUL || op == IR_DIV || op == IR_AND ? 1
         : op == IR_ADD                               ? -0.0
         : op == IR_SUB || op == IR_OR                ? 0
                                                      : (double)NAN;
}

static struct ir_ref same_as(const struct ir *ir, const struct ir_ins *ins) {
  double unit = right_identity(ins->op);
  if (!isnan(unit)) {
    bool right = is_num(ir, ins, 1, unit);
    bool left = ir_op_commutes(ins->op) && is_num(ir, ins, 0, unit);
    return right ? ins->arg[0] : left ? ins->arg[1] : IR_NONE;
  }
  if (ins->op == IR_WHERE) {
    const struct ir_ins *c = const_arg(ir, ins, 0);
    bool same = ins->arg[1].i == ins->arg[2].i;
    return c != NULL ? ins->arg[c->num != 0 ? 1 : 2] : same ? ins->arg[1] : IR_NONE;
  }
  if (ins->op == IR_MIN || ins->op == IR_MAX) {
    return ins->arg[0].i == ins->arg[1].i ? ins->arg[0] : IR_NONE;
  }
  if (ins->op == IR_NEG || ins->op == IR_NOT) {
    return inner(ir, ins, ins->op);
  }
  if (ins->op == IR_ABS) {
    return ir_is_none(inner(ir, ins, IR_ABS)) ? IR_NONE : ins->arg[0];
  }
  bool exact = ins->op == IR_ROUND && ir_fits_storage(ir, ins->arg[0], ins->storage);
  return exact ? ins->arg[0] : IR_NONE;
}

// |-x| is |x|; fma(1, b, c) is b + c, rounded once either way.
static void simplify(const struct ir *ir, struct ir_ins *ins) {
  if (ins->op == IR_ABS && !ir_is_none(inner(ir, ins, IR_NEG))) {
    ins->arg[0] = inner(ir, ins, IR_NEG);
  }
  if (ins->op == IR_FMA && (is_num(ir, ins, 0, 1) || is_num(ir, ins, 1, 1))) {
    ins->op = IR_ADD;
    ins->arg[0] = ins->arg[is_num(ir, ins, 0, 1) ? 1 : 0];
    ins->arg[1] = ins->arg[2];
    ins->arg[2] = IR_NONE;
  }
}

void pass_fold(struct ir *ir) {
  struct rewrite w = rewrite_begin(ir);
  for (uint32_t i = 0; i < w.n; i++) {
    struct ir_ins ins = rewrite_fetch(&w, i);
    simplify(ir, &ins);
    struct ir_ref same = fold_constants(ir, &ins) ? IR_NONE : same_as(ir, &ins);
    if (!ir_is_none(same) && ir_at(ir, same)->cls == ins.cls) {
      rewrite_replace(&w, i, same);
    } else {
      rewrite_keep(&w, i, ins);
    }
  }
}
