// Newton-Schulz on the CPU: accuracy against double, same bits for any team and batch, special values.
#include "core/binned.h"
#include "core/convert.h"
#include "core/ortho.h"
#include "core/team.h"
#include "ortho_reference.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double jordan_steps[5][3] = {{3.4445, -4.7750, 2.0315},
                                          {3.4445, -4.7750, 2.0315},
                                          {3.4445, -4.7750, 2.0315},
                                          {3.4445, -4.7750, 2.0315},
                                          {3.4445, -4.7750, 2.0315}};
static const double polar_steps[5][3] = {
    {8.156554524902461, -22.48329292557795, 15.878769915207462},
    {4.042929935166739, -2.808917465908714, 0.5000178451051316},
    {3.8916678022926607, -2.772484153217685, 0.5060648178503393},
    {3.285753657755655, -2.3681294933425376, 0.46449024233003106},
    {2.3465413258596377, -1.7097828382687081, 0.42323551169305323}};
static const double cubic_steps[3][3] = {
    {2.5744352, -1.4957376, 0}, {2.5368962, -1.4312570, 0}, {1.5, -0.5, 0}};
static const double aol_steps[4][3] = {{4.6051, -9.6552, 5.6769},
                                       {4.7505, -6.0861, 2.1790},
                                       {2.7763, -2.3190, 0.5523},
                                       {2.4231, -2.2861, 0.8193}};

enum { JORDAN, POLAR, CUBIC, AOL, IN_F32, JORDAN_F32, CUBIC_F32, AOL_F32, N_ITERATIONS };
static const struct rt_iteration iterations[N_ITERATIONS] = {
    {"jordan", RT_NORM_FROBENIUS, false, 1, 1e-7, 0, RT_BF16, 5, jordan_steps},
    {"polar", RT_NORM_FROBENIUS, false, 1.02, 1e-6, 0, RT_BF16, 5, polar_steps},
    {"cubic", RT_NORM_FROBENIUS, false, 1, 0, 0, RT_BF16, 3, cubic_steps},
    {"aol", RT_NORM_AOL, false, 1, 0, 0, RT_BF16, 4, aol_steps},
    {"in f32", RT_NORM_FROBENIUS, true, 1, 0, 1e-15, RT_BF16, 5, jordan_steps},
    {"jordan f32", RT_NORM_FROBENIUS, false, 1, 1e-7, 0, RT_F32, 5, jordan_steps},
    {"cubic f32", RT_NORM_FROBENIUS, false, 1, 0, 0, RT_F32, 3, cubic_steps},
    {"aol f32", RT_NORM_AOL, false, 1, 0, 0, RT_F32, 4, aol_steps}};

static const uint64_t shapes[][2] = {{1, 1},     {1, 40},   {40, 1},  {2, 2},
                                     {3, 5},     {17, 17},  {16, 64}, {129, 33},
                                     {200, 290}, {250, 210}};
enum {
  N_SHAPES = sizeof shapes / sizeof shapes[0],
  N_LARGE = 2 // the last: several blocks a side; not for every iteration, they take long
};

static struct rt_blas *blas;

static void open_blas(void) {
  char why[1024];
  cr_assert_eq(rt_blas_open(&blas, why, sizeof why), STEPRT_OK, "%s", why);
}

static void close_blas(void) {
  rt_blas_close(blas);
}

TestSuite(ortho, .init = open_blas, .fini = close_blas);

// Gaussian values by Box and Muller over a linear congruential generator.
static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
  return ((double)(*seed >> 11) + 0.5) * 0x1p-53;
}

static void fill_gauss(double *x, uint64_t n, uint64_t seed) {
  for (uint64_t i = 0; i < n; i++) {
    x[i] = sqrt(-2 * log(uniform(&seed))) * cos(6.283185307179586 * uniform(&seed));
  }
}

static void narrow(void *to, uint32_t storage, const double *x, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    if (storage == RT_BF16) {
      ((uint16_t *)to)[i] = rt_f32_to_bf16((float)x[i]);
    } else {
      ((float *)to)[i] = (float)x[i];
    }
  }
}

