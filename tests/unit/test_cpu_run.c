// Whole jobs through libsteprt: the same bits for any number of threads and any vector width (L1), states that begin
// as their `init` says, host states, bound hypers, clip.
#include "cpu_job.h"

#include "random.h"
#include "steprt.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct job_param_spec gpt[] = {
    {"wte.weight", ST_F32, ST_F32, MATRIX(70000, 3), false},
    {"h.0.ln_1.weight", ST_F32, ST_BF16, VECTOR(65), false},
    {"h.0.attn.c_attn.weight", ST_F32, ST_F32, MATRIX(64, 192), false},
    {"h.0.attn.c_proj.weight", ST_BF16, ST_BF16, MATRIX(33, 64), false},
    {"h.0.mlp.c_fc.weight", ST_F32, ST_BF16, {3, {2, 64, 31}}, false},
    {"empty", ST_F32, ST_F32, MATRIX(0, 8), false},
};
enum { MAX_PARAMS = 8 };

// A job with data: parameters, and gradients that a seed gives.
struct run {
  struct cpu_job job;
  struct cpu_program *code;
  const struct steprt_program *program;
  struct steprt *rt;
  void *param[MAX_PARAMS], *grad[MAX_PARAMS];
};

static size_t grad_bytes(const struct run *r, uint32_t i) {
  const struct rt_param *p = &r->program->param[i];
  return p->active ? p->numel * rt_storage_bytes(p->grad) : 0;
}

static size_t param_bytes(const struct run *r, uint32_t i) {
  const struct rt_param *p = &r->program->param[i];
  return p->numel * rt_storage_bytes(p->storage);
}

static void fill(void *tensor, size_t bytes, uint32_t storage, uint64_t *seed) {
  for (size_t i = 0; i < bytes / rt_storage_bytes(storage); i++) {
    float x = (float)(0.1 * random_normal(seed));
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (storage == RT_F32) {
      ((float *)tensor)[i] = x;
    } else {
      ((uint16_t *)tensor)[i] = (uint16_t)(bits >> 16);
    }
  }
}

static struct run run_open(struct cpu_job job, const char *cpu, uint32_t threads) {
  struct run r = {.job = job};
  r.code = cpu_job_compile(&r.job, cpu);
  cr_assert(r.code != NULL, "%s", cpu_job_said(&r.job));
  r.program = cpu_program_step(r.code);
  struct steprt_options options = {.size = sizeof options, .threads = threads};
  steprt_status s = steprt_open(r.program, &options, &r.rt);
  cr_assert_eq(s, STEPRT_OK, "%s", r.rt != NULL ? steprt_error(r.rt) : "open");
  uint64_t seed = 1;
  for (uint32_t i = 0; i < r.program->n_params; i++) {
    r.param[i] = calloc(param_bytes(&r, i) + 64, 1);
    r.grad[i] = calloc(grad_bytes(&r, i) + 64, 1);
    fill(r.param[i], param_bytes(&r, i), r.program->param[i].storage, &seed);
  }
  s = steprt_bind(r.rt, r.param);
  cr_assert_eq(s, STEPRT_OK, "%s", steprt_error(r.rt));
  return r;
}

static void run_step(struct run *r, uint64_t seed) {
  for (uint32_t i = 0; i < r->program->n_params; i++) {
    if (!r->program->param[i].active) {
      continue;
    }
    fill(r->grad[i], grad_bytes(r, i), r->program->param[i].grad, &seed);
  }
  struct steprt_step step = {.size = sizeof step, .grads = (const void *const *)r->grad};
  cr_assert_eq(steprt_begin(r->rt, &step), STEPRT_OK, "%s", steprt_error(r->rt));
  cr_assert_eq(steprt_run(r->rt, NULL), STEPRT_OK, "%s", steprt_error(r->rt));
  cr_assert_eq(steprt_end(r->rt), STEPRT_OK, "%s", steprt_error(r->rt));
  cr_assert_eq(steprt_wait_all(r->rt), STEPRT_OK, "%s", steprt_error(r->rt));
}

static void run_close(struct run *r) {
  steprt_destroy(r->rt);
  for (uint32_t i = 0; i < r->program->n_params; i++) {
    free(r->param[i]);
    free(r->grad[i]);
  }
  cpu_program_free(r->code);
  cpu_job_close(&r->job);
}

// ---- L1

static struct run run_gpt(const char *cpu, uint32_t threads) {
  uint32_t n = sizeof gpt / sizeof gpt[0];
  struct run r = run_open(cpu_job_open("specs/gpt.opt", NULL, "", gpt, n), cpu, threads);
  for (uint64_t step = 0; step < 3; step++) {
    run_step(&r, 100 + step);
  }
  return r;
}

