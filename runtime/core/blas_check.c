// Tries a matrix product before it is trusted: some BLAS builds compute wrongly on CPUs newer than they are
// (OpenMathLib/OpenBLAS issues 2914 and 3152), and serial ones without locks do so when threads meet in them (2126).
//
// The matrices hold small integers, so every partial sum is exact in f32 and any order of terms gives the same
// result: comparisons are for equality. Rows of C = A B are compared through C w = A (B w) with a vector w of random
// integers (Freivalds 1977), exact in double: a wrong row passes once in 2^20, and nothing is multiplied twice.
#include "core/blas.h"
#include "core/team.h"

#include <math.h>
#include <stdlib.h>

enum {
  MAX_SIDE = 208,
  MAX_DEPTH = 400,
  PAD = 8, // leading dimensions are longer than rows; what lies between must stay
  SIDE = MAX_SIDE + PAD,
  LONG = MAX_DEPTH + PAD,
  THREADS = 3
};

static const struct {
  int m, n, k;
} shapes[] = {{1, 1, 1},       {1, 7, 3},       {5, 1, 64},    {3, 17, 29},
              {16, 16, 16},    {33, 31, 65},    {64, 64, 128}, {63, 65, 127},
              {97, 50, 201},   {192, 192, 192}, {1, 200, 48},  {192, 176, 32},
              {205, 191, 399}, {128, 1, 255}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

struct trial {
  const struct rt_blas *blas;
  float *a, *b, *c;
  double w[MAX_SIDE], bw[MAX_DEPTH];
  bool wrong;
};

static uint32_t next_random(uint32_t *seed) { // Numerical Recipes, 2nd ed., section 7.1
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 12;
}

static void weigh(struct trial *t, int n, int k) {
  for (int l = 0; l < k; l++) {
    t->bw[l] = 0;
    for (int j = 0; j < n; j++) {
      t->bw[l] += (double)t->b[l * SIDE + j] * t->w[j];
    }
  }
}

// Row i of C = A B (+ 3): its elements, and what lies between it and the next one.
static bool row_is_right(const struct trial *t, int i, bool trans, int n, int k,
                         bool add) {
  double expected = 0, sum = 0;
  for (int l = 0; l < k; l++) {
    expected += (double)(trans ? t->a[l * SIDE + i] : t->a[i * LONG + l]) * t->bw[l];
  }
  for (int j = 0; j < n; j++) {
    sum += ((double)t->c[i * SIDE + j] - (add ? 3 : 0)) * t->w[j];
  }
  if (sum != expected) {
    return false;
  }
  for (int j = n; j < n + PAD; j++) {
    if (add ? t->c[i * SIDE + j] != 3.0f : !isnan(t->c[i * SIDE + j])) {
      return false;
    }
  }
  return true;
}

// Unset elements are NaN, which C := A B must overwrite and C += A B is never given.
static bool product_is_right(const struct trial *t, bool trans, int m, int n, int k,
                             bool add) {
  for (int i = 0; i < m * SIDE; i++) {
    t->c[i] = add ? 3.0f : NAN;
  }
  rt_blas_enter(t->blas);
  t->blas->sgemm(BLAS_ROW_MAJOR, trans ? BLAS_TRANS : BLAS_NO_TRANS, BLAS_NO_TRANS, m, n,
                 k, 1.0f, t->a, trans ? SIDE : LONG, t->b, SIDE, add ? 1.0f : 0.0f, t->c,
                 SIDE);
  rt_blas_leave(t->blas);
  for (int i = 0; i < m; i++) {
    if (!row_is_right(t, i, trans, n, k, add)) {
      return false;
    }
  }
  return true;
}

static void try_shapes(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct trial *t = (struct trial *)ctx + item;
  for (uint32_t i = 0; i < N_SHAPES && !t->wrong; i++) {
    weigh(t, shapes[i].n, shapes[i].k);
    for (int form = 0; form < 4; form++) {
      t->wrong |=
          !product_is_right(t, form & 1, shapes[i].m, shapes[i].n, shapes[i].k, form & 2);
    }
  }
}

static bool trial_init(struct trial *t, const struct rt_blas *blas, uint32_t seed) {
  size_t n_a = (size_t)LONG * SIDE, n_b = (size_t)MAX_DEPTH * SIDE;
  size_t n_c = (size_t)MAX_SIDE * SIDE;
  float *all = malloc((n_a + n_b + n_c) * sizeof *all);
  *t = (struct trial){.blas = blas, .a = all};
  if (!all) {
    return false;
  }
  t->b = all + n_a;
  t->c = t->b + n_b;
  for (size_t i = 0; i < n_a + n_b; i++) {
    all[i] = (float)((int)(next_random(&seed) % 17u) - 8);
  }
  for (int j = 0; j < MAX_SIDE; j++) {
    t->w[j] = (double)(next_random(&seed) + 1);
  }
  return true;
}

steprt_status rt_blas_check(const struct rt_blas *b) {
  struct trial *trial = calloc(THREADS, sizeof *trial);
  struct rt_team *team = NULL;
  steprt_status status = trial ? rt_team_new(THREADS, &team) : STEPRT_NO_MEMORY;
  for (uint32_t i = 0; trial && i < THREADS; i++) {
    if (!trial_init(&trial[i], b, i + 1)) {
      status = STEPRT_NO_MEMORY;
    }
  }
  if (status == STEPRT_OK) {
    rt_team_run(team, THREADS, try_shapes, trial);
  }
  for (uint32_t i = 0; trial && i < THREADS; i++) {
    if (trial[i].wrong) {
      status = STEPRT_BAD_INPUT;
    }
    free(trial[i].a);
  }
  rt_team_free(team);
  free(trial);
  return status;
}
