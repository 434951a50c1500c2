// Invariants of the IR, checked after lowering and between passes.
#include "ir/value.h"

// Does everything that rests as `from` rest as `into` too?
static bool storage_within(enum storage from, enum storage into) {
  return from == into || into == ST_F32;
}

static bool rounds_to(const struct ir_ins *ins, enum storage s) {
  bool typed = ins->op == IR_ROUND || ins->op == IR_ORTHO || ins->op == IR_PARAM ||
               ins->op == IR_GRAD || ins->op == IR_STATE;
  bool blocks =
      s == ST_Q8 ||
      s == ST_Q8U; // codes depend on the whole block: only its own rounding fits
  return typed && storage_within(ins->storage, s) && !(blocks && ins->op != IR_ROUND);
}

bool ir_fits_storage(const struct ir *ir, struct ir_ref value, enum storage storage) {
  const struct ir_ins *ins = ir_at(ir, value);
  return storage == ST_F32 || rounds_to(ins, storage) ||
         (ins->op == IR_CONST && storage_holds(storage, ins->num));
}

bool *ir_uniform_values(struct arena *a, const struct ir *ir) {
  bool *uniform = ARENA_ARRAY(a, bool, ir->ins.n);
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    const struct ir_ins *ins = &ir->ins.v[i];
    const struct ir_op_info *info = ir_op_info(ins->op);
    bool pure = info->kind == IRK_VALUE || ins->op == IR_ROUND;
    uniform[i] = ins->op == IR_CONST || ins->op == IR_TO_F32 || ins->op == IR_TO_BOOL ||
                 ins->op == IR_CLIP || pure;
    for (uint32_t k = 0; pure && k < info->n_args; k++) {
      uniform[i] = uniform[i] && uniform[ins->arg[k].i];
    }
    uniform[i] = uniform[i] && !ir_is_host(ins->type);
  }
  return uniform;
}

static struct ir_fault fault(struct arena *a, const struct ir *ir, uint32_t i,
                             const char *text) {
  struct buf b = buf_new(a);
  if (i < ir->ins.n) {
    buf_printf(&b, "%s (instruction %u, `%s`", text, i,
               ir_op_info(ir->ins.v[i].op)->text);
    if (ir->ins.v[i].name.n > 0) {
      buf_printf(&b, " for `%.*s`", STR_FMT(ir->ins.v[i].name));
    }
    buf_char(&b, ')');
  } else {
    buf_puts(&b, text);
  }
  return (struct ir_fault){buf_done(&b), i < ir->ins.n ? ir->ins.v[i].span : NO_SPAN};
}

static bool same_derivation(const struct ir_ins *a, const struct ir_ins *b) {
  return a->type == b->type && a->cls == b->cls && a->storage == b->storage &&
         str_eq(a->name, b->name);
}

// Each instruction by itself.
static const char *check_ins(const struct ir *ir, uint32_t i) {
  struct ir_ins derived = ir->ins.v[i];
  const struct ir_ins *ins = &ir->ins.v[i];
  const struct ir_op_info *info = ir_op_info(ins->op);
  for (uint32_t k = 0; k < info->n_args; k++) {
    if (ins->arg[k].i >= i) {
      return "an operand is not defined before its use";
    }
    if (ir_at(ir, ins->arg[k])->type == IRT_NONE) {
      return "an operand has no value";
    }
  }
  const char *wrong = ir_derive(ir, &derived);
  if (wrong != NULL) {
    return wrong;
  }
  if (!same_derivation(ins, &derived)) {
    return "type, class, storage or name does not follow from the operands";
  }
  if (ins->op == IR_ORTHO && !ir->iteration.v[ins->index].norm_in_f32 &&
      !ir_fits_storage(ir, ins->arg[0], ins->storage)) {
    return "the operand is not rounded to the iteration's compute type";
  }
  bool is_device_store = ins->op == IR_SET_STATE || ins->op == IR_SET_PARAM;
  if (is_device_store && !ir_fits_storage(ir, ins->arg[0], ins->storage)) {
    return "the stored value is not rounded to its storage";
  }
  return NULL;
}

