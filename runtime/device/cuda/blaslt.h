// cuBLASLt, opened at run time, with declarations of our own: neither the toolkit's headers nor the library are needed
// to build.
#ifndef STEPRT_CUDA_BLASLT_H
#define STEPRT_CUDA_BLASLT_H

#include "device/cuda/library.h"
#include "steprt.h"

#include <stdint.h>

struct lt_algorithm { // cublasLtMatmulAlgo_t
  uint64_t data[8];
};
struct lt_choice { // cublasLtMatmulHeuristicResult_t
  struct lt_algorithm algorithm;
  size_t work_bytes;
  int status;
  float waves;
  int reserved[4];
};

// Numbers of cublasLt.h, cublas_api.h and library_types.h.
enum {
  LT_F32 = 0,   // cudaDataType: CUDA_R_32F
  LT_BF16 = 14, // CUDA_R_16BF
  LT_COMPUTE_F32 = 68,

  LT_PRODUCT_TRANSPOSE_A = 3, // cublasLtMatmulDescAttributes_t
  LT_PRODUCT_TRANSPOSE_B = 4,
  LT_TRANSPOSED = 1, // cublasOperation_t

  LT_LAYOUT_BATCH = 5, // cublasLtMatrixLayoutAttribute_t
  LT_LAYOUT_STRIDE = 6,

  LT_PREFER_WORK_BYTES = 1, // cublasLtMatmulPreferenceAttributes_t
  LT_PREFER_REDUCTIONS = 3,
  LT_PREFER_ALIGN_A = 5, // and B, C, D after it

  LT_ALGORITHM_SPLIT_K = 2 // cublasLtMatmulAlgoConfigAttributes_t
};

struct lt_blas {
  struct rt_library library;
  void *handle; // NULL: not open
#define LT_FN(field, symbol, parameters) int(*field) parameters;
#include "device/cuda/blaslt.def"
#undef LT_FN
};

// Opens libcublasLt.so.13, else .12, and makes a handle in the current context. STEPRT_NO_LIBRARY with `why` (at most n
// bytes): what was tried, or what is missing.
steprt_status lt_open(struct lt_blas *b, char *why, size_t n);
void lt_close(struct lt_blas *b); // accepts one that is not open

#endif
