// Binned sums: one term at a time, merging and the result. The loops over arrays are in binned_block.c.
//
// `sum` holds a multiple of the bin's unit u = 2^(40 i) in [-2^49 u, 2^49 u); `carry` counts multiples of 2^50 u.
#include "core/binned.h"

#include "core/binned_block.h"

#include <math.h>
#include <stdbool.h>

__extension__ typedef __int128 int128;

void binned_init(struct binned *b) {
  *b = (struct binned){.top = BIN_NONE};
}

// Moves whole multiples of 2^50 units to the carry. Exact: |sum| is below 2^52 units.
static void renorm(struct binned *b, int k) {
  double u = bin_pow2((b->top - k) * BIN_WIDTH + 50);
  double whole = floor(b->sum[k] / u + 0.5);
  b->sum[k] -= whole * u;
  b->carry[k] += whole;
}

// A larger term came: the window moves up, the bins below it are dropped.
static void raise_top(struct binned *b, int32_t top) {
  bool next = b->top == top - 1;
  b->sum[1] = next ? b->sum[0] : 0;
  b->carry[1] = next ? b->carry[0] : 0;
  b->sum[0] = b->carry[0] = 0;
  b->top = top;
}

void binned_merge(struct binned *into, const struct binned *from) {
  into->specials |= from->specials;
  if (from->top == BIN_NONE) {
    return;
  }
  if (from->top > into->top) {
    raise_top(into, from->top);
  }
  int32_t shift = into->top - from->top;
  for (int k = shift; k < 2; k++) { // not at all where `from` is below the window

    into->sum[k] += from->sum[k - shift];
    into->carry[k] += from->carry[k - shift];
    renorm(into, k);
  }
}

void binned_add_offsets(struct binned *b, int32_t bin, double hi, double lo) {
  struct binned part = {.sum = {hi, lo}, .top = bin};
  renorm(&part, 0);
  renorm(&part, 1);
  binned_merge(b, &part);
}

static uint32_t special_of(double x) {
  return isnan(x) ? BINNED_NAN : x > 0 ? BINNED_POS_INF : BINNED_NEG_INF;
}

void binned_add(struct binned *b, double x) {
  if (!isfinite(x)) {
    b->specials |= special_of(x);
    return;
  }
  if (x == 0) {
    return;
  }
  int32_t bin = bin_of(x);
  double hi = bin_anchor(bin), lo = bin_anchor(bin - 1);
  bin_deposit(&hi, &lo, x);
  binned_add_offsets(b, bin, hi - bin_anchor(bin), lo - bin_anchor(bin - 1));
}

// The bin's content in its units, exactly.
static int128 units(const struct binned *b, int k) {
  double scaled = b->sum[k] / bin_pow2((b->top - k) * BIN_WIDTH);
  return (int128)b->carry[k] * ((int128)1 << 50) + (int64_t)scaled;
}

double binned_value(const struct binned *b) {
  uint32_t both = BINNED_POS_INF | BINNED_NEG_INF;
  if ((b->specials & BINNED_NAN) || (b->specials & both) == both) {
    return (double)NAN;
  }
  if (b->specials) {
    return b->specials & BINNED_POS_INF ? (double)INFINITY : -(double)INFINITY;
  }
  if (b->top == BIN_NONE) {
    return 0;
  }
  // Below 2^126 for 2^46 terms; the conversion rounds to nearest even, the scaling is exact.
  int128 total = units(b, 0) * ((int128)1 << BIN_WIDTH) + units(b, 1);
  return ldexp((double)total, (b->top - 1) * BIN_WIDTH);
}