static void widen(double *x, uint32_t storage, const void *from, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    x[i] = storage == RT_BF16 ? (double)rt_bf16_to_f32(((const uint16_t *)from)[i])
                              : (double)((const float *)from)[i];
  }
}

// Runs rt_ortho on doubles, which are rounded to the operand's storage in place.
static void ortho(const struct rt_iteration *it, uint32_t threads, double *in,
                  uint64_t batch, uint64_t rows, uint64_t cols, double *out) {
  uint64_t n = batch * rows * cols;
  uint32_t in_storage = it->norm_in_f32 ? RT_F32 : it->compute;
  struct rt_team *team;
  cr_assert_eq(rt_team_new(threads, &team), STEPRT_OK);
  size_t scratch_bytes = rt_ortho_scratch(it, rows, cols, threads);
  char *scratch = malloc(scratch_bytes + 1);
  void *a = malloc(n * sizeof(float)), *b = malloc(n * sizeof(float));
  cr_assert(scratch && a && b);
  memset(scratch, 0x7f, scratch_bytes + 1); // stale scratch must not matter
  narrow(a, in_storage, in, n);
  struct rt_matrices m = {a, in_storage, b, batch, rows, cols};
  rt_ortho(blas, team, it, &m, scratch);
  cr_assert_eq(scratch[scratch_bytes], 0x7f);
  widen(in, in_storage, a, n);
  widen(out, it->compute, b, n);
  free(a);
  free(b);
  free(scratch);
  rt_team_free(team);
}

static double *doubles(uint64_t n) {
  double *x = calloc(n, sizeof *x);
  cr_assert(x);
  return x;
}

struct errors {
  double ours, plain;
};

static struct errors measure(const struct rt_iteration *it, uint64_t rows, uint64_t cols,
                             uint64_t seed) {
  uint64_t n = rows * cols;
  double *in = doubles(4 * n), *out = in + n, *exact = out + n, *plain = exact + n;
  fill_gauss(in, n, seed);
  ortho(it, 2, in, 1, rows, cols, out);
  reference_double(it, in, rows, cols, exact);
  reference_bf16(it, in, rows, cols, plain);
  struct errors e = {reference_error(out, exact, n), reference_error(plain, exact, n)};
  free(in);
  return e;
}

// Few singular values meet few roundings, whose errors may cancel by luck: there the mean square of many operands
// is compared.
Test(ortho, error_is_near_that_of_plain_bf16) {
  for (int k = 0; k < N_ITERATIONS; k++) {
    for (int s = 0; s < N_SHAPES; s++) {
      const struct rt_iteration *it = &iterations[k];
      uint64_t rows = shapes[s][0], cols = shapes[s][1];
      if (s >= N_SHAPES - N_LARGE && k % 3 != 0) { // jordan, aol, cubic f32
        continue;
      }
      int trials = rows < 8 || cols < 8 ? 60 : 1;
      double ours = 0, plain = 0;
      for (int i = 0; i < trials; i++) {
        struct errors e = measure(it, rows, cols, (uint64_t)(11 + s + 100 * i));
        ours += e.ours * e.ours / trials;
        plain += e.plain * e.plain / trials;
      }
      double bound = it->compute == RT_BF16 ? 1.5 * sqrt(plain) : 2e-5;
      cr_expect_leq(sqrt(ours), bound, "%s %lu x %lu: %g, bound %g", it->name, rows, cols,
                    sqrt(ours), bound);
      cr_log_info("%s %lu x %lu: %g of plain\n", it->name, rows, cols,
                  sqrt(ours / plain));
    }
  }
}

