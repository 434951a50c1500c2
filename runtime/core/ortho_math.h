// Element-wise loops around the products of rt_ortho; private to core/ortho*.c and their test.
//
// Working matrices are f32, row-major with leading dimension `ld`. With `round` every value stored is one that bf16
// has (rounded to nearest even, NaN as core/convert.h makes it), so that the products read exact operands.
#ifndef STEPRT_CORE_ORTHO_MATH_H
#define STEPRT_CORE_ORTHO_MATH_H

#include <stdbool.h>
#include <stdint.h>

// A rectangle of a matrix.
struct ortho_block {
  uint64_t row, col, rows, cols;
};

// x := round(scale x) for n values; the product is taken in double, so that no scale over- or underflows.
void ortho_scale(float *x, uint64_t n, double scale, bool round);

// x[i] := round(x[i] (factor[i] by)) for n values.
void ortho_scale_each(float *x, const float *factor, uint64_t n, float by, bool round);

// block of acc := a x + b acc, rounded once.
void ortho_combine(float *acc, const float *x, uint64_t ld, struct ortho_block block,
                   float a, float b, bool round);

// Copies a block of the lower triangle of a square matrix to its mirror image; of a block on the diagonal, only what
// lies below the diagonal.
void ortho_mirror(float *x, uint64_t ld, struct ortho_block block);

// A caller's matrices: operand and result, r <= c. They are r rows of c columns if `wide`, else c rows of r columns.
struct ortho_user {
  const void *in;
  void *out;
  bool in_bf16, out_bf16; // bf16 bits, else f32
  bool wide;
  uint64_t r, c;
};

// Rows [begin, end) of the tall operand t (rows of length r, leading dimension ld) from the caller's operand, and to
// the caller's result; a wide matrix is transposed.
void ortho_load(float *t, uint64_t ld, const struct ortho_user *u, uint64_t begin,
                uint64_t end);
void ortho_store(const float *t, uint64_t ld, const struct ortho_user *u, uint64_t begin,
                 uint64_t end);

#endif
