// Loads the operand of rt_ortho and normalizes it: by its Frobenius norm, or row by row (AOL).
//
// Frobenius: X / (max(safety n, floor) + eps), n the norm of the matrix rounded to the compute type; for `in f32` of
// the matrix in f32, which is then rounded only once, after the division.
// AOL (Prach and Lampert 2022; thib-s/flash-newton-schulz): row i of the wide form times
// rsqrt(max(sum_j |(X X^T)_ij|, floor)). It does not change with the size of X but for the floor, so the operand is
// first brought near 1 by a power of two: neither tiny nor huge gradients leave the range of f32.
#include "core/ortho_int.h"

#include <math.h>

// Rows [begin, end) of an item: of the operand, or of a square matrix.
struct strip {
  uint64_t begin, end;
};

static struct strip strip_of(uint64_t item, uint64_t rows) {
  return (struct strip){item * ORTHO_STRIP, ortho_min((item + 1) * ORTHO_STRIP, rows)};
}

static uint64_t n_strips(uint64_t rows) {
  return (rows + ORTHO_STRIP - 1) / ORTHO_STRIP;
}

// t := the operand, rounded before its norm is taken unless that is `in f32`; squares go to the thread's bins.
static void load_item(void *ctx, uint64_t item, uint32_t thread) {
  struct ortho *o = ctx;
  struct strip s = strip_of(item, o->c);
  bool cast = o->round && !o->user.in_bf16 && !o->it->norm_in_f32;
  ortho_load(o->t, o->ld, &o->user, s.begin, s.end);
  for (uint64_t k = s.begin; k < s.end; k++) {
    float *row = o->t + k * o->ld;
    if (cast) {
      ortho_scale(row, o->r, 1, true);
    }
    binned_add_squares_f32(&o->bins[thread], row, o->r);
  }
}

// Loads the operand; returns its Frobenius norm. The sum does not depend on order (DESIGN section 4): one set of bins a
// thread gives the same bits for any number of them.
static double load(struct ortho *o) {
  for (uint32_t i = 0; i < o->threads; i++) {
    binned_init(&o->bins[i]);
  }
  ortho_run(o, n_strips(o->c), load_item);
  for (uint32_t i = 1; i < o->threads; i++) {
    binned_merge(&o->bins[0], &o->bins[i]);
  }
  return sqrt(binned_value(&o->bins[0]));
}

static void scale_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  struct strip s = strip_of(item, o->c);
  for (uint64_t k = s.begin; k < s.end; k++) {
    ortho_scale(o->t + k * o->ld, o->r, o->scale, o->round);
  }
}

// max that passes NaN on in its first argument.
static double at_least(double x, double least) {
  return x < least ? least : x;
}

static void factor_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  struct strip s = strip_of(item, o->r);
  for (uint64_t i = s.begin; i < s.end; i++) {
    double sum = 0;
    for (uint64_t j = 0; j < o->r; j++) {
      sum += fabs((double)o->gram[i * o->ld + j]);
    }
    sum = at_least(sum, o->floor);
    o->factor[i] = sum == 0 ? 0.0f : (float)(1 / sqrt(sum));
  }
}

static void scale_operand_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  struct strip s = strip_of(item, o->c);
  for (uint64_t k = s.begin; k < s.end; k++) {
    ortho_scale_each(o->t + k * o->ld, o->factor, o->r, 1, o->round);
  }
}

static void scale_gram_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  struct strip s = strip_of(item, o->r);
  for (uint64_t i = s.begin; i < s.end; i++) {
    ortho_scale_each(o->gram + i * o->ld, o->factor, o->r, o->factor[i], o->round);
  }
}

// The Gram matrix that gave the factors is scaled with them and serves the first step.
static void aol(struct ortho *o) {
  ortho_gram(o, false);
  ortho_run(o, n_strips(o->r), factor_item);
  ortho_run(o, n_strips(o->c), scale_operand_item);
  ortho_run(o, n_strips(o->r), scale_gram_item);
}

bool ortho_normalize(struct ortho *o) {
  double n = load(o);
  if (o->it->norm == RT_NORM_AOL) {
    int exponent = n > 0 && isfinite(n) ? -ilogb(n) : 0;
    o->scale = ldexp(1, exponent);
    o->floor = ldexp(o->it->floor, 2 * exponent);
    ortho_run(o, n_strips(o->c), scale_item);
    aol(o);
    return true;
  }
  double by = at_least(o->it->safety * n, o->it->floor) + o->it->eps;
  o->scale = n == 0 ? 0 : 1 / by; // zeros stay zeros, whatever the guard
  ortho_run(o, n_strips(o->c), scale_item);
  return false;
}
