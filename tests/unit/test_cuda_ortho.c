// The kernels around an orthogonalize's products, compiled by the host's compiler, against plain loops in double.
#include "cuda_shim.h"

#include "core/binned.h"
#include "core/convert.h"
#include "device/cuda/ortho_int.h"
#include "emit/cuda_ortho.h"
#include "plan/work.h"
#include "random.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { ROWS = 37, COLS = 53, LD = 56, MATRICES = 2, NUMEL = ROWS * COLS, SIDE = 40 };

static const struct cuda_ortho sets[] = {{ST_F32, ST_BF16, true, true},
                                         {ST_F32, ST_BF16, false, true},
                                         {ST_BF16, ST_BF16, false, true},
                                         {ST_F32, ST_F32, false, true}};
enum { N_SETS = sizeof sets / sizeof sets[0] };

struct fixture {
  struct arena *arena;
  const struct cuda_ortho *set;
  struct cuda_kernel kernel[RT_N_ORTHO_KERNELS];
  struct cuda_shim shim;
  float value[MATRICES * NUMEL]; // of the operand
  unsigned char operand[MATRICES * NUMEL * 4], x[MATRICES * ROWS * LD * 4];
  struct binned parts[MATRICES * 8];
};

static void put(void *to, enum storage s, uint64_t i, float x) {
  if (s == ST_BF16) {
    ((uint16_t *)to)[i] = rt_f32_to_bf16(x);
  } else {
    ((float *)to)[i] = x;
  }
}

static float get(const void *from, enum storage s, uint64_t i) {
  return s == ST_BF16 ? rt_bf16_to_f32(((const uint16_t *)from)[i])
                      : ((const float *)from)[i];
}

static float rounded(enum storage s, float x) {
  return s == ST_BF16 ? rt_bf16_to_f32(rt_f32_to_bf16(x)) : x;
}

static struct fixture *open_set(const struct cuda_ortho *set, float size) {
  struct arena *a = arena_new(0);
  struct fixture *f = ARENA_NEW(a, struct fixture);
  struct str ice;
  uint64_t seed = 7;
  *f = (struct fixture){.arena = a, .set = set};
  struct cuda_writer w = cuda_shim_writer(a, &ice);
  cr_assert_eq(cuda_ortho_kernels(&w, set, f->kernel), RT_N_ORTHO_KERNELS);
  f->shim = cuda_shim_build(a, f->kernel, RT_N_ORTHO_KERNELS);
  for (uint32_t i = 0; i < MATRICES * NUMEL; i++) {
    // The second matrix is zero.
    float x = i / NUMEL == 1 ? 0 : (float)random_normal(&seed) * size;
    f->value[i] = rounded(set->operand, x);
    put(f->operand, set->operand, i, x);
  }
  return f;
}

static void close_set(struct fixture *f) {
  cuda_shim_free(&f->shim);
  arena_free(f->arena);
}

static void *function(struct fixture *f, enum rt_ortho_kernel k) {
  const char *name = str_cstr(f->arena, f->kernel[k].name);
  void *found = dlsym(f->shim.library, name);
  cr_assert_not_null(found, "%s", name);
  return found;
}

// `together`: the threads of a block meet at barriers.
static void launch(struct fixture *f, unsigned blocks, bool together,
                   void (*body)(void *), void *ctx) {
  unsigned *row = dlsym(f->shim.library, "shim_row");
  cr_assert_not_null(row);
  for (*row = 0; *row < MATRICES; ++*row) {
    cr_assert(f->shim.launch(blocks, 256, together, body, ctx));
  }
}

struct call {
  struct fixture *f;
  void *function;
  unsigned n_parts, by_power;
  double safety, floor, eps;
  const float *gram;
  float *factor;
  void *out;
};

static void call_norm(void *ctx) {
  const struct call *c = ctx;
  void (*fn)(const void *, unsigned long long, void *);
  memcpy(&fn, &c->function, sizeof fn);
  fn(c->f->operand, NUMEL, c->f->parts);
}

