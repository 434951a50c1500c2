// Blocks of the interpreter: consecutive values of one class, every needed instruction over the block before the next.
#include "ir/interp_int.h"
#include "ir/value.h"

#include <math.h>
#include <string.h>

// ---- host

static double host_value(const struct interp *p, const struct ir_ins *ins) {
  if (ins->op == IR_CONST) {
    return ins->num;
  }
  if (ins->op == IR_HYPER) {
    return p->io->hyper[ins->index];
  }
  if (ins->op == IR_STEP) {
    return p->io->step;
  }
  if (ins->op == IR_HOST_STATE) {
    return p->io->state[ins->index].value[0];
  }
  if (ins->op == IR_HOST_INPUT) {
    return p->io->input[ins->index].value[0];
  }
  double x[3] = {0};
  for (uint32_t k = 0; k < ir_op_info(ins->op)->n_args; k++) {
    x[k] = p->host[ins->arg[k].i];
  }
  return value_eval(ins->op, false, x);
}

void interp_run_host(struct interp *p) {
  for (uint32_t i = 0; i < p->ir->ins.n; i++) {
    const struct ir_ins *ins = &p->ir->ins.v[i];
    if (ir_is_host(ins->type)) {
      p->host[i] = host_value(p, ins);
    }
  }
}

// ---- one block

// Indices of `n` values of `domain` from `begin`, in every class that the domain has values of.
static void locate(struct interp *p, enum cls domain, uint64_t begin, uint32_t n) {
  const struct shape *s = &p->ir->shape;
  bool matrix = s->rank >= 2;
  uint64_t rows = matrix ? shape_rows(s) : 1, cols = matrix ? shape_cols(s) : 1;
  for (uint32_t k = 0; k < n; k++) {
    uint64_t e = begin + k;
    uint64_t row = domain == CLS_ELEM ? e / cols : e;
    uint64_t batch = domain == CLS_ELEM  ? row / rows
                     : domain == CLS_ROW ? e / rows
                     : domain == CLS_COL ? e / cols
                                         : e;
    p->at[CLS_GROUP][k] = p->at[CLS_PARAM][k] = 0;
    p->at[CLS_MATRIX][k] = matrix && domain > CLS_PARAM ? batch : 0;
    p->at[CLS_ROW][k] = row;
    p->at[CLS_COL][k] = domain == CLS_ELEM ? batch * cols + e % cols : e;
    p->at[CLS_ELEM][k] = e;
  }
}

static const struct interp_tensor *loaded(const struct interp *p,
                                          const struct ir_ins *ins) {
  return ins->op == IR_PARAM   ? p->io->param
         : ins->op == IR_GRAD  ? p->io->grad
         : ins->op == IR_STATE ? &p->io->state[ins->index]
                               : &p->io->input[ins->index];
}

// A tensor that may be absent (an input of an untaken arm) has values that nothing is known of.
static void load(struct interp *p, const struct ir_ins *ins, struct bounded *out,
                 uint32_t n) {
  const struct interp_tensor *t = loaded(p, ins);
  const uint64_t *at = p->at[ins->cls];
  for (uint32_t k = 0; k < n; k++) {
    out[k].v = t->value == NULL ? (double)NAN : t->value[at[k]];
    out[k].b = t->value == NULL ? INFINITY : t->bound == NULL ? 0 : t->bound[at[k]];
  }
}

static void fill(struct bounded *out, struct bounded x, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    out[k] = x;
  }
}

static void compute(struct interp *p, const struct ir_ins *ins, struct bounded *out,
                    uint32_t n) {
  uint32_t n_args = ir_op_info(ins->op)->n_args;
  for (uint32_t k = 0; k < n; k++) {
    struct bounded x[3] = {{0, 0}, {0, 0}, {0, 0}};
    for (uint32_t a = 0; a < n_args; a++) {
      x[a] = p->lane[ins->arg[a].i][k];
    }
    out[k] = ins->op == IR_ROUND ? bounded_round(ins->storage, x[0])
                                 : bounded_value(ins->op, x);
  }
}

static void run_ins(struct interp *p, uint32_t i, uint32_t n) {
  const struct ir_ins *ins = &p->ir->ins.v[i];
  enum ir_kind kind = ir_op_info(ins->op)->kind;
  struct bounded *out = p->lane[i];
  if (kind == IRK_REDUCE || kind == IRK_MATRIX) {
    for (uint32_t k = 0; k < n; k++) {
      out[k] = p->result[i][p->at[ins->cls][k]];
    }
  } else if (ins->op == IR_CONST) {
    fill(out, (struct bounded){ins->num, 0}, n);
  } else if (ins->op == IR_CLIP) {
    fill(out, bounded_to_f32(p->io->clip), n);
  } else if (ins->op == IR_TO_F32) {
    fill(out, bounded_to_f32(p->host[ins->arg[0].i]), n);
  } else if (ins->op == IR_TO_BOOL) {
    fill(out, (struct bounded){p->host[ins->arg[0].i], 0}, n);
  } else if (kind == IRK_LEAF) {
    load(p, ins, out, n);
  } else {
    compute(p, ins, out, n);
  }
}

void interp_run_block(struct interp *p, enum cls domain, uint64_t begin, uint32_t n) {
  locate(p, domain, begin, n);
  for (uint32_t i = 0; i < p->ir->ins.n; i++) {
    if (p->need[i]) {
      run_ins(p, i, n);
    }
  }
}

void interp_need_more(struct interp *p, uint32_t i) {
  for (uint32_t k = 0; k < ir_op_info(p->ir->ins.v[i].op)->n_args; k++) {
    p->need[p->ir->ins.v[i].arg[k].i] = true;
  }
  while (i-- > 0) {
    const struct ir_ins *ins = &p->ir->ins.v[i];
    enum ir_kind kind = ir_op_info(ins->op)->kind;
    bool done = kind == IRK_REDUCE || kind == IRK_MATRIX || ins->op == IR_TO_F32 ||
                ins->op == IR_TO_BOOL;
    for (uint32_t k = 0; p->need[i] && !done && k < ir_op_info(ins->op)->n_args; k++) {
      p->need[ins->arg[k].i] = true;
    }
  }
}

void interp_need_operands(struct interp *p, uint32_t i) {
  memset(p->need, 0, p->ir->ins.n * sizeof *p->need);
  interp_need_more(p, i);
}