// One store of each state; exactly one of the parameter in an update, none in an initial state.
static struct ir_fault check_stores(struct arena *a, const struct ir *ir,
                                    uint32_t init_of) {
  bool *stored = ARENA_ARRAY(a, bool, ir->n_states);
  uint32_t n_params = 0, n_stores = 0;
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    const struct ir_ins *ins = &ir->ins.v[i];
    if (ir_op_info(ins->op)->kind != IRK_STORE) {
      continue;
    }
    n_stores++;
    bool is_param = ins->op == IR_SET_PARAM;
    if (is_param ? n_params > 0 : stored[ins->index]) {
      return fault(a, ir, i, "stored a second time");
    }
    if (init_of != UINT32_MAX && (is_param || ins->index != init_of)) {
      return fault(a, ir, i, "an initial state stores its own state only");
    }
    if (is_param) {
      n_params++;
    } else {
      stored[ins->index] = true;
    }
  }
  if (init_of == UINT32_MAX && n_params != 1) {
    return fault(a, ir, UINT32_MAX, "the parameter is never stored");
  }
  if (init_of != UINT32_MAX && n_stores != 1) {
    return fault(a, ir, UINT32_MAX, "an initial state is never stored");
  }
  return (struct ir_fault){.span = NO_SPAN};
}

static bool init_may(enum ir_op op) {
  return op != IR_HYPER && op != IR_STEP && op != IR_HOST_STATE && op != IR_HOST_INPUT &&
         op != IR_GRAD && op != IR_STATE && op != IR_INPUT && op != IR_CLIP &&
         ir_op_info(op)->kind != IRK_REDUCE && ir_op_info(op)->kind != IRK_MATRIX;
}

static struct ir_fault check_one(struct arena *a, const struct ir *ir, uint32_t init_of) {
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    const char *wrong = check_ins(ir, i);
    if (wrong == NULL && init_of != UINT32_MAX && !init_may(ir->ins.v[i].op)) {
      wrong = "an initial state depends on the parameter and constants only";
    }
    if (wrong != NULL) {
      return fault(a, ir, i, wrong);
    }
  }
  return check_stores(a, ir, init_of);
}

static const char *check_header(const struct ir *ir) {
  bool matrix = ir->shape.rank >= 2;
  for (uint32_t i = 0; i < ir->n_states; i++) {
    const struct ir_state *s = &ir->state[i];
    if (!matrix && (s->cls == CLS_ROW || s->cls == CLS_COL)) {
      return "a state per row or column needs rank 2";
    }
    if (s->is_host && s->cls > CLS_PARAM) {
      return "a host state is per param or per group";
    }
  }
  for (uint32_t i = 0; i < ir->n_inputs; i++) {
    enum cls c = ir->input[i].cls;
    if (!matrix && !ir->input[i].is_scalar && (c == CLS_ROW || c == CLS_COL)) {
      return "an input per row or column needs rank 2";
    }
  }
  for (uint32_t i = 0; i < ir->iteration.n; i++) {
    const struct ir_iteration *it = &ir->iteration.v[i];
    if (it->compute == ST_Q8 || it->compute == ST_Q8U || it->n_steps == 0) {
      return "an iteration needs steps and a compute type without blocks";
    }
  }
  return NULL;
}

struct ir_fault ir_check(struct arena *a, const struct ir *ir) {
  const char *wrong = check_header(ir);
  if (wrong != NULL) {
    return fault(a, ir, UINT32_MAX, wrong);
  }
  for (uint32_t i = 0; ir->init != NULL && i < ir->n_states; i++) {
    struct ir_fault f = {.span = NO_SPAN};
    if (ir->init[i] != NULL) {
      f = check_one(a, ir->init[i], i);
    }
    if (f.text.n > 0) {
      return f;
    }
  }
  return check_one(a, ir, UINT32_MAX);
}

struct str ir_verify(struct arena *a, const struct ir *ir) {
  return ir_check(a, ir).text;
}
