// Newton-Schulz as the papers write it: X (r x c, r <= c), A = X X^T, B = b A + (c A) A, X := a X + B X.
#include "ortho_reference.h"

#include "core/convert.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// One algorithm, two arithmetics: `bf16` rounds after every operation.
static double rounded(double x, bool bf16) {
  return bf16 ? (double)rt_bf16_to_f32(rt_f32_to_bf16((float)x)) : x;
}

// c (n x m) := a (n x k) b (k x m); in bf16 the sums are kept in f32.
static void product(const double *a, const double *b, uint64_t n, uint64_t k, uint64_t m,
                    bool bf16, double *c) {
  float *sum = calloc(m, sizeof *sum);
  if (!sum) {
    abort();
  }
  for (uint64_t i = 0; i < n; i++) {
    double *row = c + i * m;
    memset(row, 0, m * sizeof *row);
    memset(sum, 0, m * sizeof *sum);
    for (uint64_t l = 0; l < k; l++) {
      if (bf16) {
        for (uint64_t j = 0; j < m; j++) {
          sum[j] += (float)(a[i * k + l] * b[l * m + j]);
        }
      } else {
        for (uint64_t j = 0; j < m; j++) {
          row[j] += a[i * k + l] * b[l * m + j];
        }
      }
    }
    for (uint64_t j = 0; bf16 && j < m; j++) {
      row[j] = rounded((double)sum[j], true);
    }
  }
  free(sum);
}

// a (r x r) := x x^T, `turned` (c x r) its scratch.
static void gram(const double *x, double *turned, uint64_t r, uint64_t c, bool bf16,
                 double *a) {
  for (uint64_t i = 0; i < r; i++) {
    for (uint64_t j = 0; j < c; j++) {
      turned[j * r + i] = x[i * c + j];
    }
  }
  product(x, turned, r, c, r, bf16, a);
}

static void normalize_frobenius(const struct rt_iteration *it, double *x, uint64_t n,
                                bool bf16) {
  double sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    sum += x[i] * x[i];
  }
  if (sum == 0) {
    return;
  }
  double by = rounded(sqrt(sum), bf16);
  by = rounded(it->safety * by, bf16);
  by = rounded(fmax(by, it->floor) + it->eps, bf16);
  for (uint64_t i = 0; i < n; i++) {
    x[i] = rounded(x[i] / by, bf16);
  }
}

static void normalize_aol(const struct rt_iteration *it, double *x, double *turned,
                          double *a, uint64_t r, uint64_t c, bool bf16) {
  gram(x, turned, r, c, bf16, a);
  for (uint64_t i = 0; i < r; i++) {
    double sum = 0;
    for (uint64_t j = 0; j < r; j++) {
      sum += fabs(a[i * r + j]);
    }
    double s = fmax(sum, it->floor) == 0
                   ? 0
                   : rounded(1 / sqrt(rounded(fmax(sum, it->floor), bf16)), bf16);
    for (uint64_t j = 0; j < c; j++) {
      x[i * c + j] = rounded(x[i * c + j] * s, bf16);
    }
  }
}

static void step(const double abc[3], double *x, double *a, double *aa, double *bx,
                 uint64_t r, uint64_t c, bool bf16) {
  gram(x, bx, r, c, bf16, a);
  for (uint64_t i = 0; i < r * r; i++) {
    bx[i] = rounded(abc[2] * a[i], bf16);
  }
  product(bx, a, r, r, r, bf16, aa);
  for (uint64_t i = 0; i < r * r; i++) {
    aa[i] = rounded(rounded(abc[1] * a[i], bf16) + aa[i], bf16);
  }
  product(aa, x, r, r, c, bf16, bx);
  for (uint64_t i = 0; i < r * c; i++) {
    x[i] = rounded(rounded(abc[0] * x[i], bf16) + bx[i], bf16);
  }
}

static void iterate(const struct rt_iteration *it, const double *in, uint64_t rows,
                    uint64_t cols, bool bf16, double *out) {
  bool tall = rows > cols;
  uint64_t r = tall ? cols : rows, c = tall ? rows : cols;
  double *all = calloc(2 * r * c + 2 * r * r, sizeof *all);
  if (!all) {
    abort();
  }
  double *x = all, *bx = x + r * c, *a = bx + r * c, *aa = a + r * r;
  for (uint64_t i = 0; i < rows; i++) {
    for (uint64_t j = 0; j < cols; j++) {
      x[tall ? j * c + i : i * c + j] = rounded(in[i * cols + j], bf16);
    }
  }
  if (it->norm == RT_NORM_AOL) {
    normalize_aol(it, x, bx, a, r, c, bf16);
  } else {
    normalize_frobenius(it, x, r * c, bf16);
  }
  for (uint32_t i = 0; i < it->n_steps; i++) {
    step(it->abc[i], x, a, aa, bx, r, c, bf16);
  }
  for (uint64_t i = 0; i < rows; i++) {
    for (uint64_t j = 0; j < cols; j++) {
      out[i * cols + j] = x[tall ? j * c + i : i * c + j];
    }
  }
  free(all);
}

void reference_double(const struct rt_iteration *it, const double *in, uint64_t rows,
                      uint64_t cols, double *out) {
  iterate(it, in, rows, cols, false, out);
}

void reference_bf16(const struct rt_iteration *it, const double *in, uint64_t rows,
                    uint64_t cols, double *out) {
  iterate(it, in, rows, cols, true, out);
}

double reference_error(const double *x, const double *y, uint64_t n) {
  double d = 0, s = 0;
  for (uint64_t i = 0; i < n; i++) {
    d += (x[i] - y[i]) * (x[i] - y[i]);
    s += y[i] * y[i];
  }
  return s == 0 ? sqrt(d) : sqrt(d / s);
}
