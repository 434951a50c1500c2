#include "support/ir_random.h"

#include "random.h"

struct gen {
  struct arena *a;
  struct ir *ir;
  uint64_t rng;
};

static uint32_t below(struct gen *g, uint32_t n) {
  return (uint32_t)random_below(&g->rng, n);
}

static enum storage random_storage(struct gen *g) {
  static const enum storage s[] = {ST_F32, ST_F32, ST_BF16, ST_F16};
  return s[below(g, 4)];
}

static enum cls random_class(struct gen *g) {
  bool matrix = g->ir->shape.rank >= 2;
  static const enum cls any[] = {CLS_ELEM,   CLS_ELEM, CLS_ELEM, CLS_PARAM,
                                 CLS_MATRIX, CLS_ROW,  CLS_COL};
  return any[below(g, matrix ? 7 : 5)];
}

static struct ir_iteration random_iteration(struct gen *g) {
  struct ir_step *step = ARENA_ARRAY(g->a, struct ir_step, 2);
  step[0] = (struct ir_step){1.5, -0.5, 0};
  step[1] = (struct ir_step){2, -1.5, 0.5};
  return (struct ir_iteration){.name = STR("ns"),
                               .norm = below(g, 2) == 0 ? NORM_AOL : NORM_FROBENIUS,
                               .safety = 1,
                               .eps = 1e-7,
                               .compute = below(g, 2) == 0 ? ST_BF16 : ST_F32,
                               .step = step,
                               .n_steps = 2};
}

static void make_header(struct gen *g) {
  static const struct shape shape[] = {{1, {5}},    {2, {3, 4}}, {3, {2, 3, 2}},
                                       {2, {4, 2}}, {0, {0}},    {2, {1, 1}}};
  static const char *const name[] = {"m", "v", "r", "k"};
  struct ir *ir = g->ir;
  ir->name = STR("random");
  ir->shape = shape[below(g, 6)];
  ir->dtype = random_storage(g);
  ir->grad = random_storage(g);
  ir->n_hypers = 2;
  ir->hyper = ARENA_ARRAY(g->a, struct str, 2);
  ir->hyper[0] = STR("lr");
  ir->hyper[1] = STR("rest.wd");
  ir->n_states = 4;
  ir->state = ARENA_ARRAY(g->a, struct ir_state, 4);
  for (uint32_t i = 0; i < 4; i++) {
    ir->state[i] = (struct ir_state){
        .name = str_of(name[i]), .storage = random_storage(g), .cls = random_class(g)};
  }
  ir->state[3] = (struct ir_state){.name = STR("k"), .cls = CLS_PARAM, .is_host = true};
  ir->n_inputs = 2;
  ir->input = ARENA_ARRAY(g->a, struct rule_input, 2);
  ir->input[0] = (struct rule_input){STR("h"), false, random_class(g), true};
  ir->input[1] = (struct rule_input){STR("s"), true, CLS_GROUP, true};
  VEC_PUSH(g->a, ir->iteration, random_iteration(g));
}

static double random_number(struct gen *g, enum ir_type type) {
  static const double special[] = {0, -0.0, 1, -1, 0.5, INFINITY, NAN, 2};
  double x = below(g, 3) > 0 ? special[below(g, 8)] : random_normal(&g->rng);
  return ir_is_bool(type) ? (double)below(g, 2) : type == IRT_F32 ? (double)(float)x : x;
}

static struct str random_name(struct gen *g) {
  static const char *const name[] = {"", "u", "m", "o"};
  return str_of(name[below(g, 4)]);
}

static struct ir_ref random_ref(struct gen *g) {
  uint32_t n = g->ir->ins.n, near = n < 12 ? n : 12;
  return (struct ir_ref){below(g, 3) > 0 ? n - 1 - below(g, near) : below(g, n)};
}

