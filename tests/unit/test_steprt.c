// Steps of a program made by hand: values, the same bits for any thread count, clip, skip, hypers, order of calls.
#include "core/binned.h"
#include "core/convert.h"
#include "device/cpu/exec.h"
#include "random.h"
#include "support/tiny_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <xmmintrin.h>

static steprt_status begin(struct tiny_run *r) {
  const struct steprt_step step = {.size = sizeof step,
                                   .grads = (const void *const *)r->grad};
  return steprt_begin(r->rt, &step);
}

static struct steprt_report report(const struct tiny_run *r) {
  struct steprt_report report = {.size = sizeof report};
  cr_assert_eq(steprt_report(r->rt, &report), STEPRT_OK);
  return report;
}

static float grad_at(const struct tiny_run *r, int i, uint64_t k) {
  return i == TINY_BF16_GRAD ? rt_bf16_to_f32(((uint16_t *)r->grad[i])[k])
                             : ((float *)r->grad[i])[k];
}

static double norm_of(const struct tiny_run *r) {
  struct binned sum;
  binned_init(&sum);
  for (int i = 0; i < TINY_PARAMS; i++) {
    for (uint64_t k = 0; k < r->numel[i] && i != TINY_FROZEN; k++) {
      binned_add(&sum, (double)grad_at(r, i, k) * (double)grad_at(r, i, k));
    }
  }
  return sqrt(binned_value(&sum));
}

Test(steprt, states_by_name) {
  struct tiny_run r;
  uint64_t bytes = 0;
  tiny_run_new(&r, tiny_sizes, 1, 1);
  tiny_run_step(&r);
  cr_assert_not_null(steprt_state(r.rt, 0, "m", &bytes));
  cr_assert_eq(bytes, r.numel[0] * 4);
  cr_assert_neq(steprt_state(r.rt, 0, "seed", NULL), steprt_state(r.rt, 0, "m", NULL));
  cr_assert_null(steprt_state(r.rt, 0, "u", NULL)); // a temp
  cr_assert_null(steprt_state(r.rt, TINY_FROZEN, "m", NULL));
  cr_assert_null(steprt_state(r.rt, TINY_PARAMS, "m", NULL));
  cr_assert_null(steprt_state(r.rt, 0, NULL, NULL));
  cr_assert_null(steprt_state(NULL, 0, "m", NULL));
  tiny_run_free(&r);
}

Test(steprt, two_steps_give_the_values_of_the_rule) {
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 2, 1);
  float first = ((float *)r.param[0])[777], expected = first, m = 0;
  steprt_set_hyper(r.rt, steprt_hyper(r.rt, "", "max_norm"), 0.5);
  float clip = (float)(0.5 / (norm_of(&r) + 1e-6));
  double decay = 1, half = 1;
  for (int step = 1; step <= 2; step++) {
    decay = 0.9 * decay;
    half = half * 0.5;
    float rate = (float)(0.1 * half / (1 - decay) / step);
    m = 0.9f * m + clip * grad_at(&r, 0, 777);
    expected = expected - rate * m;
    tiny_run_step(&r);
    cr_assert_eq(((float *)r.param[0])[777], expected, "step %d", step);
    cr_assert_eq(((float *)tiny_run_state(&r, 0, 0))[777], m);
    cr_assert_eq(((float *)tiny_run_state(&r, 0, 1))[777], first); // init param
    cr_assert_eq(steprt_host_state(r.rt, 0, 0), decay);
    cr_assert_eq(steprt_host_state(r.rt, 1, 1), half); // once per step for the whole line
    cr_assert_eq(steprt_count(r.rt, 0), (uint64_t)step);
  }
  struct steprt_report done = report(&r);
  cr_assert_eq(done.grad_norm, norm_of(&r));
  cr_assert_eq(done.clip_factor, (double)clip);
  uint64_t all = r.numel[0] + r.numel[1];
  cr_assert_eq(done.bytes_moved, all * (4 + 16 + 12) + r.numel[3] * (2 + 14 + 12));
  cr_assert(done.seconds > 0 && done.map_seconds > 0 && done.matrix_seconds == 0);
  tiny_run_free(&r);
}

