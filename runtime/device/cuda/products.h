// The batched products of a Newton-Schulz step on matrices of one shape (cuBLASLt).
//
// A row-major matrix rows x cols is, column-major, its transpose; squares are symmetric. With X wide (m = rows, k = cols)
// A = X X^T and X := a X + B X; with X tall (m = cols, k = rows) A = X^T X and X := a X + X B. Nothing is transposed in
// memory. Each product has one algorithm, chosen at open as a function of shape and type alone, without split-K: bits do
// not depend on the batch (L1).
#ifndef STEPRT_CUDA_PRODUCTS_H
#define STEPRT_CUDA_PRODUCTS_H

#include "device/cuda/blaslt.h"
#include "plan/program.h"

enum { LT_WORK_BYTES = 256 }; // that a product may use: batches count their tiles in it

enum lt_product {
  LT_GRAM,     // A := X X^T
  LT_GRAM_F32, // the same, not rounded: f32
  LT_SQUARE,   // B := c A A + b A
  LT_APPLY,    // X' := b B X + a X
  LT_N_PRODUCTS
};

struct lt_call { // one product's descriptors and algorithm
  void *product, *a, *b, *c;
  struct lt_algorithm algorithm;
};

struct lt_shape {
  uint64_t rows, cols, compute; // compute: enum rt_storage
  uint64_t m, k;                // the smaller and the larger side
  uint64_t ld, side; // elements between rows of X, and of a square: multiples of 8
  struct lt_call call[LT_N_PRODUCTS];
};

// Descriptors and algorithms for batches of up to `most` matrices. On failure `why` says what cuBLASLt refused.
steprt_status lt_shape_open(struct lt_blas *b, struct lt_shape *s, uint64_t most,
                            char *why, size_t n);
void lt_shape_close(struct lt_blas *b, struct lt_shape *s); // accepts zeros

// d := alpha a b + beta c for `n` matrices, each behind the other; the operands of `product` as its comment has them.
// Returns cuBLASLt's status.
struct lt_operands {
  float alpha, beta;
  uint64_t a, b, c, d; // device addresses
  uint64_t work;       // LT_WORK_BYTES for the library, 256-aligned
};
int lt_multiply(struct lt_blas *b, struct lt_shape *s, enum lt_product product,
                const struct lt_operands *o, uint64_t n, void *stream);

#endif
