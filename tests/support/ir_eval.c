#include "support/ir_eval.h"

#include "ir/interp.h"
#include "ir/value.h"
#include "random.h"

#include <string.h>

// ---- tensors

static double to_storage(enum storage s, double x) {
  struct float_format f = storage_format(s);
  if (isnan(x) || s == ST_Q8 ||
      s == ST_Q8U) { // q8 hangs on its block: stood in for by f32
    return x;
  }
  double ulp = isinf(x) ? 1 : 2 * format_half_ulp(f, x);
  double r = rint(x / ulp) * ulp; // rint: to nearest, ties to even
  double over = s == ST_F8E4M3 ? f.max : (double)INFINITY;
  return copysign(fabs(r) > f.max ? over : r, x);
}

static double *random_tensor(struct arena *a, uint64_t *rng, uint64_t n, enum storage s) {
  static const double special[] = {0, -0.0, 1, -1, INFINITY, NAN};
  double *x = ARENA_ARRAY(a, double, n + 1);
  for (uint64_t i = 0; i < n; i++) {
    x[i] = random_below(rng, 12) == 0 ? special[random_below(rng, 6)]
                                      : to_storage(s, random_normal(rng));
  }
  return x;
}

struct ir_tensors ir_tensors_random(struct arena *a, const struct ir *ir, uint64_t seed) {
  uint64_t n = shape_numel(&ir->shape);
  struct ir_tensors t = {.step = (double)random_below(&seed, 3) + 1, .clip = 0.5};
  t.hyper = random_tensor(a, &seed, ir->n_hypers, ST_F32);
  t.param = random_tensor(a, &seed, n, ir->dtype);
  t.grad = random_tensor(a, &seed, n, ir->grad);
  t.state = ARENA_ARRAY(a, double *, ir->n_states);
  t.input = ARENA_ARRAY(a, double *, ir->n_inputs);
  for (uint32_t i = 0; i < ir->n_states; i++) {
    uint64_t count = cls_count(ir->state[i].cls, &ir->shape);
    t.state[i] = random_tensor(a, &seed, count, ir->state[i].storage);
  }
  for (uint32_t i = 0; i < ir->n_inputs; i++) {
    enum cls c = ir->input[i].is_scalar ? CLS_GROUP : ir->input[i].cls;
    t.input[i] = random_tensor(a, &seed, cls_count(c, &ir->shape), ST_F32);
  }
  return t;
}

static double *copy(struct arena *a, const double *x, uint64_t n) {
  double *y = ARENA_ARRAY(a, double, n + 1);
  memcpy(y, x, n * sizeof *x);
  return y;
}

struct ir_tensors ir_tensors_copy(struct arena *a, const struct ir *ir,
                                  const struct ir_tensors *t) {
  struct ir_tensors c = *t;
  c.param = copy(a, t->param, shape_numel(&ir->shape));
  c.state = ARENA_ARRAY(a, double *, ir->n_states);
  for (uint32_t i = 0; i < ir->n_states; i++) {
    c.state[i] = copy(a, t->state[i], cls_count(ir->state[i].cls, &ir->shape));
  }
  return c;
}

static bool same_values(const double *x, const double *y, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    bool nan = isnan(x[i]) && isnan(y[i]);
    if (!nan && !same_bits(x[i], y[i])) {
      return false;
    }
  }
  return true;
}

bool ir_tensors_same(const struct ir *ir, const struct ir_tensors *a,
                     const struct ir_tensors *b) {
  bool same = same_values(a->param, b->param, shape_numel(&ir->shape));
  for (uint32_t i = 0; i < ir->n_states; i++) {
    same = same &&
           same_values(a->state[i], b->state[i], cls_count(ir->state[i].cls, &ir->shape));
  }
  return same;
}

// ---- evaluation

struct eval {
  struct arena *a;
  const struct ir *ir;
  struct ir_tensors *t;
  double **value; // by instruction; NULL: not there
};

// Index of value `k` of class `from`, in class `to`.
static uint64_t index_in(const struct shape *s, enum cls from, enum cls to, uint64_t k) {
  if (to <= CLS_PARAM || s->rank < 2) {
    return to == CLS_ELEM ? k : 0;
  }
  uint64_t rows = shape_rows(s), cols = shape_cols(s);
  uint64_t b = from == CLS_ELEM  ? k / (rows * cols)
               : from == CLS_ROW ? k / rows
               : from == CLS_COL ? k / cols
                                 : k;
  return to == CLS_MATRIX                    ? b
         : to == CLS_ELEM                    ? k
         : to == CLS_ROW && from == CLS_ELEM ? k / cols
         : to == CLS_COL && from == CLS_ELEM ? b * cols + k % cols
                                             : k;
}

