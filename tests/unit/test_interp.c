// The interpreter: closed forms, singular values under an iteration, and bounds that hold for f32.
#include "ir/interp.h"
#include "random.h"
#include "support/ir_eval.h"
#include "support/ir_random.h"
#include "support/ir_text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define FOLDER "tests/data/ir/"

static struct ir *read_ir(struct ir_text *t, const char *name) {
  struct str text;
  cr_assert(golden_read(t->arena, str_fmt(t->arena, FOLDER "%s.ir", name).p, &text));
  return ir_text_parse(t, text);
}

// Parameter, gradient and states of a rule, zero states, random values.
struct tensors {
  struct interp_tensor param, grad, state[4];
  double *param0, *state0[4];
  uint64_t n;
};

static struct interp_tensor zeros(struct arena *a, uint64_t n) {
  return (struct interp_tensor){ARENA_ARRAY(a, double, n), ARENA_ARRAY(a, double, n)};
}

static struct tensors make_tensors(struct arena *a, const struct ir *ir, uint64_t seed) {
  struct tensors t = {.n = shape_numel(&ir->shape)};
  t.param = zeros(a, t.n);
  t.grad = zeros(a, t.n);
  t.param0 = ARENA_ARRAY(a, double, t.n);
  for (uint64_t i = 0; i < t.n; i++) {
    t.param0[i] = t.param.value[i] = (double)(float)random_normal(&seed);
    t.grad.value[i] = (double)(float)random_normal(&seed);
  }
  for (uint32_t i = 0; i < ir->n_states; i++) {
    t.state[i] = zeros(a, cls_count(ir->state[i].cls, &ir->shape));
  }
  return t;
}

static void run(struct arena *a, const struct ir *ir, struct tensors *t,
                const double *hyper, double step) {
  struct interp_io io = {.hyper = hyper,
                         .step = step,
                         .clip = 1,
                         .grad = &t->grad,
                         .param = &t->param,
                         .state = t->state};
  interp_run(a, ir, &io);
}

static bool near(double x, double y, double relative) {
  return fabs(x - y) <= relative * (fabs(x) + fabs(y)) + 1e-300;
}

Test(interp, first_step_of_adamw) {
  struct ir_text text = ir_text_new();
  struct ir *ir = read_ir(&text, "adamw");
  ir->shape = (struct shape){2, {7, 41}};
  struct tensors t = make_tensors(text.arena, ir, 1);
  const double lr = 1e-3, b1 = 0.9, b2 = 0.999, eps = 1e-8, wd = 0.1;
  run(text.arena, ir, &t, (double[]){lr, b1, b2, eps, wd}, 1);
  for (uint64_t i = 0; i < t.n; i++) {
    double g = t.grad.value[i];
    double want = t.param0[i] * (1 - lr * wd) - lr * g / (fabs(g) + eps);
    cr_assert(near(t.param.value[i], want, 1e-14), "%g %g", t.param.value[i], want);
    cr_assert(near(t.state[0].value[i], (1 - b1) * g, 1e-14));
    cr_assert(near(t.state[1].value[i], (1 - b2) * g * g, 1e-14));
    cr_assert(t.param.bound[i] > 0 && t.param.bound[i] < 1e-6);
  }
  ir_text_free(&text);
}

// After k steps with one gradient, m = (1 - b1^k) g and v = (1 - b2^k) g^2: the corrections take both back.
Test(interp, ten_steps_of_adamw_with_one_gradient) {
  struct ir_text text = ir_text_new();
  struct ir *ir = read_ir(&text, "adamw");
  ir->shape = (struct shape){1, {300}};
  struct tensors t = make_tensors(text.arena, ir, 2);
  const double lr = 1e-3, eps = 1e-8;
  for (int k = 1; k <= 10; k++) {
    run(text.arena, ir, &t, (double[]){lr, 0.9, 0.999, eps, 0}, k);
  }
  for (uint64_t i = 0; i < t.n; i++) {
    double g = t.grad.value[i];
    double want = t.param0[i] - 10 * lr * g / (fabs(g) + eps);
    cr_assert(near(t.param.value[i], want, 1e-12));
    cr_assert(near(t.state[0].value[i], (1 - pow(0.9, 10)) * g, 1e-12));
  }
  ir_text_free(&text);
}

