// Newton-Schulz in double: X <- a X + (b A + c A A) X with A = X X^T, on the orientation with rows <= cols (a tall
// matrix gives the same by X^T X). Exact arithmetic makes the standard and the Gram form one.
#include "ir/interp_int.h"

#include <math.h>
#include <string.h>

struct work {
  uint64_t r, c;       // r <= c
  double *x, *y;       // r x c
  double *gram, *poly; // r x r
};

static double dot(const double *x, const double *y, uint64_t n) {
  double part[8] = {0}, sum = 0;
  uint64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (uint64_t k = 0; k < 8; k++) {
      part[k] += x[i + k] * y[i + k];
    }
  }
  for (; i < n; i++) {
    part[0] += x[i] * y[i];
  }
  for (uint64_t k = 0; k < 8; k++) {
    sum += part[k];
  }
  return sum;
}

// out (r x r, symmetric) := m m^T for m of r x c.
static void times_transposed(const double *m, uint64_t r, uint64_t c, double *out) {
  for (uint64_t i = 0; i < r; i++) {
    for (uint64_t j = i; j < r; j++) {
      out[i * r + j] = out[j * r + i] = dot(m + i * c, m + j * c, c);
    }
  }
}

static void normalize_aol(const struct ir_iteration *it, struct work *w) {
  times_transposed(w->x, w->r, w->c, w->gram);
  for (uint64_t i = 0; i < w->r; i++) {
    double sum = 0;
    for (uint64_t j = 0; j < w->r; j++) {
      sum += fabs(w->gram[i * w->r + j]);
    }
    sum = sum < it->floor ? it->floor : sum;
    for (uint64_t j = 0; j < w->c; j++) {
      w->x[i * w->c + j] *= sum == 0 ? 0 : 1 / sqrt(sum);
    }
  }
}

// X / max(safety n + eps, floor), n its Frobenius norm; a zero matrix stays zero (DESIGN section 4).
static void normalize(const struct ir_iteration *it, struct work *w) {
  if (it->norm == NORM_AOL) {
    normalize_aol(it, w);
    return;
  }
  uint64_t n = w->r * w->c;
  double norm = sqrt(dot(w->x, w->x, n));
  double by = it->safety * norm + it->eps;
  by = by < it->floor ? it->floor : by;
  for (uint64_t i = 0; norm != 0 && i < n; i++) {
    w->x[i] /= by;
  }
}

static void iterate(const struct ir_step *s, struct work *w) {
  uint64_t r = w->r, c = w->c;
  times_transposed(w->x, r, c, w->gram);
  if (s->c != 0) {
    times_transposed(w->gram, r, r, w->poly);
  }
  for (uint64_t i = 0; i < r * r; i++) {
    w->poly[i] = s->b * w->gram[i] + (s->c != 0 ? s->c * w->poly[i] : 0);
  }
  for (uint64_t i = 0; i < r; i++) {
    double *y = w->y + i * c;
    for (uint64_t j = 0; j < c; j++) {
      y[j] = s->a * w->x[i * c + j];
    }
    for (uint64_t k = 0; k < r; k++) {
      const double *x = w->x + k * c;
      double p = w->poly[i * r + k];
      for (uint64_t j = 0; j < c; j++) {
        y[j] += p * x[j];
      }
    }
  }
  double *swap = w->x;
  w->x = w->y;
  w->y = swap;
}

// Between a matrix rows x cols and its orientation with r <= c.
static void orient(double *to, const double *from, uint64_t rows, uint64_t cols) {
  for (uint64_t i = 0; i < rows; i++) {
    for (uint64_t j = 0; j < cols; j++) {
      to[j * rows + i] = from[i * cols + j];
    }
  }
}

void interp_ortho(struct arena *scratch, const struct ir_iteration *it, uint64_t batch,
                  uint64_t rows, uint64_t cols, const double *in, double *out) {
  bool tall = rows > cols;
  struct work w = {.r = tall ? cols : rows, .c = tall ? rows : cols};
  uint64_t n = rows * cols;
  w.x = ARENA_ARRAY(scratch, double, n);
  w.y = ARENA_ARRAY(scratch, double, n);
  w.gram = ARENA_ARRAY(scratch, double, w.r *w.r);
  w.poly = ARENA_ARRAY(scratch, double, w.r *w.r);
  for (uint64_t m = 0; m < batch; m++) {
    if (tall) {
      orient(w.x, in + m * n, rows, cols);
    } else {
      memcpy(w.x, in + m * n, n * sizeof *in);
    }
    normalize(it, &w);
    for (uint32_t s = 0; s < it->n_steps; s++) {
      iterate(&it->step[s], &w);
    }
    if (tall) {
      orient(out + m * n, w.x, cols, rows);
    } else {
      memcpy(out + m * n, w.x, n * sizeof *out);
    }
  }
}
