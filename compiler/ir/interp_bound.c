// First-order bounds of f32 operations around a double value.
//
// The rule is the standard model, fl(x op y) = (x op y)(1 + d), |d| <= 2^-24 (Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd ed., section 2.2), with half an ulp in place of the relative bound so that it holds in
// the denormal range too. Products of two deviations are kept where they cost nothing.
#include "ir/interp_int.h"
#include "ir/value.h"

#include <math.h>

// Deviations from something that is exactly 0 * INFINITY or INFINITY - INFINITY mean that nothing is known.
static double no_nan(double b) {
  return b >= 0 ? b : INFINITY;
}

// What rests exactly and was computed exactly is exact.
static struct bounded add_rounding(double v, double propagated, enum storage s) {
  double p = no_nan(propagated);
  if (!isfinite(v)) {
    return (struct bounded){v, p > 0 ? INFINITY : 0};
  }
  bool holds = p == 0 && (s == ST_F32 ? (double)(float)v == v : storage_holds(s, v));
  if (holds) {
    return (struct bounded){v, 0};
  }
  struct float_format f = storage_format(s);
  double most = fabs(v) + p;
  return (struct bounded){v, most > f.max ? INFINITY : p + format_half_ulp(f, most)};
}

struct bounded bounded_rounded(double v, double propagated) {
  return add_rounding(v, propagated, ST_F32);
}

struct bounded bounded_to_f32(double x) {
  return bounded_rounded(x, 0);
}

struct bounded bounded_round(enum storage s, struct bounded x) {
  struct float_format f = storage_format(s);
  if (s == ST_F32) {
    return x;
  }
  if (s == ST_Q8 || s == ST_Q8U) {
    return (struct bounded){
        x.v, x.v == 0 && x.b == 0 ? 0 : INFINITY}; // hangs on the block's scale
  }
  if (s == ST_F8E4M3 && fabs(x.v) > f.max) {
    double clipped = copysign(f.max, x.v); // saturates
    return (struct bounded){clipped, fabs(x.v) - x.b >= f.max ? 0 : x.b};
  }
  return add_rounding(x.v, x.b, s);
}

static double times(double magnitude, double deviation) {
  return deviation == 0 ? 0 : fabs(magnitude) * deviation;
}

static double product_bound(struct bounded x, struct bounded y) {
  bool unknown = isinf(x.b) || isinf(y.b);
  return unknown ? INFINITY : times(x.v, y.b) + times(y.v, x.b) + x.b * y.b;
}

static struct bounded quotient(struct bounded x, struct bounded y) {
  double v = x.v / y.v;
  bool may_vanish = y.b > 0 && y.b >= fabs(y.v);
  double b = x.b == 0 && y.b == 0 ? 0
             : may_vanish         ? INFINITY
                                  : (x.b + times(v, y.b)) / (fabs(y.v) - y.b);
  return bounded_rounded(v, b);
}

static struct bounded root(struct bounded x) {
  double v = sqrt(x.v);
  bool may_be_negative = x.b > 0 && x.b >= x.v;
  double b = x.b == 0 ? 0 : may_be_negative ? INFINITY : x.b / (v + sqrt(x.v - x.b));
  return bounded_rounded(v, b);
}

// min and max are continuous: where either may win, the larger deviation holds.
static struct bounded extreme(enum ir_op op, struct bounded x, struct bounded y) {
  double v = value_eval(op, false, (double[]){x.v, y.v, 0});
  bool x_least = x.v + x.b < y.v - y.b, y_least = y.v + y.b < x.v - x.b;
  bool x_wins = op == IR_MIN ? x_least : y_least,
       y_wins = op == IR_MIN ? y_least : x_least;
  return (struct bounded){v, x_wins ? x.b : y_wins ? y.b : fmax(x.b, y.b)};
}

static struct bounded sign_of(struct bounded x) {
  double v = value_eval(IR_SIGN, false, (double[]){x.v, 0, 0});
  return (struct bounded){v, x.b > 0 && !(x.b < fabs(x.v)) ? INFINITY : 0};
}

static struct bounded comparison(enum ir_op op, struct bounded x, struct bounded y) {
  double reach = x.b + y.b;
  bool open = reach > 0 && !(fabs(x.v - y.v) > reach);
  return (struct bounded){value_eval(op, false, (double[]){x.v, y.v, 0}),
                          open ? INFINITY : 0};
}

static struct bounded logic(enum ir_op op, struct bounded x, struct bounded y) {
  double v = value_eval(op, false, (double[]){x.v, y.v, 0});
  bool decides_x = x.b == 0 && (x.v != 0) == (op == IR_OR);
  bool decides_y = y.b == 0 && (y.v != 0) == (op == IR_OR);
  bool sure = (op != IR_NOT && (decides_x || decides_y)) || (x.b == 0 && y.b == 0);
  return (struct bounded){v, sure ? 0 : INFINITY};
}

static struct bounded chosen(const struct bounded *x) {
  struct bounded arm = x[x[0].v != 0 ? 1 : 2];
  bool same = x[1].v == x[2].v && x[1].b == x[2].b;
  return (struct bounded){arm.v, x[0].b > 0 && !same ? INFINITY : arm.b};
}

struct bounded bounded_value(enum ir_op op, const struct bounded *x) {
  if (op >= IR_EQ && op <= IR_GE) {
    return comparison(op, x[0], x[1]);
  }
  if (op >= IR_AND && op <= IR_NOT) {
    return logic(op, x[0], op == IR_NOT ? (struct bounded){0, 0} : x[1]);
  }
  if (op == IR_ADD || op == IR_SUB) {
    double v = op == IR_ADD ? x[0].v + x[1].v : x[0].v - x[1].v;
    return bounded_rounded(v, x[0].b + x[1].b);
  }
  if (op == IR_RSQRT) {
    return quotient((struct bounded){1, 0}, root(x[0]));
  }
  return op == IR_MUL     ? bounded_rounded(x[0].v * x[1].v, product_bound(x[0], x[1]))
         : op == IR_DIV   ? quotient(x[0], x[1])
         : op == IR_SQRT  ? root(x[0])
         : op == IR_FMA   ? bounded_rounded(fma(x[0].v, x[1].v, x[2].v),
                                            product_bound(x[0], x[1]) + x[2].b)
         : op == IR_NEG   ? (struct bounded){-x[0].v, x[0].b}
         : op == IR_ABS   ? (struct bounded){fabs(x[0].v), x[0].b}
         : op == IR_SIGN  ? sign_of(x[0])
         : op == IR_WHERE ? chosen(x)
                          : extreme(op, x[0], x[1]);
}