Test(ortho, bits_do_not_depend_on_threads_or_batch) {
  static const uint64_t batch_shapes[][2] = {{24, 40}, {210, 200}, {288, 920}};
  for (int k = 0; k < N_ITERATIONS; k++) {
    for (int s = 0; s < 3; s++) {
      const struct rt_iteration *it = &iterations[k];
      uint64_t rows = batch_shapes[s][0], cols = batch_shapes[s][1], n = rows * cols;
      uint64_t batch = s == 2 ? 2 : 4;
      if (s > 0 && k % 3 != 0) { // jordan, aol, cubic f32
        continue;
      }
      double *in = doubles(2 * batch * n + 2 * n), *once = in + batch * n,
             *one = once + batch * n, *alone = one + n;
      fill_gauss(in, batch * n, 5);
      ortho(it, 1, in, batch, rows, cols, once);
      for (uint64_t i = 0; i < batch; i++) { // in another place, by other teams
        memcpy(one, in + i * n, n * sizeof *one);
        ortho(it, (uint32_t)i + 1, one, 1, rows, cols, alone);
        cr_expect_arr_eq(alone, once + i * n, n * sizeof *one, "%s %lu x %lu, matrix %lu",
                         it->name, rows, cols, i);
      }
      double *again = doubles(batch * n);
      ortho(it, 3, in, batch, rows, cols, again);
      cr_expect_arr_eq(again, once, batch * n * sizeof *once, "%s", it->name);
      free(again);
      free(in);
    }
  }
}

Test(ortho, bits_do_not_depend_on_the_callers_rounding) {
  enum { ROWS = 40, COLS = 30, N = ROWS * COLS };
  double in[N], plain[N], upward[N];
  for (uint32_t i = 0; i < N_ITERATIONS; i++) {
    fill_gauss(in, N, i + 1);
    ortho(&iterations[i], 2, in, 1, ROWS, COLS, plain);
    fesetround(FE_UPWARD);
    ortho(&iterations[i], 2, in, 1, ROWS, COLS, upward);
    int after = fegetround();
    fesetround(FE_TONEAREST);
    cr_assert_eq(after, FE_UPWARD);
    cr_assert_arr_eq(plain, upward, sizeof plain, "%s", iterations[i].name);
  }
}

Test(ortho, wide_and_tall_agree) {
  uint64_t rows = 50, cols = 230, n = rows * cols;
  double *in = doubles(4 * n), *turned = in + n, *wide = turned + n, *tall = wide + n;
  fill_gauss(in, n, 3);
  for (uint64_t i = 0; i < n; i++) {
    turned[i % cols * rows + i / cols] = in[i];
  }
  for (int k = 0; k < N_ITERATIONS; k++) {
    ortho(&iterations[k], 2, in, 1, rows, cols, wide);
    ortho(&iterations[k], 2, turned, 1, cols, rows, tall);
    for (uint64_t i = 0; i < n; i++) {
      cr_assert_eq(wide[i], tall[i % cols * rows + i / cols], "%s", iterations[k].name);
    }
  }
  free(in);
}

Test(ortho, zero_gives_zero) {
  for (int k = 0; k < N_ITERATIONS; k++) {
    double in[12 * 20] = {0}, out[12 * 20];
    ortho(&iterations[k], 2, in, 1, 12, 20, out);
    for (int i = 0; i < 12 * 20; i++) {
      cr_assert_eq(out[i], 0, "%s", iterations[k].name);
    }
  }
}

Test(ortho, nan_and_inf_propagate) {
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < N_ITERATIONS; k++) {
    for (int b = 0; b < 3; b++) {
      double in[9 * 14], out[9 * 14];
      fill_gauss(in, 9 * 14, 2);
      in[5 * 14 + 3] = bad[b];
      ortho(&iterations[k], 2, in, 1, 9, 14, out);
      for (int i = 0; i < 9 * 14; i++) {
        cr_assert(isnan(out[i]), "%s with %g: element %d is %g", iterations[k].name,
                  bad[b], i, out[i]);
      }
    }
  }
}