Test(steprt, the_clip_bound_is_softened) {
  struct tiny_run r;
  tiny_run_new(&r, (uint64_t[]){1, 0, 0, 0}, 1, 15);
  *(float *)r.grad[0] = 0x1p-20f;
  steprt_set_hyper(r.rt, TINY_CLIP, 0x1p-21);
  tiny_run_step(&r);
  cr_assert_eq(report(&r).clip_factor, (double)(float)(0x1p-21 / (0x1p-20 + 1e-6)));
  tiny_run_free(&r);
}

Test(steprt, parameters_of_one_rule_with_other_counts_have_other_scalars) {
  struct tiny_run a, b;
  tiny_run_new(&a, tiny_sizes, 1, 16);
  tiny_run_new(&b, tiny_sizes, 1, 16);
  cr_assert_eq(steprt_set_count(b.rt, TINY_BF16_GRAD, 9), STEPRT_OK);
  tiny_run_step(&a);
  tiny_run_step(&b);
  cr_assert_eq(steprt_count(b.rt, TINY_BF16_GRAD), 10);
  cr_assert_arr_eq(a.param[1], b.param[1], a.numel[1] * 4);
  cr_assert_neq(((float *)a.param[TINY_BF16_GRAD])[0],
                ((float *)b.param[TINY_BF16_GRAD])[0]);
  tiny_run_free(&a);
  tiny_run_free(&b);
}

Test(steprt, bits_do_not_depend_on_threads) {
  struct tiny_run one;
  tiny_run_new(&one, tiny_sizes, 1, 2);
  steprt_set_hyper(one.rt, TINY_CLIP, 0.7);
  for (int step = 0; step < 3; step++) {
    tiny_run_step(&one);
  }
  for (uint32_t threads = 2; threads <= 7; threads++) {
    struct tiny_run many;
    tiny_run_new(&many, tiny_sizes, threads, 2);
    steprt_set_hyper(many.rt, TINY_CLIP, 0.7);
    for (int step = 0; step < 3; step++) {
      tiny_run_step(&many);
    }
    tiny_run_compare(&one, &many);
    tiny_run_free(&many);
  }
  tiny_run_free(&one);
}

Test(steprt, bits_do_not_depend_on_the_callers_floating_point_mode) {
  struct tiny_run plain, flushed;
  tiny_run_new(&plain, tiny_sizes, 2, 3);
  tiny_run_new(&flushed, tiny_sizes, 2, 3);
  for (uint64_t k = 0; k < plain.numel[0]; k++) {
    ((float *)plain.grad[0])[k] = ((float *)flushed.grad[0])[k] =
        ldexpf((float)(k + 1), -149); // denormal
  }
  tiny_run_step(&plain);
  unsigned before = _mm_getcsr(),
           strange = 0xffc0u; // flush, denormals are zero, toward zero
  _mm_setcsr(strange);
  tiny_run_step(&flushed);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  cr_assert_eq(after & 0xffc0u, strange);
  tiny_run_compare(&plain, &flushed);
  cr_assert_neq(((float *)tiny_run_state(&plain, 0, 0))[3], 0);
  tiny_run_free(&plain);
  tiny_run_free(&flushed);
}

Test(steprt, a_null_gradient_takes_no_part) {
  struct tiny_run with, without;
  tiny_run_new(&with, tiny_sizes, 2, 4);
  tiny_run_new(&without, tiny_sizes, 2, 4);
  void *kept = without.grad[1];
  without.grad[1] = NULL;
  tiny_run_step(&with);
  tiny_run_step(&without);
  cr_assert_eq(steprt_count(without.rt, 1), 0);
  cr_assert_eq(steprt_count(without.rt, 0), 1);
  cr_assert_eq(steprt_host_state(without.rt, 1, 0), 1.0); // its own
  cr_assert_eq(steprt_host_state(without.rt, 1, 1), 0.5); // its line's
  cr_assert_eq(((float *)tiny_run_state(&without, 1, 0))[5], 0);
  cr_assert_arr_eq(without.param[1], tiny_run_state(&without, 1, 1),
                   without.numel[1] * 4);
  without.grad[1] = kept;
  tiny_run_step(&without);
  tiny_run_step(&with);
  cr_assert_eq(steprt_count(without.rt, 1),
               1); // its first step: no memoised value of step 2
  cr_assert_eq(steprt_host_state(without.rt, 1, 0), 0.9);
  cr_assert_eq(steprt_host_state(with.rt, 1, 0), 0.9 * 0.9);
  cr_assert_neq(((float *)with.param[1])[0], ((float *)without.param[1])[0]);
  tiny_run_free(&with);
  tiny_run_free(&without);
}

