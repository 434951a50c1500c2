// Values known on the host: element functions in double, over constants and hypers (DESIGN section 4).
#include "front/sema_type.h"

#include <math.h>

static const struct {
  const char *name;
  uint8_t min, max;
  enum fn_group group;
} functions[N_FNS] = {
#define FN(id, text, lo, hi, group) [FN_##id] = {text, lo, hi, FNG_##group},
#include "front/functions.def"
#undef FN
};

const char *fn_name(enum fn f) {
  return functions[f].name;
}

enum fn_group fn_group_of(enum fn f) {
  return functions[f].group;
}

void fn_arity(enum fn f, uint32_t *min, uint32_t *max) {
  *min = functions[f].min;
  *max = functions[f].max;
}

// NaN passes, -0 < +0: LLVM's minimum and maximum (DESIGN section 4).
static double min2(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return NAN;
  }
  return a < b || (a == b && signbit(a)) ? a : b;
}

static double max2(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return NAN;
  }
  return a > b || (a == b && signbit(b)) ? a : b;
}

static double sign1(double x) {
  return isnan(x) ? x : (double)((x > 0) - (x < 0));
}

// An integer exponent is repeated squaring, the same on every host.
static double pow2(double x, double y) {
  if (y != floor(y) || fabs(y) > 9007199254740992.0) {
    return pow(x, y);
  }
  double r = 1.0;
  for (uint64_t n = (uint64_t)fabs(y); n != 0; n >>= 1) {
    if (n & 1) {
      r *= x;
    }
    x *= x;
  }
  return y < 0 ? 1.0 / r : r;
}

double fn_eval(enum fn f, const double *x) {
  switch (f) {
  case FN_ADD: return x[0] + x[1];
  case FN_SUB: return x[0] - x[1];
  case FN_MUL: return x[0] * x[1];
  case FN_DIV: return x[0] / x[1];
  case FN_NEG: return -x[0];
  case FN_ABS: return fabs(x[0]);
  case FN_SQRT: return sqrt(x[0]);
  case FN_RSQRT: return 1.0 / sqrt(x[0]);
  case FN_SIGN: return sign1(x[0]);
  case FN_MIN: return min2(x[0], x[1]);
  case FN_MAX: return max2(x[0], x[1]);
  case FN_CLAMP: return min2(max2(x[0], x[1]), x[2]);
  case FN_WHERE: return x[0] != 0 ? x[1] : x[2];
  case FN_EMA: return x[2] * x[0] + (1.0 - x[2]) * x[1];
  case FN_LERP: return x[0] + x[2] * (x[1] - x[0]);
  case FN_FMA: return fma(x[0], x[1], x[2]);
  case FN_EQ: return x[0] == x[1];
  case FN_NE: return x[0] != x[1];
  case FN_LT: return x[0] < x[1];
  case FN_LE: return x[0] <= x[1];
  case FN_GT: return x[0] > x[1];
  case FN_GE: return x[0] >= x[1];
  case FN_AND: return x[0] != 0 && x[1] != 0;
  case FN_OR: return x[0] != 0 || x[1] != 0;
  case FN_NOT: return x[0] == 0;
  case FN_POW: return pow2(x[0], x[1]);
  case FN_EXP: return exp(x[0]);
  case FN_LOG: return log(x[0]);
  case FN_COS: return cos(x[0]);
  case FN_FLOOR: return floor(x[0]);
  case FN_SUM:
  case FN_MEAN:
  case FN_MAXOF:
  case FN_NORM:
  case FN_RMS:
  case FN_DOT:
  case FN_ORTHOGONALIZE:
  case N_FNS: break; // of tensors: no host value
  }
  return NAN;
}

double texpr_host_value(const struct texpr *t, const double *hyper) {
  switch (t->kind) {
  case TEX_CONST: return t->num;
  case TEX_HYPER: return hyper[t->index];
  case TEX_CALL: {
    double x[3] = {0};
    for (uint32_t i = 0; i < t->n_args; i++) {
      x[i] = texpr_host_value(t->arg[i], hyper);
    }
    return fn_eval(t->fn, x);
  }
  case TEX_POISON:
  case TEX_STEP:
  case TEX_PARAM:
  case TEX_GRAD:
  case TEX_STATE:
  case TEX_INPUT:
  case TEX_LET: break;
  }
  return NAN;
}
