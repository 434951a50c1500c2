// Loads the operand of rt_ortho and normalizes it: by its Frobenius norm, or row by row (AOL).
//
// Frobenius: X / (max(safety n, floor) + eps), n the norm of the matrix as the caller gave it (bf16, or f32 for
// `in f32`, which is then rounded only once, after the division).
// AOL (Prach and Lampert 2022; thib-s/flash-newton-schulz): row i of the wide form times
// rsqrt(max(sum_j |(X X^T)_ij|, floor)). It does not change with the size of X but for the floor, so the operand is
// first brought near 1 by a power of two: neither tiny nor huge gradients leave the range of f32.
#include "core/ortho_int.h"

#include <math.h>

enum { NORM_ITEM = 1 << 16 }; // elements

static void norm_item(void *ctx, uint64_t item, uint32_t thread) {
  struct ortho *o = ctx;
  uint64_t at = item * NORM_ITEM, n = ortho_min(NORM_ITEM, o->r * o->c - at);
  if (o->in_bf16)
    binned_add_squares_bf16(&o->bins[thread], (const uint16_t *)o->in + at, n);
  else
    binned_add_squares_f32(&o->bins[thread], (const float *)o->in + at, n);
}

// The sum does not depend on order (DESIGN section 4): one set of bins a thread gives the same bits for any number.
static double frobenius_norm(struct ortho *o) {
  for (uint32_t i = 0; i < o->threads; i++)
    binned_init(&o->bins[i]);
  ortho_run(o, (o->r * o->c + NORM_ITEM - 1) / NORM_ITEM, norm_item);
  for (uint32_t i = 1; i < o->threads; i++)
    binned_merge(&o->bins[0], &o->bins[i]);
  return sqrt(binned_value(&o->bins[0]));
}

static void load_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  uint64_t begin = item * ORTHO_STRIP, end = ortho_min(begin + ORTHO_STRIP, o->c);
  ortho_load(o->t, o->ld, o->in, o->in_bf16, o->wide, o->r, o->c, begin, end);
  for (uint64_t k = begin; k < end; k++)
    ortho_scale(o->t + k * o->ld, o->r, o->scale, o->round);
}

static void load(struct ortho *o) {
  ortho_run(o, (o->c + ORTHO_STRIP - 1) / ORTHO_STRIP, load_item);
}

// max that passes NaN on in its first argument.
static double at_least(double x, double least) {
  return x < least ? least : x;
}

static void factor_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  uint64_t end = ortho_min((item + 1) * ORTHO_STRIP, o->r);
  for (uint64_t i = item * ORTHO_STRIP; i < end; i++) {
    double sum = 0;
    for (uint64_t j = 0; j < o->r; j++)
      sum += fabs((double)o->gram[i * o->ld + j]);
    sum = at_least(sum, o->floor);
    o->factor[i] = sum == 0 ? 0.0f : (float)(1 / sqrt(sum));
  }
}

static void scale_operand_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  uint64_t end = ortho_min((item + 1) * ORTHO_STRIP, o->c);
  for (uint64_t k = item * ORTHO_STRIP; k < end; k++)
    ortho_scale_each(o->t + k * o->ld, o->factor, o->r, 1, o->round);
}

static void scale_gram_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  uint64_t end = ortho_min((item + 1) * ORTHO_STRIP, o->r);
  for (uint64_t i = item * ORTHO_STRIP; i < end; i++)
    ortho_scale_each(o->gram + i * o->ld, o->factor, o->r, o->factor[i], o->round);
}

// The Gram matrix that gave the factors is scaled with them and serves the first step.
static void aol(struct ortho *o) {
  uint64_t r_items = (o->r + ORTHO_STRIP - 1) / ORTHO_STRIP;
  ortho_gram(o, false);
  ortho_run(o, r_items, factor_item);
  ortho_run(o, (o->c + ORTHO_STRIP - 1) / ORTHO_STRIP, scale_operand_item);
  ortho_run(o, r_items, scale_gram_item);
}

bool ortho_normalize(struct ortho *o) {
  double n = frobenius_norm(o);
  if (o->it->norm == RT_NORM_AOL) {
    int exponent = n > 0 && isfinite(n) ? -ilogb(n) : 0;
    o->scale = ldexp(1, exponent);
    o->floor = ldexp(o->it->floor, 2 * exponent);
    load(o);
    aol(o);
    return true;
  }
  double by = at_least(o->it->safety * n, o->it->floor) + o->it->eps;
  o->scale = n == 0 ? 0 : 1 / by; // zeros stay zeros, whatever the guard
  load(o);
  return false;
}