static void call_scale(void *ctx) {
  const struct call *c = ctx;
  void (*fn)(const void *, unsigned long long, unsigned long long, unsigned long long,
             const void *, unsigned, double, double, double, unsigned, void *);
  memcpy(&fn, &c->function, sizeof fn);
  fn(c->f->operand, ROWS, COLS, LD, c->f->parts, c->n_parts, c->safety, c->floor, c->eps,
     c->by_power, c->f->x);
}

static void call_factor(void *ctx) {
  const struct call *c = ctx;
  void (*fn)(const float *, unsigned long long, unsigned long long, const void *,
             unsigned, double, float *);
  memcpy(&fn, &c->function, sizeof fn);
  fn(c->gram, ROWS, SIDE, c->f->parts, c->n_parts, c->floor, c->factor);
}

static void call_rescale(void *ctx) {
  const struct call *c = ctx;
  void (*fn)(const float *, unsigned long long, unsigned long long, unsigned long long,
             void *);
  memcpy(&fn, &c->function, sizeof fn);
  fn(c->factor, ROWS, COLS, LD, c->f->x);
}

static void call_finish(void *ctx) {
  const struct call *c = ctx;
  void (*fn)(void *, unsigned long long, unsigned long long, unsigned long long,
             const void *);
  memcpy(&fn, &c->function, sizeof fn);
  fn(c->out, ROWS, COLS, LD, c->f->x);
}

static void run_scale(struct fixture *f, struct call *c) {
  c->f = f;
  c->function = function(f, RT_ORTHO_NORM);
  launch(f, c->n_parts, true, call_norm, c);
  c->function = function(f, RT_ORTHO_SCALE);
  launch(f, 1, true, call_scale, c);
}

static double norm_of(const struct fixture *f, uint32_t matrix) {
  struct binned sum;
  binned_init(&sum);
  for (uint32_t i = 0; i < NUMEL; i++) {
    float x = f->value[matrix * NUMEL + i];
    x = f->set->cast_first ? rounded(f->set->compute, x) : x;
    binned_add_squares_f32(&sum, &x, 1);
  }
  return sqrt(binned_value(&sum));
}

static void expect_scaled(struct fixture *f, const struct call *c) {
  for (uint32_t i = 0; i < MATRICES * NUMEL; i++) {
    uint32_t matrix = i / NUMEL, row = i % NUMEL / COLS, col = i % COLS;
    double n = norm_of(f, matrix), by = fmax(c->safety * n, c->floor) + c->eps;
    double scale = n == 0 ? 0 : c->by_power ? ldexp(1, -ilogb(n)) : 1 / by;
    float x = f->value[i];
    x = f->set->cast_first ? rounded(f->set->compute, x) : x;
    float want = rounded(f->set->compute, (float)((double)x * scale));
    float got = get(f->x, f->set->compute, (matrix * ROWS + row) * LD + col);
    cr_assert_eq(want, got, "matrix %u row %u col %u: %a, not %a", matrix, row, col,
                 (double)got, (double)want);
    if (col == 0 && row == 0) {
      i += NUMEL / 7; // the norm above is slow: a few places of each matrix
    }
    i += 97;
  }
}

Test(cuda_ortho, operands_are_divided_by_their_guarded_norm_whatever_the_parts) {
  for (uint32_t s = 0; s < N_SETS; s++) {
    for (unsigned parts = s == 0 ? 1 : 3; parts < 4; parts += 2) {
      struct fixture *f = open_set(&sets[s], parts == 1 ? 1 : 1e-3f);
      struct call c = {.n_parts = parts, .safety = 1.01, .floor = 1e-15, .eps = 1e-7};
      run_scale(f, &c);
      expect_scaled(f, &c);
      close_set(f);
    }
  }
}

Test(cuda_ortho, results_go_back_without_their_padding) {
  struct fixture *f = open_set(&sets[0], 1);
  struct call c = {.n_parts = 2, .safety = 1, .eps = 1e-7};
  static uint16_t out[MATRICES * NUMEL];
  run_scale(f, &c);
  c.function = function(f, RT_ORTHO_FINISH);
  c.out = out;
  launch(f, 3, false, call_finish, &c);
  for (uint32_t i = 0; i < MATRICES * NUMEL; i++) {
    uint16_t x;
    memcpy(&x, f->x + 2 * ((uint64_t)(i / COLS) * LD + i % COLS), sizeof x);
    cr_assert_eq(out[i], x, "element %u", i);
  }
  close_set(f);
}

