// Loads that a phase needs only under a uniform condition.
//
// The needs of a value are the meet, over everything in the phase that reads it, of the reader's own needs; a `where`
// on a TO_BOOL scalar adds its condition for the arm it reads. Stores, reductions and temps are always needed.
#include "ir/phases_int.h"

struct need {
  struct ir_ref cond;
  bool taken;
};
struct needs {
  bool known; // read by something; else it would be needed for nothing
  VEC(struct need) list;
};

static bool has_need(const struct needs *n, struct need x) {
  for (uint32_t k = 0; k < n->list.n; k++) {
    if (n->list.v[k].cond.i == x.cond.i && n->list.v[k].taken == x.taken) {
      return true;
    }
  }
  return false;
}

// `reader`'s needs plus, if `extra`, one more.
static void meet(struct arena *a, struct needs *into, const struct needs *reader,
                 const struct need *extra) {
  if (!into->known) {
    into->known = true;
    for (uint32_t k = 0; k < reader->list.n; k++) {
      VEC_PUSH(a, into->list, reader->list.v[k]);
    }
    if (extra != NULL && !has_need(into, *extra)) {
      VEC_PUSH(a, into->list, *extra);
    }
    return;
  }
  uint32_t kept = 0;
  for (uint32_t k = 0; k < into->list.n; k++) {
    struct need x = into->list.v[k];
    bool is_extra = extra != NULL && extra->cond.i == x.cond.i && extra->taken == x.taken;
    if (is_extra || has_need(reader, x)) {
      into->list.v[kept++] = x;
    }
  }
  into->list.n = kept;
}

static void spread(struct arena *a, const struct ir *ir, struct needs *needs,
                   uint32_t i) {
  const struct ir_ins *ins = &ir->ins.v[i];
  bool uniform = ins->op == IR_WHERE && ir_at(ir, ins->arg[0])->op == IR_TO_BOOL;
  for (uint32_t k = 0; k < ir_op_info(ins->op)->n_args; k++) {
    struct need arm = {ins->arg[0], k == 1};
    meet(a, &needs[ins->arg[k].i], &needs[i], uniform && k > 0 ? &arm : NULL);
  }
}

void phase_find_guards(struct arena *a, const struct ir *ir, struct phase *ph,
                       const struct phase_temp *temp) {
  struct needs *needs = ARENA_ARRAY(a, struct needs, ir->ins.n);
  VEC(struct phase_guard) guard = {0};
  for (uint32_t k = 0; k < ph->n_temp_out; k++) {
    needs[temp[ph->temp_out[k]].value.i].known = true;
  }
  for (uint32_t k = ph->n_ins; k-- > 0;) {
    uint32_t i = ph->ins[k].i;
    enum ir_kind kind = ir_op_info(ir->ins.v[i].op)->kind;
    needs[i].known = needs[i].known || kind == IRK_STORE || kind == IRK_REDUCE;
    spread(a, ir, needs, i);
  }
  for (uint32_t k = 0; k < ph->n_ins; k++) {
    uint32_t i = ph->ins[k].i;
    bool leaf =
        ir_op_info(ir->ins.v[i].op)->kind == IRK_LEAF && ir->ins.v[i].op != IR_CONST;
    for (uint32_t n = 0; leaf && n < needs[i].list.n; n++) {
      struct need x = needs[i].list.v[n];
      VEC_PUSH(a, guard, ((struct phase_guard){ph->ins[k], x.cond, x.taken}));
    }
  }
  ph->guard = guard.v;
  ph->n_guards = guard.n;
}