static void expect_same(const struct run *a, const struct run *b, const char *what) {
  for (uint32_t i = 0; i < a->program->n_params; i++) {
    cr_expect(memcmp(a->param[i], b->param[i], param_bytes(a, i)) == 0, "%s: %s", what,
              a->program->param[i].name);
    const struct rt_plan_param *p = &a->program->plan->param[i];
    for (uint32_t s = p->first_state; s < p->first_state + p->n_states; s++) {
      const char *name = a->program->plan->state[s].name;
      uint64_t bytes;
      const void *x = steprt_state(a->rt, i, name, &bytes);
      cr_expect(memcmp(x, steprt_state(b->rt, i, name, NULL), bytes) == 0, "%s: state %s",
                what, name);
    }
  }
}

Test(cpu_run, bits_depend_on_neither_threads_nor_vectors) {
  struct run one = run_gpt("native", 1), two = run_gpt("native", 2);
  struct run five = run_gpt("x86-64-v3", 5), plain = run_gpt("x86-64", 1);
  expect_same(&one, &two, "2 threads");
  expect_same(&one, &five, "5 threads, AVX2");
  expect_same(&one, &plain, "SSE2");
  struct run *all[] = {&one, &two, &five, &plain};
  for (size_t i = 0; i < 4; i++) {
    run_close(all[i]);
  }
}

// ---- what begins as what

static const char initial[] = "spec 1\n"
                              "optimizer x {\n"
                              "  hyper lr : f32 = 0.25\n"
                              "  state slow : f32 like param init param\n"
                              "  state two  : bf16 like param init 2\n"
                              "  state k    : f32 init 3\n"
                              "  slow := slow + 1\n"
                              "  two := two + k\n"
                              "  k := k + 1\n"
                              "  param := slow + two * lr\n"
                              "}\n";

Test(cpu_run, states_begin_as_init_says) {
  static const struct job_param_spec p = {"w", ST_F32, ST_F32, VECTOR(77), false};
  struct run r = run_open(cpu_job_open("x.opt", initial, "", &p, 1), "native", 2);
  float *w = r.param[0], first[77];
  memcpy(first, w, sizeof first);
  run_step(&r, 1); // slow = w + 1, two = 2 + 3
  run_step(&r, 1); // slow = w + 1 + 1, two = 5 + 4
  for (int i = 0; i < 77; i++) {
    float slow = first[i] + 1;
    slow = slow + 1;
    cr_assert_eq(w[i], slow + 9 * 0.25f, "element %d", i);
  }
  cr_expect_eq(steprt_host_state(r.rt, 0, 0), 5);
  run_close(&r);
}

// ---- recipe hypers

static const char bound[] = "spec 1\n"
                            "optimizer x {\n"
                            "  hyper lr : f32 = 1\n"
                            "  param := param - lr * grad\n"
                            "}\n"
                            "recipe r {\n"
                            "  hyper base : f32 = 0.5\n"
                            "  hyper most : f32 = 4\n"
                            "  clip global_norm clamp(most, 1, 2)\n"
                            "  use x(lr = lerp(base, 1, 0.5) * 2)\n"
                            "}\n";

Test(cpu_run, bound_hypers_and_clip_follow_their_expressions) {
  static const struct job_param_spec p = {"w", ST_F32, ST_F32, VECTOR(16), false};
  struct run r = run_open(cpu_job_open("x.opt", bound, "", &p, 1), "native", 1);
  float *w = r.param[0], before[16];
  memcpy(before, w, sizeof before);
  cr_assert_eq(steprt_set_hyper(r.rt, steprt_hyper(r.rt, "", "most"), 0.001), STEPRT_OK);
  cr_assert_eq(steprt_set_hyper(r.rt, steprt_hyper(r.rt, "", "base"), 3), STEPRT_OK);
  run_step(&r, 5);
  struct steprt_report report = {.size = sizeof report};
  cr_assert_eq(steprt_report(r.rt, &report), STEPRT_OK);
  double factor = fmin(1, 1 / (report.grad_norm + 1e-6)); // clamp(0.001, 1, 2) = 1
  cr_expect_float_eq(report.clip_factor, factor, 1e-7);
  for (int i = 0; i < 16; i++) {
    float g = ((float *)r.grad[0])[i] * (float)factor;
    cr_assert_eq(w[i], before[i] - 4.0f * g, "element %d", i); // (3 + 0.5 (1 - 3)) 2 = 4
  }
  run_close(&r);
}

// ---- matrix phases

#define ORTHO_RULE(lines) ORTHO_RULE_IN("bf16", lines)
#define ORTHO_RULE_IN(compute, lines)                                                    \
  "spec 1\n"                                                                             \
  "optimizer x {\n"                                                                      \
  "  hyper lr   : f32 = 0.5\n"                                                           \
  "  hyper zero : f32 = 0\n"                                                             \
  "  state m    : bf16 like param\n"                                                     \
  "  require rank >= 2\n"                                                                \
  "  m := m + grad\n" lines "}\n"                                                        \
  "iteration it {\n"                                                                     \
  "  normalize frobenius eps 1e-7\n"                                                     \
  "  compute " compute "\n"                                                              \
  "  form auto\n"                                                                        \
  "  iter 1.5, -0.5, 0 repeat 3\n"                                                       \
  "}\n"