// Rows of a Gram matrix: 1 / sqrt of the sum of magnitudes, guarded by a floor in the scale of the power of two.
Test(cuda_ortho, factors_of_aol_scale_rows) {
  static float gram[MATRICES * ROWS * SIDE], factor[MATRICES * ROWS];
  static float before[MATRICES * ROWS * LD];
  struct fixture *f = open_set(&sets[3], 3);
  struct call c = {.n_parts = 4, .by_power = 1, .floor = 1e-7, .gram = gram};
  uint64_t seed = 3;
  c.factor = factor;
  for (uint32_t i = 0; i < MATRICES * ROWS; i++) {
    for (uint32_t j = 0; j < ROWS; j++) { // symmetric; of the zero matrix zero
      uint32_t row = i % ROWS, matrix = i / ROWS;
      uint64_t mirror = (uint64_t)(matrix * ROWS + j) * SIDE + row;
      gram[(uint64_t)i * SIDE + j] = matrix == 1 ? 0
                                     : j < row   ? gram[mirror]
                                                 : (float)random_normal(&seed);
    }
  }
  run_scale(f, &c);
  expect_scaled(f, &c);
  memcpy(before, f->x, sizeof before);
  c.function = function(f, RT_ORTHO_FACTOR);
  launch(f, 2, true, call_factor, &c);
  c.function = function(f, RT_ORTHO_RESCALE);
  launch(f, 2, false, call_rescale, &c);
  for (uint32_t i = 0; i < MATRICES * ROWS; i++) {
    double sum = 0, n = norm_of(f, i / ROWS);
    for (uint32_t j = 0; j < ROWS; j++) {
      sum += fabs((double)gram[(uint64_t)i * SIDE + j]);
    }
    double by = n > 0 ? ldexp(1, -ilogb(n)) : 1;
    sum = fmax(sum, c.floor * by * by);
    float want = (float)(1 / sqrt(sum));
    cr_expect_eq(factor[i], want, "row %u: %a, not %a", i, (double)factor[i],
                 (double)want);
    for (uint32_t j = 0; j < COLS; j++) {
      uint64_t at = (uint64_t)i * LD + j;
      cr_assert_eq(get(f->x, ST_F32, at), before[at] * want);
    }
  }
  close_set(f);
}

// No array of a call's workspace reaches into the next, however small the matrices: AOL's kernels read parts and Gram
// matrices while they write factors.
Test(cuda_ortho, workspaces_do_not_overlap) {
  for (uint32_t i = 0; i < 2 * 40 * 40 * 4; i++) {
    uint32_t compute = i % 2 ? RT_F32 : RT_BF16;
    const struct rt_iteration it = {.compute = compute};
    uint64_t rows = 1 + i / 2 % 40, cols = 1 + i / 80 % 40, n = 1 + i / 3200;
    struct lt_shape s = {.rows = rows,
                         .cols = cols,
                         .compute = compute,
                         .m = rows < cols ? rows : cols,
                         .k = rows < cols ? cols : rows};
    struct rt_cuda_ortho_call c = {.n = n, .work = 4096};
    struct ortho_layout l = ortho_lay_out(&s, &c);
    uint64_t side = rt_round_up(s.m, 8);
    cr_assert_leq(l.y + n * l.n_parts * RT_BINS_BYTES, l.factor);
    cr_assert_leq(l.factor + n * s.m * sizeof(float), l.a, "%llu of %llu x %llu",
                  (unsigned long long)n, (unsigned long long)rows,
                  (unsigned long long)cols);
    cr_assert_leq(l.a + n * side * side * sizeof(float), l.work);
    cr_assert_leq(l.work + LT_WORK_BYTES, 4096 + rt_ortho_work(true, &it, rows, cols, n));
  }
}