static double arg_value(const struct eval *e, const struct ir_ins *ins, uint32_t a,
                        enum cls cls, uint64_t k) {
  enum cls to = ir_at(e->ir, ins->arg[a])->cls;
  return e->value[ins->arg[a].i][index_in(&e->ir->shape, cls, to, k)];
}

static double *leaf_tensor(const struct eval *e, const struct ir_ins *ins) {
  return ins->op == IR_PARAM                               ? e->t->param
         : ins->op == IR_GRAD                              ? e->t->grad
         : ins->op == IR_STATE || ins->op == IR_HOST_STATE ? e->t->state[ins->index]
         : ins->op == IR_INPUT || ins->op == IR_HOST_INPUT ? e->t->input[ins->index]
         : ins->op == IR_HYPER                             ? &e->t->hyper[ins->index]
         : ins->op == IR_STEP                              ? &e->t->step
                                                           : &e->t->clip;
}

static void eval_reduce(const struct eval *e, const struct ir_ins *ins, double *out) {
  uint32_t second = ins->op == IR_DOT ? 1 : 0;
  enum cls from =
      cls_join(ir_at(e->ir, ins->arg[0])->cls, ir_at(e->ir, ins->arg[second])->cls);
  uint64_t n = cls_count(from, &e->ir->shape), n_out = cls_count(ins->cls, &e->ir->shape);
  double *count = ARENA_ARRAY(e->a, double, n_out);
  for (uint64_t k = 0; k < n; k++) {
    uint64_t to = index_in(&e->ir->shape, from, ins->cls, k);
    double x = arg_value(e, ins, 0, from, k), y = arg_value(e, ins, second, from, k);
    bool square = ins->op == IR_NORM || ins->op == IR_RMS || ins->op == IR_DOT;
    double term = square ? x * y : x;
    bool first = count[to]++ == 0;
    out[to] = ins->op != IR_MAXOF ? out[to] + term
              : first             ? x
                                  : value_eval(IR_MAX, true, (double[]){out[to], x, 0});
  }
  for (uint64_t k = 0; k < n_out; k++) {
    bool mean = ins->op == IR_MEAN || ins->op == IR_RMS;
    out[k] = mean ? out[k] / count[k] : out[k];
    out[k] = ins->op == IR_NORM || ins->op == IR_RMS ? sqrt(out[k]) : out[k];
    out[k] = (double)(float)out[k];
  }
}

// A stand-in that mixes all elements.
static void eval_ortho(const struct eval *e, const struct ir_ins *ins, double *out) {
  uint64_t n = shape_numel(&e->ir->shape);
  const double *x = e->value[ins->arg[0].i];
  for (uint64_t k = 0; k < n; k++) {
    out[k] = to_storage(ins->storage, 0.5 * x[n - 1 - k] + 0.25 * x[(k + 1) % n]);
  }
}

static double eval_value(const struct eval *e, const struct ir_ins *ins, uint64_t k) {
  double x[3] = {0};
  for (uint32_t a = 0; a < ir_op_info(ins->op)->n_args; a++) {
    x[a] = arg_value(e, ins, a, ins->cls, k);
  }
  return ins->op == IR_TO_F32    ? (double)(float)x[0]
         : ins->op == IR_TO_BOOL ? x[0]
         : ins->op == IR_ROUND   ? to_storage(ins->storage, x[0])
                                 : value_eval(ins->op, !ir_is_host(ins->type), x);
}

static void eval_ins(struct eval *e, uint32_t i) {
  const struct ir_ins *ins = &e->ir->ins.v[i];
  enum ir_kind kind = ir_op_info(ins->op)->kind;
  uint64_t n = cls_count(ins->cls, &e->ir->shape);
  double *out = e->value[i] = ARENA_ARRAY(e->a, double, n + 1);
  if (kind == IRK_REDUCE) {
    eval_reduce(e, ins, out);
  } else if (kind == IRK_MATRIX) {
    eval_ortho(e, ins, out);
  } else {
    for (uint64_t k = 0; k < n; k++) {
      out[k] = ins->op == IR_CONST ? ins->num
               : kind == IRK_LEAF  ? leaf_tensor(e, ins)[k]
               : kind == IRK_STORE ? arg_value(e, ins, 0, ins->cls, k)
                                   : eval_value(e, ins, k);
    }
  }
}