// m + lr sign of an interpolation: next to a change of sign nothing is known.
Test(interp, lion_and_its_signs) {
  struct ir_text text = ir_text_new();
  struct ir *ir = read_ir(&text, "lion");
  ir->shape = (struct shape){1, {4}};
  struct tensors t = make_tensors(text.arena, ir, 3);
  const double lr = 0.25, b1 = 0.9, b2 = 0.99;
  memcpy(t.grad.value, (double[]){2, -1, 0, 1}, 4 * sizeof(double));
  memcpy(t.state[0].value, (double[]){1, 1, 0, -1.0 / 9}, 4 * sizeof(double));
  run(text.arena, ir, &t, (double[]){lr, b1, b2, 0}, 1);
  static const double sign[] = {1, 1, 0};
  for (uint64_t i = 0; i < 3; i++) {
    cr_assert(near(t.param.value[i], t.param0[i] - lr * sign[i], 1e-15));
    cr_assert_lt(t.param.bound[i], 1e-6);
  }
  cr_assert_eq(t.param.bound[3], INFINITY, "0.9 m + 0.1 g is 0 but for rounding");
  cr_assert(near(t.state[0].value[1], 0.99 * 1 + 0.01 * -1, 1e-14));
  ir_text_free(&text);
}

Test(interp, sgd_is_exact_where_f32_is) {
  struct ir_text text = ir_text_new();
  struct ir *ir = read_ir(&text, "sgd");
  ir->shape = (struct shape){1, {2}};
  struct tensors t = make_tensors(text.arena, ir, 4);
  memcpy(t.param.value, (double[]){1, 0x1p24}, 2 * sizeof(double));
  memcpy(t.grad.value, (double[]){0.5, 2}, 2 * sizeof(double));
  run(text.arena, ir, &t, (double[]){0.5}, 1);
  cr_assert_eq(t.param.value[0], 0.75);
  cr_assert_eq(t.param.bound[0], 0);
  cr_assert_eq(t.param.value[1], 0x1p24 - 1);
  cr_assert_eq(t.param.bound[1], 0);
  ir_text_free(&text);
}

// ---- iterations

#define ITERATIONS                                                                       \
  "iteration classic frobenius safety 0 eps 1 floor 0 f32 standard\n"                    \
  "  iter 3.4445 -4.775 2.0315 repeat 5\n"                                               \
  "iteration you5 frobenius safety 0 eps 1 floor 0 f32 standard\n"                       \
  "  iter 4.0848 -6.8946 2.927\n  iter 3.9505 -6.3029 2.6377\n"                          \
  "  iter 3.7418 -5.5913 2.3037\n  iter 2.8769 -3.1427 1.2046\n"                         \
  "  iter 2.8366 -3.0525 1.2012\n"                                                       \
  "iteration polar_modded frobenius safety 0 eps 1 floor 0 f32 standard\n"               \
  "  iter 8.156554524902461 -22.48329292557795 15.878769915207462\n"                     \
  "  iter 4.042929935166739 -2.808917465908714 0.5000178451051316\n"                     \
  "  iter 3.8916678022926607 -2.772484153217685 0.5060648178503393\n"                    \
  "  iter 3.285753657755655 -2.3681294933425376 0.46449024233003106\n"                   \
  "  iter 2.3465413258596377 -1.7097828382687081 0.42323551169305323\n"                  \
  "iteration cubic5 frobenius safety 0 eps 1 floor 0 f32 standard\n"                     \
  "  iter 3.3656576 -3.3420992 0\n  iter 2.5744352 -1.4957376 0\n"                       \
  "  iter 2.5368962 -1.431257 0\n  iter 2.4418906 -1.276404 0\n"                         \
  "  iter 2.2230472 -0.963065 0\n"                                                       \
  "iteration pade frobenius safety 0 eps 1 floor 0 f32 standard\n"                       \
  "  iter 1.875 -1.25 0.375 repeat 5\n"                                                  \
  "iteration deepseek frobenius safety 0 eps 1 floor 0 f32 standard\n"                   \
  "  iter 3.4445 -4.775 2.0315 repeat 8\n  iter 2 -1.5 0.5 repeat 2\n"

