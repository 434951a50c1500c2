// Common subexpressions: of equal pure instructions (and loads) the first stays. Operands of commutative operations
// are compared in either order.
#include "ir/rewrite.h"

#include <string.h>

struct key {
  uint32_t op, type, storage, to, index, stochastic, arg[3];
  uint32_t no_padding; // keys are hashed and compared as bytes
  uint64_t num;
};

static struct key key_of(const struct ir_ins *ins) {
  struct key k = {.op = ins->op,
                  .type = ins->type,
                  .storage = ins->storage,
                  .to = ins->to,
                  .index = ins->index,
                  .stochastic = ins->stochastic};
  memcpy(&k.num, &ins->num, sizeof k.num);
  for (uint32_t i = 0; i < 3; i++) {
    k.arg[i] = ins->arg[i].i;
  }
  if (ir_op_commutes(ins->op) && k.arg[0] > k.arg[1]) {
    k.arg[0] = ins->arg[1].i;
    k.arg[1] = ins->arg[0].i;
  }
  return k;
}

void pass_cse(struct ir *ir) {
  struct rewrite w = rewrite_begin(ir);
  uint32_t cap = 64;
  while (cap < w.n * 2) {
    cap *= 2;
  }
  struct key *key = ARENA_ARRAY(ir->arena, struct key, cap);
  uint32_t *value = ARENA_ARRAY(ir->arena, uint32_t, cap); // new index + 1; 0: free
  for (uint32_t i = 0; i < w.n; i++) {
    struct ir_ins ins = rewrite_fetch(&w, i);
    struct key k = key_of(&ins);
    uint32_t at =
        (uint32_t)str_hash((struct str){(const char *)&k, sizeof k}) & (cap - 1);
    while (value[at] != 0 && memcmp(&key[at], &k, sizeof k) != 0) {
      at = (at + 1) & (cap - 1);
    }
    bool store = ir_op_info(ins.op)->kind == IRK_STORE;
    if (value[at] != 0 && !store && !ins.stochastic) {
      rewrite_replace(&w, i, (struct ir_ref){value[at] - 1});
      continue;
    }
    key[at] = k;
    value[at] = ir->ins.n + 1;
    rewrite_keep(&w, i, ins);
  }
}
