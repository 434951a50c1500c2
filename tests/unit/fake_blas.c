// A BLAS that is wrong for odd widths: what an old kernel on a new CPU looks like. Built as libblis.so.4.
__attribute__((visibility("default"))) void cblas_sgemm(int layout, int trans_a,
                                                        int trans_b, int m, int n, int k,
                                                        float alpha, const float *a,
                                                        int lda, const float *b, int ldb,
                                                        float beta, float *c, int ldc);

void cblas_sgemm(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c,
                 int ldc) {
  (void)layout, (void)trans_b;
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n - (n > 4 && n % 2 != 0); j++) {
      float sum = 0;
      for (int l = 0; l < k; l++) {
        sum += (trans_a == 111 ? a[i * lda + l] : a[l * lda + i]) * b[l * ldb + j];
      }
      c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
    }
  }
}