// Singular values in [low, 1] go to [least, most]: from the iterations' papers and repositories, computed in float64.
static const struct image {
  const char *name;
  double low, least, most;
} ranges[] = {
    {"classic", 1e-3, .4705, 1.2024},      {"classic", 1e-2, .6818, 1.1344},
    {"you5", 1e-3, .4750, 1.1450},         {"you5", 1e-2, .9778, 1.0318},
    {"polar_modded", 1e-3, .8589, 1.1411}, {"cubic5", 1e-3, .1191, 1.3000},
    {"cubic5", 1e-2, .7741, 1.3000},       {"pade", 1e-3, .0232, 1},
    {"deepseek", 1e-3, 1.0000, 1.0005},
};

// A stack of diagonal matrices rows x cols through orthogonalize; `s` holds min(rows, cols) values for each.
static const double *diagonals(struct ir_text *t, const char *iteration,
                               struct shape shape, const double *s) {
  uint64_t rows = shape_rows(&shape), cols = shape_cols(&shape);
  uint64_t least = rows < cols ? rows : cols;
  struct str text =
      str_fmt(t->arena,
              "ir msign\nshape [2, 3]\nparam f32\ngrad f32\n" ITERATIONS
              "update\n  %%g = grad.f32 elem\n  %%o = orthogonalize.f32 elem %s, %%g\n"
              "  set_param elem %%o\n",
              iteration);
  struct ir *ir = ir_text_parse(t, text);
  ir->shape = shape;
  struct tensors x = make_tensors(t->arena, ir, 1);
  memset(x.grad.value, 0, x.n * sizeof(double));
  for (uint64_t b = 0; b < shape_batch(&shape); b++) {
    for (uint64_t i = 0; i < least; i++) {
      x.grad.value[b * rows * cols + i * cols + i] = s[b * least + i];
    }
  }
  run(t->arena, ir, &x, NULL, 1);
  double *out = ARENA_ARRAY(t->arena, double, shape_batch(&shape) * least);
  for (uint64_t b = 0; b < shape_batch(&shape); b++) {
    for (uint64_t i = 0; i < least; i++) {
      out[b * least + i] = x.param.value[b * rows * cols + i * cols + i];
    }
  }
  cr_assert_eq(x.param.bound[0], INFINITY);
  return out;
}

Test(interp, iterations_map_singular_values_into_their_ranges) {
  enum { BATCH = 400, SIDE = 10, N = BATCH * SIDE };
  for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
    struct ir_text t = ir_text_new();
    double *s = ARENA_ARRAY(t.arena, double, N);
    for (int i = 0; i < N; i++) {
      s[i] = exp(log(ranges[r].low) * (1 - (double)i / (N - 1)));
    }
    struct shape shape = {3, {BATCH, SIDE, r % 2 == 0 ? SIDE : SIDE + 2}};
    const double *out = diagonals(&t, ranges[r].name, shape, s);
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < N; i++) {
      least = fmin(least, out[i]);
      most = fmax(most, out[i]);
    }
    cr_expect(fabs(least - ranges[r].least) < 1e-4, "%s: least %.5f", ranges[r].name,
              least);
    cr_expect(fabs(most - ranges[r].most) < 1e-4, "%s: most %.5f", ranges[r].name, most);
    ir_text_free(&t);
  }
}

static struct ir *msign(struct ir_text *t, const char *normalize, struct shape shape) {
  struct ir *ir = ir_text_parse(
      t, str_fmt(t->arena,
                 "ir msign\nshape [2, 3]\nparam f32\ngrad f32\niteration ns %s f32 "
                 "standard\n  iter 1.875 -1.25 0.375 repeat 30\nupdate\n"
                 "  %%g = grad.f32 elem\n  %%o = orthogonalize.f32 elem ns, %%g\n"
                 "  set_param elem %%o\n",
                 normalize));
  ir->shape = shape;
  return ir;
}