// The result of `it` goes into an iteration in f32.
#define CHAIN(line)                                                                      \
  ORTHO_RULE(line "  param := param - lr * orthogonalize(o, wide)\n")                    \
  "iteration wide {\n"                                                                   \
  "  normalize frobenius eps 1e-7\n"                                                     \
  "  compute f32\n"                                                                      \
  "  iter 1.5, -0.5, 0\n"                                                                \
  "}\n"

static const struct job_param_spec matrices[] = {
    {"a", ST_F32, ST_F32, MATRIX(16, 24), false},
    {"frozen", ST_F32, ST_F32, MATRIX(3, 3), true},
    {"b", ST_F32, ST_F32, {3, {2, 40, 8}}, false},
    {"c", ST_F32, ST_F32, MATRIX(5, 5), false},
};

static struct run run_ortho_on(const struct job_param_spec *params, uint32_t n,
                               const char *spec) {
  struct run r = run_open(cpu_job_open("x.opt", spec, "", params, n), "native", 2);
  run_step(&r, 1);
  run_step(&r, 2);
  return r;
}

static struct run run_ortho(const char *spec) {
  return run_ortho_on(matrices, 4, spec);
}

// The first reads its operand from the state, where it rests as the iteration wants it; the second through a temp.
Test(cpu_run, matrix_phases_read_states_where_they_rest) {
  struct run state =
      run_ortho(ORTHO_RULE("  param := param - lr * orthogonalize(m, it)\n"));
  struct run temp = run_ortho(
      ORTHO_RULE("  param := param - lr * orthogonalize(m + zero * grad, it)\n"));
  cr_expect_eq(state.program->rule[0].phase[1].tensor[0].kind, RT_TENSOR_STATE);
  cr_expect_eq(temp.program->rule[0].phase[1].tensor[0].kind, RT_TENSOR_TEMP);
  for (uint32_t i = 0; i < state.program->n_params; i++) {
    cr_expect(memcmp(state.param[i], temp.param[i], param_bytes(&state, i)) == 0);
  }
  run_close(&state);
  run_close(&temp);
}

// Gradients, states and results of a bf16 iteration rest in bf16; an iteration in f32 reads them there.
Test(cpu_run, iterations_in_f32_read_bf16) {
  static const struct job_param_spec narrow[] = {
      {"a", ST_BF16, ST_BF16, MATRIX(16, 24), false},
      {"b", ST_F32, ST_BF16, {3, {2, 40, 8}}, false},
  };
  static const char *const pair[][2] = {
      {ORTHO_RULE_IN("f32", "  param := param - lr * orthogonalize(grad, it)\n"),
       ORTHO_RULE_IN("f32",
                     "  param := param - lr * orthogonalize(grad + zero * m, it)\n")},
      {ORTHO_RULE_IN("f32", "  param := param - lr * orthogonalize(m, it)\n"),
       ORTHO_RULE_IN("f32",
                     "  param := param - lr * orthogonalize(m + zero * grad, it)\n")},
      {CHAIN("  let o = orthogonalize(m, it)\n"),
       CHAIN("  let o = orthogonalize(m, it) + zero * grad\n")},
  };
  for (size_t k = 0; k < sizeof pair / sizeof pair[0]; k++) {
    struct run bf16 = run_ortho_on(narrow, 2, pair[k][0]);
    struct run f32 = run_ortho_on(narrow, 2, pair[k][1]);
    for (uint32_t i = 0; i < 2; i++) {
      size_t bytes = param_bytes(&bf16, i);
      cr_expect(memcmp(bf16.param[i], f32.param[i], bytes) == 0, "pair %zu, %u", k, i);
    }
    run_close(&bf16);
    run_close(&f32);
  }
}

Test(cpu_run, rules_have_several_matrix_phases) {
  struct run two = run_ortho(ORTHO_RULE("  let o = orthogonalize(m, it)\n"
                                        "  let p = orthogonalize(grad - o, it)\n"
                                        "  param := param - lr * o - zero * p\n"));
  struct run one =
      run_ortho(ORTHO_RULE("  param := param - lr * orthogonalize(m, it)\n"));
  for (uint32_t i = 0; i < one.program->n_params; i++) {
    cr_expect(memcmp(one.param[i], two.param[i], param_bytes(&one, i)) == 0, "%u", i);
  }
  run_close(&one);
  run_close(&two);
}

Test(cpu_run, fallbacks_are_noted) {
  struct run r = run_ortho(ORTHO_RULE("  param := param - lr * orthogonalize(m, it)\n"));
  uint32_t n = 0;
  const struct str *note = cpu_program_notes(r.code, &n);
  cr_assert_eq(n, 1);
  cr_expect(str_is(note[0], "iteration `it`: form auto is standard on the cpu target"));
  run_close(&r);
}
