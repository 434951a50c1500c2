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
// What a kernel takes (emit/cuda.h); a kind reads its own.
struct cuda_launch {
  const struct cuda_kernel *kernel;
  uint32_t blocks;
  const struct cuda_table *table;
  uint32_t first_row, n_rows; // a run of the table's rows; n_rows 0: all
  const float *scalars;
  const unsigned *scalar_at;
  const void *const *grads;
  void *parts;
  uint32_t n_parts;
  double bound;
  void *sum;
  struct cuda_verdict *verdict;
};
void cuda_shim_launch(const struct cuda_shim *s, const struct cuda_launch *l);

// Rows as the kernel takes them.
struct cuda_row {
  void *const *ptr; // n_ptrs
  uint64_t first, numel;
  uint32_t param, scalars;
};
struct cuda_table {
  const struct cuda_kernel *kernel;
  unsigned char *bytes;
  uint32_t n, n_tiles;
};
struct cuda_table cuda_table_new(struct arena *a, const struct cuda_kernel *k,
                                 uint32_t max);
void cuda_table_add(struct cuda_table *t, const struct cuda_row *row);

// Runs clang's CUDA front end over the text, all warnings errors.
void cuda_front_check(struct arena *a, struct str text);

#endif