// The limit is the polar factor: rows (or columns) are orthonormal, whatever the scale of the input.
Test(interp, iterations_orthogonalize) {
  static const char *const normalize[] = {"frobenius safety 1.01 eps 1e-7 floor 0",
                                          "frobenius safety 1 eps 0 floor 1e-7 in_f32",
                                          "aol safety 1 eps 0 floor 1e-15"};
  static const struct shape shape[] = {
      {2, {3, 5}}, {2, {5, 3}}, {2, {4, 4}}, {3, {2, 3, 6}}};
  for (int k = 0; k < 12; k++) {
    struct ir_text t = ir_text_new();
    struct ir *ir = msign(&t, normalize[k % 3], shape[k / 3]);
    struct tensors x = make_tensors(t.arena, ir, (uint64_t)k);
    run(t.arena, ir, &x, NULL, 1);
    uint64_t rows = shape_rows(&ir->shape), cols = shape_cols(&ir->shape);
    bool wide = rows <= cols;
    uint64_t least = wide ? rows : cols, most = wide ? cols : rows;
    uint64_t step_i = wide ? cols : 1, step_k = wide ? 1 : cols;
    for (uint64_t i = 0; i < least; i++) {
      for (uint64_t j = 0; j < least; j++) {
        double dot = 0;
        for (uint64_t m = 0; m < most; m++) {
          dot += x.param.value[i * step_i + m * step_k] *
                 x.param.value[j * step_i + m * step_k];
        }
        cr_expect(fabs(dot - (i == j)) < 1e-9, "%d: %g at %d, %d", k, dot, (int)i,
                  (int)j);
      }
    }
    ir_text_free(&t);
  }
}

Test(interp, zero_matrices_stay_zero) {
  static const char *const normalize[] = {"frobenius safety 1 eps 0 floor 0",
                                          "aol safety 1 eps 0 floor 0"};
  for (int k = 0; k < 2; k++) {
    struct ir_text t = ir_text_new();
    struct ir *ir = msign(&t, normalize[k], (struct shape){2, {3, 4}});
    struct tensors x = make_tensors(t.arena, ir, 1);
    memset(x.grad.value, 0, x.n * sizeof(double));
    run(t.arena, ir, &x, NULL, 1);
    for (uint64_t i = 0; i < x.n; i++) {
      cr_assert_eq(x.param.value[i], 0);
    }
    ir_text_free(&t);
  }
}

// ---- bounds

static struct interp_tensor with_bounds(struct arena *a, double *value, uint64_t n) {
  return (struct interp_tensor){value, ARENA_ARRAY(a, double, n + 1)};
}

static bool within(const struct interp_tensor *t, const double *f32, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    bool nan = isnan(t->value[i]) && isnan(f32[i]);
    bool same = nan || t->value[i] == f32[i] || isinf(t->bound[i]);
    if (!same && !(fabs(t->value[i] - f32[i]) <= t->bound[i])) {
      return false;
    }
  }
  return true;
}

static bool has_iteration(const struct ir *ir) {
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    if (ir->ins.v[i].op == IR_ORTHO) {
      return true;
    }
  }
  return false;
}

// Random IR, run with f32 arithmetic and by the interpreter: every value is within its bound.
Test(interp, bounds_hold) {
  uint64_t n_values = 0, n_bounded = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    struct arena *a = arena_new(0);
    struct ir *ir = ir_random(a, seed, 10 + (uint32_t)(seed % 40));
    struct ir_tensors t = ir_tensors_random(a, ir, seed);
    struct ir_tensors d = ir_tensors_copy(a, ir, &t);
    uint64_t n = shape_numel(&ir->shape);
    struct interp_tensor param = with_bounds(a, d.param, n), grad = {d.grad, NULL};
    struct interp_tensor state[4], input[2] = {{d.input[0], NULL}, {d.input[1], NULL}};
    for (uint32_t i = 0; i < 4; i++) {
      state[i] = with_bounds(a, d.state[i], cls_count(ir->state[i].cls, &ir->shape));
    }
    struct interp_io io = {d.hyper, d.step, d.clip, &grad, &param, state, input};
    interp_run(a, ir, &io);
    ir_eval(a, ir, &t);
    struct str text = ir_print(a, ir);
    if (!has_iteration(ir)) {
      cr_assert(within(&param, t.param, n), "seed %llu, param:\n%.*s",
                (unsigned long long)seed, STR_FMT(text));
      for (uint32_t i = 0; i < 3; i++) {
        uint64_t count = cls_count(ir->state[i].cls, &ir->shape);
        cr_assert(within(&state[i], t.state[i], count), "seed %llu, state %u:\n%.*s",
                  (unsigned long long)seed, i, STR_FMT(text));
      }
    }
    for (uint64_t i = 0; i < n; i++) {
      n_values++;
      n_bounded += isfinite(param.bound[i]) ? 1 : 0;
    }
    arena_free(a);
  }
  cr_assert_gt(n_bounded * 2, n_values, "bounds are of use: %llu of %llu",
               (unsigned long long)n_bounded, (unsigned long long)n_values);
}
