// The builder: one instruction at a time, typed from its operands.
#include "ir/ir.h"

#include <assert.h>
#include <math.h>

static const struct ir_ins *operand(const struct ir *ir, const struct ir_ins *ins,
                                    uint32_t i) {
  return ir_at(ir, ins->arg[i]);
}

static bool args_exist(const struct ir *ir, const struct ir_ins *ins) {
  uint32_t n = ir_op_info(ins->op)->n_args;
  for (uint32_t i = 0; i < 3; i++) {
    if (i < n ? ins->arg[i].i >= ir->ins.n : !ir_is_none(ins->arg[i])) {
      return false;
    }
  }
  return true;
}

static bool index_exists(const struct ir *ir, const struct ir_ins *ins) {
  bool host = ins->op == IR_HOST_STATE || ins->op == IR_SET_HOST;
  switch (ir_op_index(ins->op)) {
  case IRX_NONE: return true;
  case IRX_HYPER: return ins->index < ir->n_hypers;
  case IRX_STATE:
    return ins->index < ir->n_states && ir->state[ins->index].is_host == host;
  case IRX_INPUT:
    return ins->index < ir->n_inputs &&
           ir->input[ins->index].is_scalar == (ins->op == IR_HOST_INPUT);
  case IRX_ITERATION: return ins->index < ir->iteration.n;
  }
  return false;
}

static enum ir_type side_type(bool host, bool is_bool) {
  return host ? (is_bool ? IRT_HBOOL : IRT_F64) : (is_bool ? IRT_DBOOL : IRT_F32);
}

// Leaves: constants carry their type, the rest follow from where they are read.
static const char *derive_leaf(const struct ir *ir, struct ir_ins *ins) {
  if (ins->op == IR_CONST) {
    ins->cls = CLS_GROUP;
    ins->num = isnan(ins->num) ? (double)NAN : ins->num;
    if (ins->type == IRT_NONE) {
      return "a constant needs a type";
    }
    if (ins->type == IRT_F32 && (double)(float)ins->num != ins->num && !isnan(ins->num)) {
      return "an f32 constant must be an f32 value";
    }
    return ir_is_bool(ins->type) && ins->num != 0 && ins->num != 1
               ? "a bool constant is true or false"
               : NULL;
  }
  ins->type = ir_op_info(ins->op)->where == IR_H ? IRT_F64 : IRT_F32;
  bool is_state = ins->op == IR_STATE || ins->op == IR_HOST_STATE;
  ins->cls = ins->op == IR_STEP                          ? CLS_PARAM
             : is_state                                  ? ir->state[ins->index].cls
             : ins->op == IR_INPUT                       ? ir->input[ins->index].cls
             : ins->op == IR_PARAM || ins->op == IR_GRAD ? CLS_ELEM
                                                         : CLS_GROUP;
  ins->storage = ins->op == IR_PARAM   ? ir->dtype
                 : ins->op == IR_GRAD  ? ir->grad
                 : ins->op == IR_STATE ? ir->state[ins->index].storage
                                       : ST_F32;
  return NULL;
}

static const char *derive_cast(const struct ir *ir, struct ir_ins *ins) {
  const struct ir_ins *a = operand(ir, ins, 0);
  enum ir_type want = ins->op == IR_TO_F32    ? IRT_F64
                      : ins->op == IR_TO_BOOL ? IRT_HBOOL
                                              : IRT_F32;
  if (a->type != want) {
    return "the operand of a cast has the wrong type";
  }
  ins->type = ins->op == IR_TO_BOOL ? IRT_DBOOL : IRT_F32;
  ins->cls = a->cls;
  return NULL;
}

static bool is_compare(enum ir_op op) {
  return op >= IR_EQ && op <= IR_GE;
}

static bool is_logic(enum ir_op op) {
  return op == IR_AND || op == IR_OR || op == IR_NOT;
}

static const char *derive_value(const struct ir *ir, struct ir_ins *ins) {
  const struct ir_op_info *info = ir_op_info(ins->op);
  bool host = ir_is_host(operand(ir, ins, 0)->type);
  if (((uint32_t)info->where & (host ? (uint32_t)IR_H : (uint32_t)IR_D)) == 0) {
    return "the operation does not exist on this side";
  }
  enum cls cls = operand(ir, ins, 0)->cls;
  for (uint32_t i = 0; i < info->n_args; i++) {
    const struct ir_ins *a = operand(ir, ins, i);
    bool is_bool = is_logic(ins->op) || (ins->op == IR_WHERE && i == 0);
    bool free_type = ins->op == IR_WHERE && i > 0;
    if (ir_is_host(a->type) != host || a->type == IRT_NONE) {
      return "operands are on different sides";
    }
    if (!free_type && ir_is_bool(a->type) != is_bool) {
      return is_bool ? "an operand must be a bool" : "an operand must be a number";
    }
    cls = cls_join(cls, a->cls);
  }
  if (ins->op == IR_WHERE && operand(ir, ins, 1)->type != operand(ir, ins, 2)->type) {
    return "the arms have different types";
  }
  ins->type = ins->op == IR_WHERE
                  ? operand(ir, ins, 1)->type
                  : side_type(host, is_compare(ins->op) || is_logic(ins->op));
  ins->cls = cls;
  return NULL;
}

