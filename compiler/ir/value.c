// Evaluation of VALUE operations.
#include "ir/value.h"

#include <math.h>

// NaN passes, -0 < +0 (DESIGN section 4).
static double least(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return (double)NAN;
  }
  return a < b || (a == b && signbit(a)) ? a : b;
}

static double sign(double x) {
  return isnan(x) ? x : (double)((x > 0) - (x < 0));
}

// Integer exponents by repeated squaring, the same on every host (DESIGN section 4).
static double power(double x, double y) {
  if (y != trunc(y) || fabs(y) > 0x1p31) {
    return pow(x, y);
  }
  double r = 1;
  for (uint64_t n = (uint64_t)fabs(y); n > 0; n >>= 1) {
    r = (n & 1) != 0 ? r * x : r;
    x *= x;
  }
  return y < 0 ? 1 / r : r;
}

static double rounding_f32(enum ir_op op, float x, float y, float z) {
  float r = op == IR_ADD     ? x + y
            : op == IR_SUB   ? x - y
            : op == IR_MUL   ? x * y
            : op == IR_DIV   ? x / y
            : op == IR_SQRT  ? sqrtf(x)
            : op == IR_RSQRT ? 1.0F / sqrtf(x)
                             : fmaf(x, y, z);
  return (double)r;
}

static double rounding_f64(enum ir_op op, double x, double y, double z) {
  return op == IR_ADD     ? x + y
         : op == IR_SUB   ? x - y
         : op == IR_MUL   ? x * y
         : op == IR_DIV   ? x / y
         : op == IR_SQRT  ? sqrt(x)
         : op == IR_RSQRT ? 1 / sqrt(x)
                          : fma(x, y, z);
}

static bool rounds(enum ir_op op) {
  return (op >= IR_ADD && op <= IR_DIV) || op == IR_SQRT || op == IR_RSQRT ||
         op == IR_FMA;
}

static double compare(enum ir_op op, double x, double y) {
  bool r = op == IR_EQ   ? x == y
           : op == IR_NE ? x != y
           : op == IR_LT ? x < y
           : op == IR_LE ? x <= y
           : op == IR_GT ? x > y
                         : x >= y;
  return r ? 1 : 0;
}

static double logic(enum ir_op op, bool x, bool y) {
  bool r = op == IR_AND ? x && y : op == IR_OR ? x || y : !x;
  return r ? 1 : 0;
}

static double host_only(enum ir_op op, double x, double y) {
  return op == IR_POW   ? power(x, y)
         : op == IR_EXP ? exp(x)
         : op == IR_LOG ? log(x)
         : op == IR_COS ? cos(x)
                        : floor(x);
}

double value_eval(enum ir_op op, bool f32, const double x[3]) {
  if (rounds(op)) {
    return f32 ? rounding_f32(op, (float)x[0], (float)x[1], (float)x[2])
               : rounding_f64(op, x[0], x[1], x[2]);
  }
  if (op >= IR_EQ && op <= IR_GE) {
    return compare(op, x[0], x[1]);
  }
  if (op >= IR_AND && op <= IR_NOT) {
    return logic(op, x[0] != 0, x[1] != 0);
  }
  return op == IR_NEG     ? -x[0]
         : op == IR_ABS   ? fabs(x[0])
         : op == IR_SIGN  ? sign(x[0])
         : op == IR_MIN   ? least(x[0], x[1])
         : op == IR_MAX   ? -least(-x[0], -x[1])
         : op == IR_WHERE ? x[x[0] != 0 ? 1 : 2]
                          : host_only(op, x[0], x[1]);
}