// One singular value, s = 1 after normalization, goes through the scalar map; jordan takes 1 to about 0.7.
Test(ortho, rank_one_follows_the_scalar_map) {
  double u[30], v[70], in[30 * 70], out[30 * 70], exact[30 * 70];
  fill_gauss(u, 30, 8);
  fill_gauss(v, 70, 9);
  for (int i = 0; i < 30 * 70; i++) {
    in[i] = u[i / 70] * v[i % 70];
  }
  for (int k = 0; k < N_ITERATIONS; k++) {
    if (iterations[k].compute != RT_F32) {
      continue;
    }
    ortho(&iterations[k], 2, in, 1, 30, 70, out);
    reference_double(&iterations[k], in, 30, 70, exact);
    cr_expect_lt(reference_error(out, exact, 30 * 70), 1e-4, "%s", iterations[k].name);
  }
  double s = 1;
  for (int i = 0; i < 5; i++) {
    s = s * (3.4445 + s * s * (-4.7750 + s * s * 2.0315));
  }
  ortho(&iterations[JORDAN_F32], 1, in, 1, 30, 70, out);
  double norm = 0;
  for (int i = 0; i < 30 * 70; i++) {
    norm += out[i] * out[i];
  }
  cr_expect_float_eq(sqrt(norm), s, 1e-4);
}

// Without a guard the result does not depend on the size of the operand: powers of two change no bit, out to where
// sums of squares leave f32.
Test(ortho, huge_and_tiny_operands) {
  static const int kinds[] = {CUBIC, AOL, CUBIC_F32, AOL_F32};
  uint64_t n = 20 * 31;
  double *in = doubles(4 * n), *scaled = in + n, *out = scaled + n, *same = out + n;
  fill_gauss(in, n, 4);
  for (int k = 0; k < 4; k++) {
    for (int e = -110; e <= 120; e += 46) {
      const struct rt_iteration *it = &iterations[kinds[k]];
      for (uint64_t i = 0; i < n; i++) {
        in[i] = (double)rt_bf16_to_f32(rt_f32_to_bf16((float)in[i]));
        scaled[i] = ldexp(in[i], e);
      }
      ortho(it, 2, in, 1, 20, 31, out);
      ortho(it, 2, scaled, 1, 20, 31, same);
      cr_expect_arr_eq(out, same, n * sizeof *out, "%s, 2^%d", it->name, e);
    }
  }
  free(in);
}

// An f32 operand of a bf16 iteration is rounded first, so it may be rounded before it comes.
Test(ortho, f32_operand_is_cast) {
  uint64_t rows = 21, cols = 33, n = rows * cols;
  static double in[21 * 33];
  static float wide[21 * 33];
  static uint16_t cast[21 * 33], out[21 * 33], same[21 * 33];
  struct rt_team *team;
  cr_assert_eq(rt_team_new(2, &team), STEPRT_OK);
  fill_gauss(in, n, 6);
  narrow(wide, RT_F32, in, n);
  narrow(cast, RT_BF16, in, n);
  for (int k = 0; k < N_ITERATIONS; k++) {
    const struct rt_iteration *it = &iterations[k];
    if (it->compute != RT_BF16) {
      continue;
    }
    void *scratch = malloc(rt_ortho_scratch(it, rows, cols, 2));
    rt_ortho(blas, team, it, &(struct rt_matrices){wide, RT_F32, out, 1, rows, cols},
             scratch);
    rt_ortho(blas, team, it, &(struct rt_matrices){cast, RT_BF16, same, 1, rows, cols},
             scratch);
    cr_expect_eq(memcmp(out, same, sizeof out) == 0, !it->norm_in_f32, "%s", it->name);
    free(scratch);
  }
  rt_team_free(team);
}

Test(ortho, empty_matrix_is_left_alone) {
  struct rt_team *team;
  cr_assert_eq(rt_team_new(2, &team), STEPRT_OK);
  cr_expect_eq(rt_ortho_scratch(&iterations[JORDAN], 0, 5, 2), 0);
  struct rt_matrices flat = {.batch = 1, .cols = 5}, none = {.rows = 5, .cols = 5};
  rt_ortho(blas, team, &iterations[JORDAN], &flat, NULL);
  rt_ortho(blas, team, &iterations[JORDAN], &none, NULL);
  rt_team_free(team);
}
