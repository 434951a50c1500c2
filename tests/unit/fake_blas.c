// Two libraries that are no BLAS. As libblis.so.4: one that is wrong for odd widths, as an old kernel on a new CPU is.
// With FAKE_OPENBLAS as libopenblas.so.0: one that is right and remembers whether two threads met in it.
#include <stdatomic.h>

#define SHOWN __attribute__((visibility("default")))

static atomic_int inside, met;

SHOWN void cblas_sgemm(int layout, int trans_a, int trans_b, int m, int n, int k,
                       float alpha, const float *a, int lda, const float *b, int ldb,
                       float beta, float *c, int ldc);

#ifdef FAKE_OPENBLAS
enum { IS_RIGHT = 1 };

SHOWN const char *openblas_get_config(void);
SHOWN const char *openblas_get_corename(void);
SHOWN int fake_threads_met(void);

const char *openblas_get_config(void) {
  return "OpenBLAS 0.3.30 SINGLE_THREADED";
}

const char *openblas_get_corename(void) {
  return "Fake";
}

int fake_threads_met(void) {
  return atomic_load(&met);
}
#else
enum { IS_RIGHT = 0 };
#endif

void cblas_sgemm(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c,
                 int ldc) {
  (void)layout, (void)trans_b;
  if (atomic_fetch_add(&inside, 1) != 0) {
    atomic_store(&met, 1);
  }
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n - (n > 4 && n % 2 != 0 && !IS_RIGHT); j++) {
      float sum = 0;
      for (int l = 0; l < k; l++) {
        sum += (trans_a == 111 ? a[i * lda + l] : a[l * lda + i]) * b[l * ldb + j];
      }
      c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
    }
  }
  atomic_fetch_sub(&inside, 1);
}
