// The op table: ops.def as data.
#include "ir/ir.h"

static const struct ir_op_info infos[N_IR_OPS] = {
#define OP(id, text, args, where, kind) [IR_##id] = {text, args, IR_##where, IRK_##kind},
#include "ir/ops.def"
#undef OP
};

const struct ir_op_info *ir_op_info(enum ir_op op) {
  return &infos[op];
}

bool ir_op_find(struct str text, enum ir_op *out) {
  for (uint32_t i = 0; i < N_IR_OPS; i++) {
    if (str_is(text, infos[i].text)) {
      *out = (enum ir_op)i;
      return true;
    }
  }
  return false;
}

enum ir_index ir_op_index(enum ir_op op) {
  bool state =
      op == IR_STATE || op == IR_HOST_STATE || op == IR_SET_STATE || op == IR_SET_HOST;
  return op == IR_HYPER                          ? IRX_HYPER
         : state                                 ? IRX_STATE
         : op == IR_INPUT || op == IR_HOST_INPUT ? IRX_INPUT
         : op == IR_ORTHO                        ? IRX_ITERATION
                                                 : IRX_NONE;
}

bool ir_op_commutes(enum ir_op op) {
  return op == IR_ADD || op == IR_MUL || op == IR_MIN || op == IR_MAX || op == IR_FMA ||
         op == IR_EQ || op == IR_NE || op == IR_AND || op == IR_OR || op == IR_DOT;
}

bool ir_is_host(enum ir_type t) {
  return t == IRT_F64 || t == IRT_HBOOL;
}

bool ir_is_bool(enum ir_type t) {
  return t == IRT_HBOOL || t == IRT_DBOOL;
}

const char *ir_type_name(enum ir_type t) {
  static const char *const name[] = {"none", "f64", "hbool", "f32", "bool"};
  return name[t];
}

const char *ir_class_word(enum cls c) {
  static const char *const word[] = {"group", "param", "matrix", "row", "col", "elem"};
  return word[c];
}