Test(steprt, a_group_state_rests_when_no_parameter_takes_part) {
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 2, 5);
  void *kept[TINY_PARAMS];
  memcpy(kept, r.grad, sizeof kept);
  memset(r.grad, 0, sizeof r.grad);
  uint64_t before = tiny_run_hash(&r);
  tiny_run_step(&r);
  cr_assert_eq(tiny_run_hash(&r), before);
  cr_assert_eq(report(&r).bytes_moved, 0);
  cr_assert_eq(report(&r).skipped, 0);
  memcpy(r.grad, kept, sizeof kept);
  tiny_run_free(&r);
}

Test(steprt, a_nonfinite_element_anywhere_skips_the_step) {
  static const float values[] = {NAN, INFINITY, -INFINITY};
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 2, 6);
  tiny_run_step(&r);
  uint64_t before = tiny_run_hash(&r);
  for (int i = 0; i < 3; i++) {
    uint64_t at[] = {0, 65536 + 17, r.numel[0] - 1};
    float *grad = r.grad[0], kept = grad[at[i]];
    grad[at[i]] = values[i];
    tiny_run_step(&r);
    cr_assert_eq(report(&r).skipped, 1);
    cr_assert_eq(tiny_run_hash(&r), before);
    grad[at[i]] = kept;
  }
  uint16_t *half = r.grad[TINY_BF16_GRAD], kept = half[69999];
  half[69999] = 0x7fc1;
  tiny_run_step(&r);
  cr_assert_eq(report(&r).skipped, 1);
  cr_assert_eq(tiny_run_hash(&r), before);
  half[69999] = kept;
  ((float *)r.grad[TINY_FROZEN])[3] = NAN; // has no share
  tiny_run_step(&r);
  cr_assert_eq(report(&r).skipped, 0);
  tiny_run_free(&r);
}

Test(steprt, without_skip_a_nan_propagates) {
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 2, 7);
  r.tiny.program.skips_nonfinite = false;
  ((float *)r.grad[1])[3] = NAN;
  tiny_run_step(&r);
  cr_assert(isnan(report(&r).grad_norm) && isnan(report(&r).clip_factor));
  cr_assert(isnan(((float *)r.param[0])[0]));
  tiny_run_free(&r);
}

Test(steprt, hypers_are_found_by_label_and_name) {
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 1, 8);
  cr_assert_eq(steprt_hyper(r.rt, "tiny", "lr"), TINY_LR);
  cr_assert_eq(steprt_hyper(r.rt, NULL, "max_norm"), TINY_CLIP);
  cr_assert_eq(steprt_hyper(r.rt, "", "lr"), -1);
  cr_assert_eq(steprt_hyper(r.rt, "tiny", "nothing"), -1);
  cr_assert_eq(steprt_get_hyper(r.rt, TINY_LR), 0.1);
  cr_assert_eq(steprt_get_hyper(r.rt, TINY_TWICE), 0.2); // bound
  cr_assert_eq(steprt_set_hyper(r.rt, TINY_LR, 0.3), STEPRT_OK);
  cr_assert_eq(steprt_get_hyper(r.rt, TINY_TWICE), 0.6);
  cr_assert(isnan(steprt_get_hyper(r.rt, 99)));
  cr_assert_eq(steprt_set_hyper(r.rt, 99, 1), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_set_hyper(r.rt, TINY_TWICE, 1), STEPRT_BAD_ARGUMENT);
  cr_assert_str_eq(steprt_error(r.rt),
                   "tiny.twice follows from other hypers and cannot be set");
  tiny_run_free(&r);
}

