// Order: host instructions first, then uniform device values (constants, scalars from the host and what is computed
// from them alone), then the rest; each part in its old order. Reads of states give old values wherever they stand,
// so stores need not wait.
#include "ir/rewrite.h"

static uint32_t part_of(const struct ir_ins *ins, bool uniform) {
  return ir_is_host(ins->type) || ins->op == IR_SET_HOST ? 0 : uniform ? 1 : 2;
}

void pass_hoist(struct ir *ir) {
  const bool *uniform = ir_uniform_values(ir->arena, ir);
  struct rewrite w = rewrite_begin(ir);
  for (uint32_t part = 0; part < 3; part++) {
    for (uint32_t i = 0; i < w.n; i++) {
      if (part_of(&w.old[i], uniform[i]) == part) {
        rewrite_keep(&w, i, rewrite_fetch(&w, i));
      }
    }
  }
}
