// Sums that do not depend on order (DESIGN section 4).
//
// Terms exact in double go into bins at fixed exponents (width 40); the two highest occupied bins are kept. Any cut
// and any order of the terms gives the same bits. After Demmel and Nguyen, "Fast Reproducible Floating-Point
// Summation" (2013); Ahrens, Demmel and Nguyen, "Algorithms for Efficient Reproducible Floating Point Summation"
// (2020).
//
// Bin i counts in units of 2^(40 i) and takes terms below 2^(40 i + 39). A term is split by rounding it, half away
// from zero, to a multiple of the top bin's unit, and the rest to a multiple of the unit below; what is left of it
// then is dropped. So the sum of n terms is off by at most n / 2 units of the lower bin, before the last rounding.
// Terms are 0, f32 values or products of two: magnitudes from 2^-298 to 2^256; at most 2^46 of them.
#ifndef STEPRT_CORE_BINNED_H
#define STEPRT_CORE_BINNED_H

#include <stdint.h>

enum { BINNED_NAN = 1, BINNED_POS_INF = 2, BINNED_NEG_INF = 4 };

// For one multiset of finite terms there is one representation: sums may be compared and exchanged as bytes.
struct binned {
  double sum[2],
      carry[2]; // offsets from the anchors of bins `top` and `top` - 1, and their carries
  int32_t top;
  uint32_t specials; // bits: NaN, +Inf, -Inf seen; finite terms beside them are not kept
};

void binned_init(struct binned *b);
// Adds x[i] or x[i]^2 of `n` values; f32, or bf16 or f16 as bits.
void binned_add_f32(struct binned *b, const float *x, uint64_t n);
void binned_add_squares_f32(struct binned *b, const float *x, uint64_t n);
void binned_add_squares_bf16(struct binned *b, const uint16_t *x, uint64_t n);
void binned_add_squares_f16(struct binned *b, const uint16_t *x, uint64_t n);
void binned_add(struct binned *b, double x);
void binned_merge(struct binned *into, const struct binned *from);
double
binned_value(const struct binned *b); // rounded once; NaN and Inf by DESIGN section 4

#endif
