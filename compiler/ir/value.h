// What one pure operation computes, alike for folding, the interpreter and tests.
#ifndef STEPC_IR_VALUE_H
#define STEPC_IR_VALUE_H

#include "ir/ir.h"

#include <string.h>

// The operation on numbers; bools are 0 and 1. `f32`: operands are f32 values, and every rounding is that of f32.
// VALUE operations only; pow, exp, log and cos are the host's.
double value_eval(enum ir_op op, bool f32, const double x[3]);

// Equal bit for bit: tells -0 from 0, and a NaN from another.
static inline bool same_bits(double x, double y) {
  uint64_t a, b;
  memcpy(&a, &x, sizeof a);
  memcpy(&b, &y, sizeof b);
  return a == b;
}

// A floating-point storage: bits of the significand with the hidden one, least exponent of a normal number, greatest
// finite value. Not for q8, whose values depend on their block.
struct float_format {
  int bits, min_exp;
  double max;
};
struct float_format storage_format(enum storage s);
// Half the distance between neighbours of |x| in a format (below the normal range, of its least numbers); INFINITY
// where x is not finite.
double format_half_ulp(struct float_format f, double x);
bool storage_holds(enum storage s,
                   double x); // exactly; q8: only zero, which every block holds

#endif