Test(steprt, begin_refuses_hypers_out_of_range_and_changes_nothing) {
  static const struct {
    int32_t hyper;
    double value;
    const char *text;
  } rows[] = {
      {TINY_LR, -0.5, "tiny.lr = -0.5 is outside [0, 1]"},
      {TINY_BETA, 1, "tiny.beta = 1 is outside [0, 1)"},
      {TINY_BETA, (double)NAN, "tiny.beta = nan is outside [0, 1)"},
      {TINY_LR, 0.9, "tiny.twice = 1.8 is outside [0, 1.5]"}, // bound to lr
      {TINY_CLIP, (double)NAN, "max_norm is not a number"},
      {TINY_CLIP, -1, "clip global_norm = -1 is not 0 or more"},
  };
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 2, 9);
  uint64_t before = tiny_run_hash(&r);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double kept = steprt_get_hyper(r.rt, rows[i].hyper);
    steprt_set_hyper(r.rt, rows[i].hyper, rows[i].value);
    cr_assert_eq(begin(&r), STEPRT_RANGE, "row %zu", i);
    cr_assert_str_eq(steprt_error(r.rt), rows[i].text);
    cr_assert_eq(tiny_run_hash(&r), before);
    steprt_set_hyper(r.rt, rows[i].hyper, kept);
  }
  tiny_run_step(&r); // the handle is as good as before
  tiny_run_free(&r);
}

Test(steprt, hypers_set_inside_a_step_wait_for_the_next) {
  struct tiny_run a, b;
  tiny_run_new(&a, tiny_sizes, 2, 10);
  tiny_run_new(&b, tiny_sizes, 2, 10);
  tiny_run_step(&a);
  cr_assert_eq(begin(&b), STEPRT_OK);
  steprt_set_hyper(b.rt, TINY_LR, 0.7);
  steprt_set_hyper(b.rt, TINY_CLIP, 0);
  cr_assert_eq(steprt_run(b.rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_end(b.rt), STEPRT_OK);
  cr_assert_eq(steprt_wait_all(b.rt), STEPRT_OK);
  tiny_run_compare(&a, &b);
  tiny_run_free(&a);
  tiny_run_free(&b);
}

Test(steprt, calls_out_of_order_are_refused) {
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 1, 11);
  cr_assert_eq(steprt_bind(r.rt, r.param), STEPRT_BAD_STATE);
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_BAD_STATE);
  cr_assert_eq(steprt_end(r.rt), STEPRT_BAD_STATE);
  cr_assert_str_eq(steprt_error(r.rt), "end: parameters are bound and no step is open");
  cr_assert_eq(begin(&r), STEPRT_OK);
  cr_assert_eq(begin(&r), STEPRT_BAD_STATE);
  cr_assert_eq(steprt_end(r.rt), STEPRT_BAD_STATE);
  cr_assert_str_eq(steprt_error(r.rt), "end: unit 0 ('w') has not run; 3 are left out");
  cr_assert_eq(steprt_set_count(r.rt, 0, 5), STEPRT_BAD_STATE);
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_BAD_STATE);
  cr_assert_eq(steprt_end(r.rt), STEPRT_OK);
  tiny_run_free(&r);
}

