// Tries a matrix product before it is trusted: some BLAS builds compute wrongly on CPUs newer than they are
// (OpenMathLib/OpenBLAS issues 2914 and 3152), and serial ones without locks do so when threads meet in them (2126).
//
// The matrices hold small integers, so every partial sum is exact in f32 and any order of terms gives the same
// result: the comparison is for equality.
#include "core/blas.h"
#include "core/team.h"

#include <math.h>
#include <stdlib.h>

enum {
  MAX_SIDE = 208,
  MAX_DEPTH = 400,
  PAD = 8, // leading dimensions are longer than rows; what lies between must stay
  SIDE = MAX_SIDE + PAD,
  THREADS = 3
};

static const struct {
  int m, n, k;
} shapes[] = {{1, 1, 1},       {1, 7, 3},       {5, 1, 64},    {3, 17, 29},
              {16, 16, 16},    {33, 31, 65},    {64, 64, 128}, {63, 65, 127},
              {97, 50, 201},   {192, 192, 192}, {1, 200, 48},  {192, 176, 32},
              {205, 191, 399}, {208, 208, 400}, {128, 1, 255}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

struct trial {
  rt_sgemm_fn sgemm;
  float *a, *b, *c;
  bool wrong;
};

// Integers in [-8, 8], a fixed sequence.
static void fill(float *x, size_t n, uint32_t seed) {
  for (size_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u; // Numerical Recipes, 2nd ed., section 7.1
    x[i] = (float)((int)((seed >> 16) % 17u) - 8);
  }
}

static double plain_product(const struct trial *t, bool trans, int k, int i, int j) {
  double sum = 0;
  for (int l = 0; l < k; l++)
    sum += (double)(trans ? t->a[l * SIDE + i] : t->a[i * (MAX_DEPTH + PAD) + l]) *
           (double)t->b[l * SIDE + j];
  return sum;
}

// C = A B (+ C0), every element or, where there are many, a sample that meets each row and column.
static bool product_is_right(const struct trial *t, bool trans, int m, int n, int k,
                             bool add) {
  for (int i = 0; i < (m + 1) * SIDE; i++)
    t->c[i] = add ? 3.0f : NAN;
  t->sgemm(BLAS_ROW_MAJOR, trans ? BLAS_TRANS : BLAS_NO_TRANS, BLAS_NO_TRANS, m, n, k,
           1.0f, t->a, trans ? SIDE : MAX_DEPTH + PAD, t->b, SIDE, add ? 1.0f : 0.0f,
           t->c, SIDE);
  int step = m * n > 4096 ? 13 : 1;
  for (int i = 0; i < m; i++) {
    for (int j = i % step; j < n; j += step)
      if ((double)t->c[i * SIDE + j] != plain_product(t, trans, k, i, j) + (add ? 3 : 0))
        return false;
    for (int j = n; j < n + PAD; j++)
      if (add ? t->c[i * SIDE + j] != 3.0f : !isnan(t->c[i * SIDE + j]))
        return false;
  }
  return true;
}

static void try_shapes(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct trial *t = (struct trial *)ctx + item;
  for (uint32_t i = 0; i < N_SHAPES && !t->wrong; i++)
    for (int form = 0; form < 4; form++)
      t->wrong |=
          !product_is_right(t, form & 1, shapes[i].m, shapes[i].n, shapes[i].k, form & 2);
}

static bool trial_init(struct trial *t, rt_sgemm_fn sgemm, uint32_t seed) {
  size_t n_a = (size_t)(MAX_DEPTH + PAD) * (MAX_DEPTH + PAD);
  size_t n_b = (size_t)MAX_DEPTH * SIDE, n_c = (size_t)(MAX_SIDE + 1) * SIDE;
  float *all = malloc((n_a + n_b + n_c) * sizeof *all);
  *t = (struct trial){.sgemm = sgemm, .a = all};
  if (!all)
    return false;
  t->b = all + n_a;
  t->c = t->b + n_b;
  fill(t->a, n_a + n_b, seed);
  return true;
}

steprt_status rt_blas_check(rt_sgemm_fn sgemm) {
  struct trial trial[THREADS] = {0};
  struct rt_team *team = NULL;
  steprt_status status = rt_team_new(THREADS, &team);
  for (uint32_t i = 0; i < THREADS; i++)
    if (!trial_init(&trial[i], sgemm, i + 1))
      status = STEPRT_NO_MEMORY;
  if (status == STEPRT_OK)
    rt_team_run(team, THREADS, try_shapes, trial);
  for (uint32_t i = 0; i < THREADS; i++) {
    if (trial[i].wrong)
      status = STEPRT_BAD_INPUT;
    free(trial[i].a);
  }
  rt_team_free(team);
  return status;
}
