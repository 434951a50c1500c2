// The interpreter of host scalars and the check that makes it safe to run.
#include "core/hostcode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double rt_pow(double x, double y) {
  double magnitude = fabs(y);
  if (!(magnitude < 0x1p53) || magnitude != floor(magnitude)) {
    return pow(x, y);
  }
  double power = 1;
  for (uint64_t n = (uint64_t)magnitude; n; n >>= 1) {
    if (n & 1) {
      power *= x;
    }
    x *= x;
  }
  return y < 0 ? 1 / power : power;
}

double rt_min(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return a + b;
  }
  if (a == b) {
    return signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

double rt_max(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return a + b;
  }
  if (a == b) {
    return signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

double rt_sign(double x) {
  return isnan(x) ? x : (double)((x > 0) - (x < 0));
}

// Instructions whose value depends on registers alone.
static double eval_pure(enum rt_host_op op, double a, double b, double c) {
  switch (op) {
  case RT_HOST_ADD: return a + b;
  case RT_HOST_SUB: return a - b;
  case RT_HOST_MUL: return a * b;
  case RT_HOST_DIV: return a / b;
  case RT_HOST_NEG: return -a;
  case RT_HOST_ABS: return fabs(a);
  case RT_HOST_SQRT: return sqrt(a);
  case RT_HOST_RSQRT: return 1 / sqrt(a);
  case RT_HOST_SIGN: return rt_sign(a);
  case RT_HOST_MIN: return rt_min(a, b);
  case RT_HOST_MAX: return rt_max(a, b);
  case RT_HOST_FMA: return fma(a, b, c);
  case RT_HOST_WHERE: return a != 0 ? b : c;
  case RT_HOST_EQ: return a == b;
  case RT_HOST_NE: return a != b;
  case RT_HOST_LT: return a < b;
  case RT_HOST_LE: return a <= b;
  case RT_HOST_GT: return a > b;
  case RT_HOST_GE: return a >= b;
  case RT_HOST_AND: return a != 0 && b != 0;
  case RT_HOST_OR: return a != 0 || b != 0;
  case RT_HOST_NOT: return a == 0;
  case RT_HOST_POW: return rt_pow(a, b);
  case RT_HOST_EXP: return exp(a);
  case RT_HOST_LOG: return log(a);
  case RT_HOST_COS: return cos(a);
  case RT_HOST_FLOOR: return floor(a);
  case RT_HOST_OUT:
  case RT_HOST_SET: return a;
  case RT_HOST_CONST:
  case RT_HOST_HYPER:
  case RT_HOST_STEP:
  case RT_HOST_STATE:
  case RT_HOST_INPUT:
  case RT_N_HOST_OPS: break;
  }
  return 0;
}

static uint32_t n_args(uint8_t op) {
  static const uint8_t args[] = {
#define HOST_OP(id, n) n,
#include "core/host.def"
#undef HOST_OP
  };
  return args[op];
}

static double eval(const struct rt_host_ins *i, const struct rt_host_env *env,
                   const double *reg) {
  double arg[3] = {0};
  for (uint32_t k = 0; k < n_args(i->op); k++) {
    arg[k] = reg[i->arg[k]];
  }
  if (i->op == RT_HOST_CONST) {
    return i->num;
  }
  if (i->op == RT_HOST_HYPER) {
    return env->hyper[i->index];
  }
  if (i->op == RT_HOST_STEP) {
    return env->step;
  }
  if (i->op == RT_HOST_STATE) {
    return env->state[i->index];
  }
  if (i->op == RT_HOST_INPUT) {
    return env->input[i->index];
  }
  if (i->op == RT_HOST_OUT) {
    env->out[i->index] = (float)arg[0];
  }
  if (i->op == RT_HOST_SET) {
    env->next[i->index] = arg[0];
  }
  return eval_pure((enum rt_host_op)i->op, arg[0], arg[1], arg[2]);
}

double rt_host_eval(const struct rt_host_ins *ins, uint32_t n,
                    const struct rt_host_env *env, double *reg) {
  double value = 0;
  for (uint32_t k = 0; k < n; k++) {
    value = eval(&ins[k], env, reg);
    if (ins[k].op != RT_HOST_OUT && ins[k].op != RT_HOST_SET) {
      reg[ins[k].out] = value;
    }
  }
  return value;
}

static const char *op_name(uint8_t op) {
  static const char *const names[] = {
#define HOST_OP(id, n) #id,
#include "core/host.def"
#undef HOST_OP
  };
  return names[op];
}

// How many values of the kind that `index` of this instruction counts there are; UINT64_MAX where it has none.
static uint64_t index_bound(uint8_t op, const struct rt_host_bounds *b) {
  switch (op) {
  case RT_HOST_HYPER: return b->n_hypers;
  case RT_HOST_STATE:
  case RT_HOST_SET: return b->n_states;
  case RT_HOST_INPUT: return b->n_inputs;
  case RT_HOST_OUT: return b->n_outs;
  default: return UINT64_MAX;
  }
}

static const char *fault_of(const struct rt_host_ins *i, const struct rt_host_bounds *b,
                            const bool *defined) {
  if (i->index >= index_bound(i->op, b)) {
    return "index out of range";
  }
  if (i->op == RT_HOST_STEP && !b->has_step) {
    return "no step here";
  }
  for (uint32_t k = 0; k < n_args(i->op); k++) {
    if (i->arg[k] >= b->n_regs || !defined[i->arg[k]]) {
      return "argument is no register written before";
    }
  }
  if (i->op != RT_HOST_OUT && i->op != RT_HOST_SET && i->out >= b->n_regs) {
    return "result register out of range";
  }
  return NULL;
}

bool rt_host_check(const struct rt_host_ins *ins, uint32_t n,
                   const struct rt_host_bounds *bounds, bool *defined, char *why,
                   size_t n_why) {
  memset(defined, 0, bounds->n_regs * sizeof *defined);
  for (uint32_t k = 0; k < n; k++) {
    if (ins[k].op >= RT_N_HOST_OPS) {
      snprintf(why, n_why, "instruction %u: unknown operation %u", k, ins[k].op);
      return false;
    }
    const char *fault = fault_of(&ins[k], bounds, defined);
    if (fault) {
      snprintf(why, n_why, "instruction %u (%s): %s", k, op_name(ins[k].op), fault);
      return false;
    }
    if (ins[k].op != RT_HOST_OUT && ins[k].op != RT_HOST_SET) {
      defined[ins[k].out] = true;
    }
  }
  return true;
}
