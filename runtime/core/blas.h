// The matrix product of a serial BLAS, opened privately and checked: shared by core/blas*.c, core/ortho*.c and tests.
#ifndef STEPRT_CORE_BLAS_H
#define STEPRT_CORE_BLAS_H

#include "core/ortho.h"

#include <stdbool.h>

// The CBLAS binding with 32-bit integers (LP64); enums as the reference cblas.h numbers them.
enum { BLAS_ROW_MAJOR = 101, BLAS_NO_TRANS = 111, BLAS_TRANS = 112 };
typedef void (*rt_sgemm_fn)(int layout, int trans_a, int trans_b, int m, int n, int k,
                            float alpha, const float *a, int lda, const float *b, int ldb,
                            float beta, float *c, int ldc);

struct rt_blas {
  void *library;      // of dlopen
  rt_sgemm_fn sgemm;  // to be called between enter and leave
  bool one_at_a_time; // threads must not meet in it
  char name[512];
};

// Around calls of sgemm: the second thread waits where they must not meet.
void rt_blas_enter(const struct rt_blas *b);
void rt_blas_leave(const struct rt_blas *b);

// As rt_blas_open: the folders `first`, then `folders` (both separated by ':', empty items are skipped) and, with
// `loader`, the dynamic loader's own search.
steprt_status rt_blas_open_in(const char *first, const char *folders, bool loader,
                              struct rt_blas **out, char *why, size_t n);

// Whether b->sgemm gives the exact products of small integers, for odd and even shapes in the two forms that rt_ortho
// calls, from several threads at once unless they must not meet. BAD_INPUT: it does not; NO_MEMORY: it could not be
// tried.
steprt_status rt_blas_check(const struct rt_blas *b);

#endif
