// IR and typed expressions on the host to the runtime's register code. One register per instruction.
#include "emit/cpu_host.h"

// 1 + the runtime's operation; 0: none. Device-only operations have none.
static uint8_t op_of_ir(enum ir_op op) {
  static const uint8_t table[N_IR_OPS] = {
#define SAME(id) [IR_##id] = RT_HOST_##id + 1
      SAME(CONST),
      SAME(HYPER),
      SAME(STEP),
      SAME(ADD),
      SAME(SUB),
      SAME(MUL),
      SAME(DIV),
      SAME(NEG),
      SAME(ABS),
      SAME(SQRT),
      SAME(RSQRT),
      SAME(SIGN),
      SAME(MIN),
      SAME(MAX),
      SAME(FMA),
      SAME(WHERE),
      SAME(EQ),
      SAME(NE),
      SAME(LT),
      SAME(LE),
      SAME(GT),
      SAME(GE),
      SAME(AND),
      SAME(OR),
      SAME(NOT),
      SAME(POW),
      SAME(EXP),
      SAME(LOG),
      SAME(COS),
      SAME(FLOOR),
#undef SAME
      [IR_HOST_STATE] = RT_HOST_STATE + 1,
      [IR_HOST_INPUT] = RT_HOST_INPUT + 1,
      [IR_TO_F32] = RT_HOST_OUT + 1,
      [IR_TO_BOOL] = RT_HOST_OUT + 1,
      [IR_SET_HOST] = RT_HOST_SET + 1,
  };
  return table[op];
}

static uint32_t push(struct arena *a, struct host_code *c, struct rt_host_ins ins) {
  ins.out = c->n_regs;
  VEC_PUSH(a, c->ins, ins);
  return c->n_regs++;
}

uint32_t cpu_host_slot(const struct ir *ir, uint32_t state) {
  if (!ir->state[state].is_host) {
    return UINT32_MAX;
  }
  uint32_t slot = 0;
  for (uint32_t i = 0; i < state; i++) {
    slot += ir->state[i].is_host;
  }
  return slot;
}

static bool runs_on_host(const struct ir_ins *ins) {
  return ir_is_host(ins->type) || ins->op == IR_TO_F32 || ins->op == IR_TO_BOOL ||
         ins->op == IR_SET_HOST;
}

struct host_code cpu_host_rule(struct arena *a, const struct ir *ir, uint32_t *out_of,
                               uint32_t *n_scalars, struct str *ice) {
  struct host_code c = {0};
  uint32_t *reg = ARENA_ARRAY(a, uint32_t, ir->ins.n);
  *n_scalars = 0;
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    const struct ir_ins *ins = &ir->ins.v[i];
    if (!runs_on_host(ins)) {
      continue;
    }
    uint8_t op = op_of_ir(ins->op);
    if (op == 0) {
      *ice = str_fmt(a, "no host code for `%s`", ir_op_info(ins->op)->text);
      return c;
    }
    struct rt_host_ins host = {
        .op = (uint8_t)(op - 1), .index = ins->index, .num = ins->num};
    for (uint32_t k = 0; k < ir_op_info(ins->op)->n_args; k++) {
      host.arg[k] = reg[ins->arg[k].i];
    }
    if (ins->op == IR_TO_F32 || ins->op == IR_TO_BOOL) {
      host.index = (*n_scalars)++;
      out_of[i] = *n_scalars;
    } else if (ins->op == IR_HOST_STATE || ins->op == IR_SET_HOST) {
      host.index = cpu_host_slot(ir, ins->index);
    }
    reg[i] = push(a, &c, host);
  }
  return c;
}

// ---- expressions over hypers

struct expr_writer {
  struct arena *arena;
  struct host_code code;
  struct str *ice;
};

static uint32_t put(struct expr_writer *w, uint8_t op, uint32_t x, uint32_t y,
                    uint32_t z) {
  return push(w->arena, &w->code, (struct rt_host_ins){.op = op, .arg = {x, y, z}});
}

static uint32_t put_const(struct expr_writer *w, double num) {
  return push(w->arena, &w->code, (struct rt_host_ins){.op = RT_HOST_CONST, .num = num});
}

// 1 + the runtime's operation of a function that has one of its own.
static uint8_t op_of_fn(enum fn fn) {
  static const uint8_t table[N_FNS] = {
#define SAME(id) [FN_##id] = RT_HOST_##id + 1
      SAME(ADD),   SAME(SUB),  SAME(MUL), SAME(DIV), SAME(NEG),   SAME(ABS),   SAME(SQRT),
      SAME(RSQRT), SAME(SIGN), SAME(MIN), SAME(MAX), SAME(WHERE), SAME(FMA),   SAME(EQ),
      SAME(NE),    SAME(LT),   SAME(LE),  SAME(GT),  SAME(GE),    SAME(AND),   SAME(OR),
      SAME(NOT),   SAME(POW),  SAME(EXP), SAME(LOG), SAME(COS),   SAME(FLOOR),
#undef SAME
  };
  return table[fn];
}

// clamp, ema and lerp are expanded as lowering does it (ir.h).
static uint32_t put_call(struct expr_writer *w, enum fn fn, const uint32_t x[3]) {
  if (fn == FN_CLAMP) {
    return put(w, RT_HOST_MIN, put(w, RT_HOST_MAX, x[0], x[1], 0), x[2], 0);
  }
  if (fn == FN_EMA) {
    uint32_t rest = put(w, RT_HOST_SUB, put_const(w, 1), x[2], 0);
    uint32_t old = put(w, RT_HOST_MUL, x[2], x[0], 0);
    return put(w, RT_HOST_ADD, old, put(w, RT_HOST_MUL, rest, x[1], 0), 0);
  }
  if (fn == FN_LERP) {
    uint32_t delta = put(w, RT_HOST_SUB, x[1], x[0], 0);
    return put(w, RT_HOST_ADD, x[0], put(w, RT_HOST_MUL, x[2], delta, 0), 0);
  }
  uint8_t op = op_of_fn(fn);
  if (op == 0) {
    *w->ice = str_fmt(w->arena, "no host code for `%s`", fn_name(fn));
    return put_const(w, 0);
  }
  return put(w, (uint8_t)(op - 1), x[0], x[1], x[2]);
}

static uint32_t put_expr(struct expr_writer *w, const struct texpr *e) {
  if (e->kind == TEX_CONST) {
    return put_const(w, e->num);
  }
  if (e->kind == TEX_HYPER) {
    return push(w->arena, &w->code,
                (struct rt_host_ins){.op = RT_HOST_HYPER, .index = e->index});
  }
  if (e->kind != TEX_CALL) {
    *w->ice = STR("an expression over hypers reads something else");
    return put_const(w, 0);
  }
  uint32_t arg[3] = {0};
  for (uint32_t i = 0; i < e->n_args; i++) {
    arg[i] = put_expr(w, e->arg[i]);
  }
  return put_call(w, e->fn, arg);
}

struct host_code cpu_host_expr(struct arena *a, const struct texpr *e, struct str *ice) {
  struct expr_writer w = {.arena = a, .ice = ice};
  put_expr(&w, e);
  return w.code;
}
