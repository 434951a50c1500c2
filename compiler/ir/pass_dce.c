// Dead code: what no store needs goes.
#include "ir/rewrite.h"

void pass_dce(struct ir *ir) {
  struct rewrite w = rewrite_begin(ir);
  bool *live = ARENA_ARRAY(ir->arena, bool, w.n);
  for (uint32_t i = w.n; i-- > 0;) {
    const struct ir_op_info *info = ir_op_info(w.old[i].op);
    live[i] = live[i] || info->kind == IRK_STORE;
    for (uint32_t k = 0; live[i] && k < info->n_args; k++) {
      live[w.old[i].arg[k].i] = true;
    }
  }
  for (uint32_t i = 0; i < w.n; i++) {
    if (live[i]) {
      rewrite_keep(&w, i, rewrite_fetch(&w, i));
    }
  }
}
