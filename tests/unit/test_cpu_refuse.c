// What the CPU target refuses (E0701), and CPUs that it does not know (E0702) or cannot run (E0703).
#include "cpu_job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct job_param_spec gpt[] = {
    {"wte.weight", ST_F32, ST_F32, MATRIX(512, 64), false},
    {"wpe.weight", ST_F32, ST_F32, MATRIX(128, 64), false},
    {"h.0.ln_1.weight", ST_F32, ST_F32, VECTOR(64), false},
    {"h.0.attn.c_proj.weight", ST_F32, ST_F32, MATRIX(64, 64), false},
};
enum { N_GPT = sizeof gpt / sizeof gpt[0] };

static struct cpu_job open_gpt(void) {
  return cpu_job_open("specs/gpt.opt", NULL, "", gpt, N_GPT);
}

#define RULE(lines)                                                                      \
  "optimizer x {\n  hyper lr : f32 = 0.1\n" lines "  param := param - lr * grad\n}\n"
#define ITERATION(lines)                                                                 \
  "optimizer x {\n  hyper lr : f32 = 0.1\n  require rank >= 2\n"                         \
  "  param := param - lr * orthogonalize(grad, it)\n}\n"                                 \
  "iteration it {\n  normalize frobenius eps 1e-7\n  iter 1.5, -0.5, 0\n" lines "}\n"
#define USE(use)                                                                         \
  RULE("  state m : f32 like param\n  m := m + grad\n")                                  \
  "recipe r {\n  use x " use "\n}"                                                       \
  "\n"

static const struct refusal {
  const char *thing, *spec;
  enum storage dtype, grad;
} refusals[] = {
    {"the reduction `norm`",
     RULE("  let n = norm(grad)\n  require rank >= 1\n  state m : f32 like param\n  m := "
          "m + n\n"),
     0, 0},
    {"the state `m` stored as f16", RULE("  state m : f16 like param\n  m := m + grad\n"),
     0, 0},
    {"the state `m` stored as q8", RULE("  state m : q8 like param\n  m := m + grad\n"),
     0, 0},
    {"stochastic rounding of `m`",
     RULE("  state m : bf16 like param round stochastic\n  m := m + grad\n"), 0, 0},
    {"the input `h` of `x`",
     RULE("  input h : f32 like param\n  state m : f32 like param\n  m := m + h\n"), 0,
     0},
    {"the input `s` of `x`",
     RULE("  input s : f32\n  state m : f32 like param\n  m := m + s * grad\n"), 0, 0},
    {"a parameter stored as f16 (`w`)", RULE(""), ST_F16, ST_F32},
    {"`compute f16` of iteration `it`", ITERATION("  compute f16\n"), 0, 0},
    {"`form gram` of iteration `it`", ITERATION("  compute bf16\n  form gram\n"), 0, 0},
    {"the view `transposed`", USE("transposed"), 0, 0},
    {"the view `flatten`", USE("flatten 1"), 0, 0},
    {"the view `split rows`", USE("split rows 2, 62"), 0, 0},
    {"`master`", USE("master f32"), ST_BF16, ST_BF16},
    {"`store`", USE("store m bf16"), 0, 0},
};

static void check_refusal(const struct refusal *r) {
  char spec[2048];
  (void)snprintf(spec, sizeof spec, "spec 1\n%s", r->spec);
  struct job_param_spec param = {"w", r->dtype, r->grad, MATRIX(64, 64), false};
  struct cpu_job j = cpu_job_open("x.opt", spec, "", &param, 1);
  struct cpu_program *p = cpu_job_compile(&j, "native");
  const char *said = cpu_job_said(&j);
  cr_expect_null(p, "%s is not refused", r->thing);
  cr_expect(strstr(said, "error[E0701]") != NULL && strstr(said, r->thing) != NULL,
            "%s: %s", r->thing, said);
  cr_expect_eq(j.front.diags->n_errors, 1, "%s: %s", r->thing, said);
  cpu_job_close(&j);
}

Test(cpu_job, refuses_what_it_does_not_execute) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    check_refusal(&refusals[i]);
  }
}

// 40 states that are read and 40 more tensors that are written make one phase of more than 64 tensors.
Test(cpu_job, refuses_phases_of_too_many_tensors) {
  struct arena *a = arena_new(0);
  struct buf b = buf_new(a);
  buf_puts(&b, "spec 1\noptimizer x {\n");
  for (int i = 0; i < 80; i++) {
    buf_printf(&b, "  state s%d : f32 like param\n", i);
  }
  for (int i = 0; i < 80; i++) {
    buf_printf(&b, "  s%d := s%d + grad\n", i, i);
  }
  buf_puts(&b, "  param := param - s0\n}\n");
  static const struct job_param_spec p = {"w", ST_F32, ST_F32, VECTOR(8), false};
  struct cpu_job j = cpu_job_open("x.opt", buf_done(&b).p, "", &p, 1);
  cr_expect_null(cpu_job_compile(&j, "native"));
  cr_expect(strstr(cpu_job_said(&j), "more than 64 tensors") != NULL, "%s",
            cpu_job_said(&j));
  cpu_job_close(&j);
  arena_free(a);
}

static void expect_cpu_error(const char *cpu, const char *code) {
  struct cpu_job j = open_gpt();
  cr_expect_null(cpu_job_compile(&j, cpu));
  const char *said = cpu_job_said(&j);
  cr_expect(strstr(said, code) != NULL, "%s", said);
  cpu_job_close(&j);
}

Test(cpu_job, refuses_cpus_that_it_does_not_know_or_cannot_run) {
  expect_cpu_error("x86-64-v33", "error[E0702]");
  struct arena *a = arena_new(0);
  bool is_nehalem = str_is(cpu_host_name(a), "nehalem");
  arena_free(a);
  expect_cpu_error(is_nehalem ? "znver4" : "nehalem", "error[E0703]");
}