Test(steprt, counts_and_host_states_can_be_restored) {
  struct tiny_run a, b;
  tiny_run_new(&a, tiny_sizes, 2, 12);
  tiny_run_step(&a);
  tiny_run_new(&b, tiny_sizes, 2, 12);
  for (uint32_t i = 0; i < TINY_PARAMS; i++) {
    memcpy(b.param[i], a.param[i], a.numel[i] * 4);
    if (i == TINY_FROZEN) {
      continue;
    }
    memcpy(tiny_run_state(&b, i, 0), tiny_run_state(&a, i, 0), a.numel[i] * 4);
    cr_assert_eq(steprt_set_count(b.rt, i, steprt_count(a.rt, i)), STEPRT_OK);
    for (uint32_t s = 0; s < 2; s++) {
      cr_assert_eq(steprt_set_host_state(b.rt, i, s, steprt_host_state(a.rt, i, s)),
                   STEPRT_OK);
    }
  }
  tiny_run_step(&a);
  tiny_run_step(&b);
  tiny_run_compare(&a, &b);
  cr_assert_eq(steprt_set_host_state(b.rt, 0, 2, 0), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_set_count(b.rt, TINY_FROZEN, 0), STEPRT_BAD_ARGUMENT);
  tiny_run_free(&a);
  tiny_run_free(&b);
}

Test(steprt, addresses_are_checked) {
  struct tiny t;
  struct steprt *rt;
  char *memory = calloc(1 << 20, 1);
  tiny_make(&t, (uint64_t[]){8, 8, 8, 8});
  cr_assert_eq(steprt_open(&t.program, NULL, &rt), STEPRT_OK);
  void *param[] = {memory, NULL, NULL, memory + 64};
  cr_assert_eq(steprt_bind(rt, param), STEPRT_BAD_ARGUMENT);
  cr_assert_str_eq(steprt_error(rt), "parameter 'v' has no address");
  param[1] = memory + 129;
  cr_assert_eq(steprt_bind(rt, param), STEPRT_BAD_ARGUMENT);
  param[1] = memory + 128;
  cr_assert_eq(steprt_bind(rt, NULL), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_bind(rt, param), STEPRT_OK);
  const void *grad[] = {memory + 256, memory + 512, NULL, memory + 771};
  struct steprt_step step = {.size = sizeof step, .grads = grad};
  cr_assert_eq(steprt_begin(rt, &step), STEPRT_BAD_ARGUMENT);
  cr_assert(strstr(steprt_error(rt), "gradient of 'h'"));
  step.grads = NULL;
  cr_assert_eq(steprt_begin(rt, &step), STEPRT_BAD_ARGUMENT);
  steprt_destroy(rt);
  free(memory);
}

Test(steprt, structs_are_versioned) {
  struct tiny t;
  struct steprt *rt;
  tiny_make(&t, (uint64_t[]){8, 8, 8, 8});
  struct {
    struct steprt_options o;
    uint64_t later;
  } newer = {.o = {.size = sizeof newer, .threads = 1}};
  cr_assert_eq(steprt_open(&t.program, &newer.o, &rt), STEPRT_OK);
  struct steprt_report old = {.size = offsetof(struct steprt_report, clip_factor),
                              .clip_factor = 42};
  cr_assert_eq(steprt_report(rt, &old), STEPRT_OK);
  cr_assert_eq(old.clip_factor, 42);
  steprt_destroy(rt);
  newer.later = 1;
  cr_assert_eq(steprt_open(&t.program, &newer.o, &rt), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_bind(rt, NULL), STEPRT_BAD_STATE);
  cr_assert(strstr(steprt_error(rt), "does not know"));
  steprt_destroy(rt);
  newer.o.size = 0;
  cr_assert_eq(steprt_open(&t.program, &newer.o, &rt), STEPRT_BAD_ARGUMENT);
  steprt_destroy(rt);
}

