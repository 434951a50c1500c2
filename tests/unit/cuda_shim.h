// Generated CUDA text compiled by the host's C++ compiler over tests/cuda/shim.cuh, and clang's opinion of it.
#ifndef TESTS_CUDA_SHIM_BUILD_H
#define TESTS_CUDA_SHIM_BUILD_H

#include "emit/cuda_int.h"

struct cuda_shim {
  void *library;
  bool (*launch)(unsigned blocks, unsigned threads, bool together, void (*body)(void *),
                 void *ctx);
};

// All kernels, whose names differ, as one library. Fails the test with the compiler's words.
struct cuda_shim cuda_shim_build(struct arena *a, const struct cuda_kernel *k,
                                 uint32_t n);
void cuda_shim_free(struct cuda_shim *s);

// A writer without a job, for text from IR alone; its recipe skips nonfinite gradients.
struct cuda_writer cuda_shim_writer(struct arena *a, struct str *ice);

struct cuda_verdict {
  float clip;
  uint32_t skip;
  double norm;
};
struct cuda_launch {
  const struct cuda_kernel *kernel;
  uint32_t blocks;
  const void *tensors; // rows of the table
  uint32_t n_tensors, n_tiles;
  const float *scalars;
  void *parts;
  double bound;
  struct cuda_verdict *verdict;
};
void cuda_shim_launch(const struct cuda_shim *s, const struct cuda_launch *l);

// Rows as the kernel takes them.
struct cuda_table {
  const struct cuda_kernel *kernel;
  unsigned char *row;
  uint32_t n, n_tiles;
};
struct cuda_table cuda_table_new(struct arena *a, const struct cuda_kernel *k,
                                 uint32_t max);
void cuda_table_add(struct cuda_table *t, void *const *ptr, uint64_t numel,
                    uint32_t scalars);

// Runs clang's CUDA front end over the text, all warnings errors.
void cuda_front_check(struct arena *a, struct str text);

#endif
