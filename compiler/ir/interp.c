// The interpreter's order of work.
//
// Host values; then reductions and iterations in order, each walking all values of its operand's class; then the
// stores, class by class from elem down, so that the old values of smaller states are still there when larger ones
// need them. A block is computed before anything of it is stored.
#include "ir/interp_int.h"

#include <math.h>

uint64_t cls_count(enum cls c, const struct shape *s) {
  bool matrix = s->rank >= 2;
  switch (c) {
  case CLS_GROUP:
  case CLS_PARAM: return 1;
  case CLS_MATRIX: return matrix ? shape_batch(s) : 1;
  case CLS_ROW: return matrix ? shape_batch(s) * shape_rows(s) : 1;
  case CLS_COL: return matrix ? shape_batch(s) * shape_cols(s) : 1;
  case CLS_ELEM: return shape_numel(s);
  }
  return 0;
}

// The result of an iteration has no bound: it is judged as a whole (DESIGN section 4).
static void run_ortho(struct interp *p, uint32_t i) {
  const struct ir_ins *ins = &p->ir->ins.v[i];
  const struct shape *s = &p->ir->shape;
  uint64_t count = shape_numel(s);
  double *in = ARENA_ARRAY(p->scratch, double, count);
  double *out = ARENA_ARRAY(p->scratch, double, count);
  interp_need_operands(p, i);
  for (uint64_t begin = 0; begin < count; begin += INTERP_BLOCK) {
    uint32_t n = interp_block_size(count, begin);
    interp_run_block(p, CLS_ELEM, begin, n);
    for (uint32_t k = 0; k < n; k++) {
      in[begin + k] = p->lane[ins->arg[0].i][k].v;
    }
  }
  interp_ortho(p->scratch, &p->ir->iteration.v[ins->index], shape_batch(s), shape_rows(s),
               shape_cols(s), in, out);
  p->result[i] = ARENA_ARRAY(p->scratch, struct bounded, count);
  for (uint64_t k = 0; k < count; k++) {
    p->result[i][k] = (struct bounded){out[k], INFINITY};
  }
}

static void store_block(struct interp *p, const struct ir_ins *ins, uint64_t begin,
                        uint32_t n) {
  struct interp_tensor *t =
      ins->op == IR_SET_PARAM ? p->io->param : &p->io->state[ins->index];
  for (uint32_t k = 0; k < n; k++) {
    struct bounded x = p->lane[ins->arg[0].i][k];
    t->value[begin + k] = x.v;
    if (t->bound != NULL) {
      t->bound[begin + k] = x.b;
    }
  }
}

static bool is_store_of(const struct ir_ins *ins, enum cls cls) {
  return (ins->op == IR_SET_PARAM || ins->op == IR_SET_STATE) && ins->cls == cls;
}

static void run_stores(struct interp *p, enum cls cls) {
  bool any = false;
  for (uint32_t i = 0; i < p->ir->ins.n; i++) {
    p->need[i] = false;
  }
  for (uint32_t i = 0; i < p->ir->ins.n; i++) {
    if (is_store_of(&p->ir->ins.v[i], cls)) {
      interp_need_more(p, i);
      any = true;
    }
  }
  uint64_t count = any ? cls_count(cls, &p->ir->shape) : 0;
  for (uint64_t begin = 0; begin < count; begin += INTERP_BLOCK) {
    uint32_t n = interp_block_size(count, begin);
    interp_run_block(p, cls, begin, n);
    for (uint32_t i = 0; i < p->ir->ins.n; i++) {
      if (is_store_of(&p->ir->ins.v[i], cls)) {
        store_block(p, &p->ir->ins.v[i], begin, n);
      }
    }
  }
}

void interp_run(struct arena *scratch, const struct ir *ir, const struct interp_io *io) {
  struct interp p = {.scratch = scratch, .ir = ir, .io = io};
  p.host = ARENA_ARRAY(scratch, double, ir->ins.n);
  p.result = ARENA_ARRAY(scratch, struct bounded *, ir->ins.n);
  p.lane = arena_array(scratch, ir->ins.n, sizeof *p.lane, _Alignof(struct bounded));
  p.need = ARENA_ARRAY(scratch, bool, ir->ins.n);
  interp_run_host(&p);
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    enum ir_kind kind = ir_op_info(ir->ins.v[i].op)->kind;
    if (kind == IRK_REDUCE) {
      interp_reduce(&p, i);
    } else if (kind == IRK_MATRIX) {
      run_ortho(&p, i);
    }
  }
  for (uint32_t c = CLS_ELEM + 1; c-- > 0;) {
    run_stores(&p, (enum cls)c);
  }
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    const struct ir_ins *ins = &ir->ins.v[i];
    if (ins->op == IR_SET_HOST) {
      io->state[ins->index].value[0] = p.host[ins->arg[0].i];
    }
  }
}
