// orthogonalize on a GPU: what its two files share.
#ifndef STEPRT_CUDA_ORTHO_INT_H
#define STEPRT_CUDA_ORTHO_INT_H

#include "device/cuda/cuda.h"
#include "device/cuda/products.h"

struct rt_cuda_ortho {
  struct lt_blas blas;
  struct lt_shape *shape;
  uint32_t n_shapes;
};

// Workspace of n matrices (plan/work.h): X and its successor Y, squares A and B. Y first holds the parts of the norms, and
// behind them AOL's factors; AOL's unrounded Gram matrices take the place of A and B.
struct ortho_layout {
  uint64_t x, y, a, b, factor;
  uint64_t work;    // of the products
  uint32_t n_parts; // of the norm of one matrix
};
struct ortho_layout ortho_lay_out(const struct lt_shape *s,
                                  const struct rt_cuda_ortho_call *c);

// NULL: open saw none of that shape.
struct lt_shape *ortho_find_shape(struct rt_cuda_ortho *o, uint64_t rows, uint64_t cols,
                                  uint32_t compute);

#endif