Test(steprt, zero_elements_and_no_parameters_are_legal) {
  struct tiny_run r;
  tiny_run_new(&r, (uint64_t[]){0, 3, 0, 0}, 2, 13);
  tiny_run_step(&r);
  cr_assert_eq(steprt_count(r.rt, 0), 1);
  tiny_run_free(&r);
  struct steprt_program empty = {
      .version = RT_PROGRAM_VERSION, .target = "cpu", .digest = "empty"};
  static struct tiny_plan plan;
  tiny_plan_make(&plan, &empty, &(struct tiny_plan_options){0});
  empty.plan = &plan.plan;
  struct steprt *rt;
  cr_assert_eq(steprt_open(&empty, NULL, &rt), STEPRT_OK, "%s", steprt_error(rt));
  void *none[1] = {NULL};
  cr_assert_eq(steprt_bind(rt, none), STEPRT_OK);
  struct steprt_step step = {.size = sizeof step, .grads = (const void *const *)none};
  cr_assert_eq(steprt_begin(rt, &step), STEPRT_OK);
  cr_assert_eq(steprt_run(rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_end(rt), STEPRT_OK);
  steprt_destroy(rt);
}

Test(steprt, null_handles_are_harmless) {
  steprt_destroy(NULL);
  cr_assert_str_eq(steprt_error(NULL), "");
  cr_assert_eq(steprt_run(NULL, NULL), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_hyper(NULL, "", "lr"), -1);
  cr_assert_eq(steprt_open(NULL, NULL, NULL), STEPRT_BAD_ARGUMENT);
}

// m := beta m + clip grad; u := m. o := orthogonalize(u). param := param - rate * o.
Test(steprt, a_matrix_operation_runs_between_its_maps) {
  enum { ROWS = 24, COLS = 40, NUMEL = ROWS * COLS };
  static const double abc[2][3] = {{1.5, -0.5, 0}, {1.5, -0.5, 0}};
  static const uint32_t temps[] = {RT_F32, RT_F32};
  const struct rt_iteration it = {.name = "two",
                                  .norm = RT_NORM_FROBENIUS,
                                  .safety = 1,
                                  .compute = RT_F32,
                                  .n_steps = 2,
                                  .abc = abc};
  static struct tiny t;
  tiny_make(&t, (uint64_t[]){2 * NUMEL, 5, 1, 1});
  const struct rt_tensor operands[] = {{RT_TENSOR_TEMP, 0, RT_F32, true, false},
                                       {RT_TENSOR_TEMP, 1, RT_F32, false, true}};
  struct rt_tensor updated[] = {t.tensor[1][5], operands[1]};
  const struct rt_phase phase[] = {
      t.phase[1][1],
      {RT_PHASE_ORTHO, 0, operands, 2, NULL},
      {RT_PHASE_MAP, TINY_UPDATE, updated, 2, t.update_scalar}};
  t.rule[1].phase = phase;
  t.rule[1].n_phases = 3;
  t.rule[1].temp = temps;
  t.rule[1].n_temps = 2;
  t.rule[1].rows = ROWS;
  t.rule[1].cols = COLS;
  t.program.iteration = &it;
  t.program.n_iterations = 1;
  tiny_plan_make(&t.plan, &t.program, &(struct tiny_plan_options){.host = true});
  static float param[2 * NUMEL], grad[2 * NUMEL], other[5], other_h[1], expected[NUMEL];
  uint64_t seed = 14;
  for (int i = 0; i < 2 * NUMEL; i++) {
    grad[i] = (float)random_normal(&seed);
  }
  struct steprt *rt;
  cr_assert_eq(steprt_open(&t.program, NULL, &rt), STEPRT_OK, "%s", steprt_error(rt));
  cr_assert_eq(steprt_bind(rt, (void *[]){param, other, NULL, other_h}), STEPRT_OK);
  const struct steprt_step step = {.size = sizeof step,
                                   .grads = (const void *[]){grad, NULL, NULL, NULL}};
  cr_assert_eq(steprt_begin(rt, &step), STEPRT_OK);
  cr_assert_eq(steprt_run(rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_end(rt), STEPRT_OK);
  cr_assert_eq(steprt_wait_all(rt), STEPRT_OK);
  struct rt_matrices matrices = {grad + NUMEL, RT_F32, expected, 1, ROWS, COLS};
  rt_ortho(rt->device->blas, rt->device->team, &it, &matrices,
           rt->device->scratch); // u = grad at step 1
  float rate = (float)(0.1 * 0.5 / (1 - 0.9));
  for (int i = 0; i < NUMEL; i++) {
    cr_assert_eq(param[NUMEL + i], 0 - rate * expected[i], "%d", i);
  }
  struct steprt_report done = {.size = sizeof done};
  steprt_report(rt, &done);
  cr_assert_gt(done.matrix_seconds, 0);
  steprt_destroy(rt);
}
