// Private to binned*.c: the bins' geometry and the split of a term.
#ifndef STEPRT_CORE_BINNED_BLOCK_H
#define STEPRT_CORE_BINNED_BLOCK_H

#include "core/binned.h"

#include <assert.h>
#include <string.h>

enum {
  BIN_WIDTH = 40,
  BIN_NONE = -128, // `top` of an empty sum
  BIN_MIN = -23,   // the anchor two bins below is still a normal number
  BIN_MAX = 20
};

static inline double bin_pow2(int e) {
  uint64_t u = (uint64_t)(e + 1023) << 52;
  double d;
  memcpy(&d, &u, sizeof d);
  return d;
}

// A number of exponent 40 i + 52 has the unit of bin i as its last bit; at 1.5 times that power it stays in the
// binade while less than 2^51 units are added or taken away.
static inline double bin_anchor(int i) {
  return 1.5 * bin_pow2(i * BIN_WIDTH + 52);
}

// The bin where `x` (finite, not 0) is at least half a unit and less than 2^39 units.
static inline int32_t bin_of(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  int32_t above = (int32_t)((u >> 52) & 0x7ff) - 1022;     // |x| < 2^above
  int32_t bin = (above + BIN_WIDTH * 64) / BIN_WIDTH - 64; // rounds down
  assert(bin <= BIN_MAX);
  return bin < BIN_MIN ? BIN_MIN : bin;
}

// With its last bit set a term is never half way between two multiples of a unit (its ulp is far below), so that
// rounding does not look at the accumulator's parity.
static inline double bin_or1(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  u |= 1;
  memcpy(&x, &u, sizeof x);
  return x;
}

// Rounds x to a multiple of hi's unit, the rest to one of lo's. What is left is dropped.
static inline void bin_deposit(double *hi, double *lo, double x) {
  double sum = *hi + bin_or1(x);
  double rest = x + (*hi - sum);
  *hi = sum;
  *lo += bin_or1(rest);
}

// Adds contents of the bins `bin` and `bin` - 1, each below 2^52 units.
void binned_add_offsets(struct binned *b, int32_t bin, double hi, double lo);

#endif