// Adds an instruction of this operation if some random choice of operands fits.
static bool try_op(struct gen *g, enum ir_op op) {
  const struct ir_op_info *info = ir_op_info(op);
  for (uint32_t attempt = 0; attempt < 20; attempt++) {
    struct ir_ins ins = {.op = op,
                         .type =
                             op == IR_CONST ? (enum ir_type)(1 + below(g, 4)) : IRT_NONE,
                         .to = random_class(g),
                         .storage = op == IR_ROUND ? random_storage(g) : ST_F32,
                         .index = below(g, 4),
                         .arg = {IR_NONE, IR_NONE, IR_NONE},
                         .name = random_name(g)};
    ins.num = op == IR_CONST ? random_number(g, ins.type) : 0;
    bool ok = info->n_args == 0 || g->ir->ins.n > 0;
    for (uint32_t k = 0; ok && k < info->n_args; k++) {
      ins.arg[k] = random_ref(g);
    }
    struct ir_ins derived = ins;
    if (!ok || ir_derive(g->ir, &derived) != NULL ||
        (op == IR_ORTHO && !ir_fits_storage(g->ir, ins.arg[0], derived.storage))) {
      continue;
    }
    (void)ir_add(g->ir, ins);
    return true;
  }
  return false;
}

// The last value that may be stored in class `into`, rounded to `storage`.
static struct ir_ref storable(struct gen *g, enum ir_type type, enum cls into,
                              enum storage storage) {
  uint32_t i = g->ir->ins.n;
  for (uint32_t tries = 0; tries < 40 && i == g->ir->ins.n; tries++) {
    struct ir_ref r = random_ref(g);
    const struct ir_ins *x = ir_at(g->ir, r);
    i = x->type == type && cls_fits(x->cls, into) ? r.i : i;
  }
  if (i == g->ir->ins.n) {
    return ir_add(g->ir, (struct ir_ins){.op = IR_CONST, .type = type});
  }
  bool round = storage != ST_F32 && type == IRT_F32;
  struct ir_ins ins = {.op = IR_ROUND, .storage = storage, .arg = {{i}}};
  return round ? ir_add(g->ir, ins) : (struct ir_ref){i};
}

static void store_state(struct gen *g, uint32_t index) {
  const struct ir_state *s = &g->ir->state[index];
  struct ir_ins ins = {.op = s->is_host ? IR_SET_HOST : IR_SET_STATE, .index = index};
  ins.arg[0] = storable(g, s->is_host ? IRT_F64 : IRT_F32, s->cls, s->storage);
  (void)ir_add(g->ir, ins);
}

struct ir *ir_random(struct arena *a, uint64_t seed, uint32_t n) {
  struct gen g = {.a = a, .ir = ARENA_NEW(a, struct ir), .rng = seed};
  bool stored[5] = {0};
  g.ir->arena = a;
  make_header(&g);
  (void)try_op(&g, IR_GRAD);
  for (uint32_t i = 0; i < n; i++) {
    bool choose = below(&g, 8) ==
                  0; // `where` has many forms that matter, and seldom fits by chance
    enum ir_op op = choose ? IR_WHERE : (enum ir_op)below(&g, N_IR_OPS);
    if (ir_op_info(op)->kind != IRK_STORE) {
      (void)try_op(&g, op);
      continue;
    }
    uint32_t which = below(&g, 5);
    if (!stored[which] && which < 4) {
      store_state(&g, which);
    } else if (!stored[which]) {
      struct ir_ref v = storable(&g, IRT_F32, CLS_ELEM, g.ir->dtype);
      (void)ir_add(g.ir, (struct ir_ins){.op = IR_SET_PARAM, .arg = {v}});
    }
    stored[which] = true;
  }
  if (!stored[4]) {
    struct ir_ref v = storable(&g, IRT_F32, CLS_ELEM, g.ir->dtype);
    (void)ir_add(g.ir, (struct ir_ins){.op = IR_SET_PARAM, .arg = {v}});
  }
  return g.ir;
}