static bool needs_matrix(enum cls c) {
  return c == CLS_ROW || c == CLS_COL;
}

static const char *derive_reduce(const struct ir *ir, struct ir_ins *ins) {
  enum cls cls = operand(ir, ins, 0)->cls;
  for (uint32_t i = 0; i < ir_op_info(ins->op)->n_args; i++) {
    if (operand(ir, ins, i)->type != IRT_F32) {
      return "a reduction takes f32 values";
    }
    cls = cls_join(cls, operand(ir, ins, i)->cls);
  }
  if (cls_join(ins->to, cls) != cls) {
    return "a reduction goes to a smaller class";
  }
  if (needs_matrix(ins->to) && ir->shape.rank < 2) {
    return "rows and columns need rank 2";
  }
  ins->type = IRT_F32;
  ins->cls = ins->to;
  return NULL;
}

static const char *derive_matrix(const struct ir *ir, struct ir_ins *ins) {
  const struct ir_ins *a = operand(ir, ins, 0);
  if (a->type != IRT_F32 || a->cls != CLS_ELEM || ir->shape.rank < 2) {
    return "a whole-matrix operation takes the elements of matrices";
  }
  ins->type = IRT_F32;
  ins->cls = CLS_ELEM;
  ins->storage = ir->iteration.v[ins->index].compute;
  return NULL;
}

static const char *derive_store(const struct ir *ir, struct ir_ins *ins) {
  const struct ir_ins *a = operand(ir, ins, 0);
  bool host = ins->op == IR_SET_HOST;
  if (a->type != (host ? IRT_F64 : IRT_F32)) {
    return "the stored value has the wrong type";
  }
  bool param = ins->op == IR_SET_PARAM;
  enum cls into = param ? CLS_ELEM : ir->state[ins->index].cls;
  if (!cls_fits(a->cls, into)) {
    return "the stored value's class does not fit";
  }
  ins->type = IRT_NONE;
  ins->cls = into;
  ins->storage = param ? ir->dtype : host ? ST_F32 : ir->state[ins->index].storage;
  return NULL;
}

// "lr" of "embed.lr".
static struct str last_part(struct str full) {
  size_t i = full.n;
  while (i > 0 && full.p[i - 1] != '.') {
    i--;
  }
  return (struct str){full.p + i, full.n - i};
}

// Leaves without a name, and every store, are named after what they read or write.
static struct str natural_name(const struct ir *ir, const struct ir_ins *ins) {
  switch (ir_op_index(ins->op)) {
  case IRX_HYPER: return last_part(ir->hyper[ins->index]);
  case IRX_STATE: return ir->state[ins->index].name;
  case IRX_INPUT: return ir->input[ins->index].name;
  case IRX_ITERATION: return ins->name;
  case IRX_NONE: break;
  }
  return ins->op == IR_PARAM || ins->op == IR_SET_PARAM ? STR("param")
         : ins->op == IR_GRAD                           ? STR("grad")
         : ins->op == IR_STEP                           ? STR("step")
         : ins->op == IR_CLIP                           ? STR("clip")
                                                        : ins->name;
}

static const char *derive_kind(const struct ir *ir, struct ir_ins *ins) {
  switch (ir_op_info(ins->op)->kind) {
  case IRK_LEAF: return derive_leaf(ir, ins);
  case IRK_CAST: return derive_cast(ir, ins);
  case IRK_VALUE: return derive_value(ir, ins);
  case IRK_REDUCE: return derive_reduce(ir, ins);
  case IRK_MATRIX: return derive_matrix(ir, ins);
  case IRK_STORE: return derive_store(ir, ins);
  }
  return "unknown operation";
}

const char *ir_derive(const struct ir *ir, struct ir_ins *ins) {
  struct ir_ins x = *ins;
  if (!args_exist(ir, &x)) {
    return "an operand is not defined before its use";
  }
  if (!index_exists(ir, &x)) {
    return "the state, hyper, input or iteration does not exist";
  }
  const char *wrong = derive_kind(ir, &x);
  if (wrong == NULL) {
    bool is_store = ir_op_info(x.op)->kind == IRK_STORE;
    x.name = x.name.n == 0 || is_store ? natural_name(ir, &x) : x.name;
    *ins = x;
  }
  return wrong;
}

struct ir_ref ir_add(struct ir *ir, struct ir_ins proto) {
  for (uint32_t i = ir_op_info(proto.op)->n_args; i < 3; i++) {
    proto.arg[i] = IR_NONE;
  }
  const char *wrong = ir_derive(ir, &proto);
  assert(wrong == NULL);
  (void)wrong; // a release build leaves the instruction untyped: the verifier reports it
  VEC_PUSH(ir->arena, ir->ins, proto);
  return (struct ir_ref){ir->ins.n - 1};
}
