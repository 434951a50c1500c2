// Reductions of the interpreter.
//
// A run adds exact terms without any rounding but the last (DESIGN section 4). Ours in double may be off by a little:
// that is part of the bound.
#include "ir/interp_int.h"
#include "ir/value.h"

#include <math.h>

struct sums {
  double sum, abs, bound, max_bound, max;
  uint64_t n;
};

static void accumulate(enum ir_op op, struct sums *s, struct bounded x,
                       struct bounded y) {
  bool unknown = isinf(x.b) || isinf(y.b);
  double term = op == IR_SUM || op == IR_MEAN ? x.v : x.v * y.v;
  double bound = op == IR_SUM || op == IR_MEAN || op == IR_MAXOF
                     ? x.b
                     : fabs(x.v) * y.b + fabs(y.v) * x.b + x.b * y.b;
  s->sum += term;
  s->abs += fabs(term);
  s->bound += unknown ? INFINITY : bound;
  s->max = value_eval(IR_MAX, false, (double[]){s->max, x.v, 0});
  s->max_bound = fmax(s->max_bound, x.b);
  s->n++;
}

// The square root of a sum of squares: its deviation is that of the sum over twice the root, and never more than
// the root of the deviation.
static struct bounded norm_of(double squares, double bound, double n) {
  double v = sqrt(squares / n);
  double b = bound == 0 ? 0 : fmin(sqrt(bound / n), v == 0 ? INFINITY : bound / n / v);
  return bounded_rounded(v, b);
}

static struct bounded reduced(enum ir_op op, const struct sums *s) {
  double n = (double)s->n;
  double bound = s->bound + n * 0x1p-53 * s->abs;
  return op == IR_SUM || op == IR_DOT ? bounded_rounded(s->sum, bound)
         : op == IR_MEAN              ? bounded_rounded(s->sum / n, bound / n)
         : op == IR_MAXOF             ? (struct bounded){s->max, s->max_bound}
                                      : norm_of(s->sum, bound, op == IR_NORM ? 1 : n);
}

void interp_reduce(struct interp *p, uint32_t i) {
  const struct ir_ins *ins = &p->ir->ins.v[i];
  uint32_t second = ins->op == IR_DOT ? 1 : 0;
  enum cls domain =
      cls_join(ir_at(p->ir, ins->arg[0])->cls, ir_at(p->ir, ins->arg[second])->cls);
  uint64_t count = cls_count(domain, &p->ir->shape),
           n_out = cls_count(ins->to, &p->ir->shape);
  struct sums *sums = ARENA_ARRAY(p->scratch, struct sums, n_out);
  for (uint64_t k = 0; k < n_out; k++) {
    sums[k].max = -INFINITY;
  }
  interp_need_operands(p, i);
  for (uint64_t begin = 0; begin < count; begin += INTERP_BLOCK) {
    uint32_t n = interp_block_size(count, begin);
    interp_run_block(p, domain, begin, n);
    for (uint32_t k = 0; k < n; k++) {
      accumulate(ins->op, &sums[p->at[ins->to][k]], p->lane[ins->arg[0].i][k],
                 p->lane[ins->arg[second].i][k]);
    }
  }
  p->result[i] = ARENA_ARRAY(p->scratch, struct bounded, n_out);
  for (uint64_t k = 0; k < n_out; k++) {
    p->result[i][k] = reduced(ins->op, &sums[k]);
  }
}
