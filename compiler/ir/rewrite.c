// The mechanics that every pass shares.
#include "ir/rewrite.h"

struct rewrite rewrite_begin(struct ir *ir) {
  struct rewrite w = {.ir = ir, .old = ir->ins.v, .n = ir->ins.n};
  w.map = ARENA_ARRAY(ir->arena, struct ir_ref, w.n);
  ir->ins.v = NULL;
  ir->ins.n = ir->ins.cap = 0;
  return w;
}

struct ir_ins rewrite_fetch(const struct rewrite *w, uint32_t i) {
  struct ir_ins ins = w->old[i];
  for (uint32_t k = 0; k < ir_op_info(ins.op)->n_args; k++) {
    ins.arg[k] = w->map[ins.arg[k].i];
  }
  return ins;
}

void rewrite_keep(struct rewrite *w, uint32_t i, struct ir_ins ins) {
  w->map[i] = (struct ir_ref){w->ir->ins.n};
  VEC_PUSH(w->ir->arena, w->ir->ins, ins);
}

void rewrite_replace(struct rewrite *w, uint32_t i, struct ir_ref by) {
  w->map[i] = by;
}