static void commit(struct eval *e, uint32_t i) {
  const struct ir_ins *ins = &e->ir->ins.v[i];
  if (ir_op_info(ins->op)->kind == IRK_STORE) {
    double *to = ins->op == IR_SET_PARAM ? e->t->param : e->t->state[ins->index];
    memcpy(to, e->value[i], cls_count(ins->cls, &e->ir->shape) * sizeof *to);
  }
}

static struct eval start(struct arena *a, const struct ir *ir, struct ir_tensors *t) {
  return (struct eval){a, ir, t, ARENA_ARRAY(a, double *, ir->ins.n)};
}

void ir_eval(struct arena *a, const struct ir *ir, struct ir_tensors *t) {
  struct eval e = start(a, ir, t);
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    eval_ins(&e, i);
  }
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    commit(&e, i);
  }
}

// ---- phases

static const char *missing(const struct eval *e, uint32_t i) {
  for (uint32_t k = 0; k < ir_op_info(e->ir->ins.v[i].op)->n_args; k++) {
    if (e->value[e->ir->ins.v[i].arg[k].i] == NULL) {
      return "an operand is not there";
    }
  }
  return NULL;
}

struct run {
  const struct phases *p;
  double **scalar, **temp; // by instruction, by temp
};

// A load that is not needed may give anything.
static void spoil_unneeded(struct eval *e, const struct run *r, const struct phase *ph,
                           uint32_t i) {
  for (uint32_t k = 0; k < ph->n_guards; k++) {
    const struct phase_guard *g = &ph->guard[k];
    if (g->load.i == i && (r->scalar[g->cond.i][0] != 0) != g->taken) {
      uint64_t n = cls_count(e->ir->ins.v[i].cls, &e->ir->shape);
      for (uint64_t v = 0; v < n; v++) {
        e->value[i][v] = 0x1.8p10;
      }
    }
  }
}

static struct str run_phase(struct eval *e, const struct run *r, uint32_t i) {
  const struct phase *ph = &r->p->phase[i];
  for (uint32_t k = 0; k < ph->n_scalars; k++) {
    uint32_t s = ph->scalar[k].i;
    e->value[s] = e->ir->ins.v[s].op == IR_CLIP ? &e->t->clip : r->scalar[s];
  }
  for (uint32_t k = 0; k < ph->n_temp_in; k++) {
    const struct phase_temp *t = &r->p->temp[ph->temp_in[k]];
    const struct ir_ins *home = ir_is_none(t->home) ? NULL : ir_at(e->ir, t->home);
    e->value[t->value.i] = home == NULL               ? r->temp[ph->temp_in[k]]
                           : home->op == IR_SET_PARAM ? e->t->param
                                                      : e->t->state[home->index];
  }
  for (uint32_t k = 0; k < ph->n_ins; k++) {
    const char *wrong = missing(e, ph->ins[k].i);
    if (wrong != NULL) {
      return str_fmt(e->a, "phase %u, instruction %u: %s", i, ph->ins[k].i, wrong);
    }
    eval_ins(e, ph->ins[k].i);
    spoil_unneeded(e, r, ph, ph->ins[k].i);
  }
  for (uint32_t k = 0; k < ph->n_ins; k++) {
    commit(e, ph->ins[k].i);
  }
  return (struct str){0};
}

struct str ir_eval_phases(struct arena *a, const struct phases *p, struct ir_tensors *t) {
  struct run r = {p, ARENA_ARRAY(a, double *, p->ir->ins.n),
                  ARENA_ARRAY(a, double *, p->n_temps)};
  for (uint32_t i = 0; i < p->n_phases; i++) {
    const struct phase *ph = &p->phase[i];
    struct eval e = start(a, p->ir, t);
    struct str wrong = run_phase(&e, &r, i);
    if (wrong.n > 0) {
      return wrong;
    }
    for (uint32_t k = 0; ph->kind == PHASE_HOST && k < p->ir->ins.n; k++) {
      r.scalar[k] = e.value[k];
    }
    for (uint32_t k = 0; k < ph->n_temp_out; k++) {
      const struct phase_temp *temp = &p->temp[ph->temp_out[k]];
      uint64_t n = cls_count(temp->cls, &p->ir->shape);
      double *kept = r.temp[ph->temp_out[k]] = ARENA_ARRAY(a, double, n + 1);
      if (e.value[temp->value.i] == NULL) {
        return str_fmt(a, "phase %u does not compute its temp", i);
      }
      for (uint64_t v = 0; v < n; v++) {
        kept[v] = to_storage(temp->storage, e.value[temp->value.i][v]);
      }
    }
  }
  return (struct str){0};
}
