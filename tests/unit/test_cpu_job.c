// Whole jobs on the CPU target: what is shared, how the step is laid out, texts, memory, threads.
#include "cpu_job.h"

#include "support/golden.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

static const struct job_param_spec gpt[] = {
    {"wte.weight", ST_F32, ST_F32, MATRIX(512, 64), false},
    {"wpe.weight", ST_F32, ST_F32, MATRIX(128, 64), false},
    {"h.0.ln_1.weight", ST_F32, ST_F32, VECTOR(64), false},
    {"h.0.attn.c_attn.weight", ST_F32, ST_F32, MATRIX(64, 192), false},
    {"h.0.attn.c_attn.bias", ST_F32, ST_F32, VECTOR(192), false},
    {"h.0.attn.c_proj.weight", ST_F32, ST_F32, MATRIX(64, 64), false},
    {"h.0.mlp.c_fc.weight", ST_F32, ST_F32, MATRIX(64, 256), false},
    {"h.0.mlp.c_proj.weight", ST_F32, ST_F32, MATRIX(256, 64), false},
};
enum { N_GPT = sizeof gpt / sizeof gpt[0] };

static struct cpu_job open_gpt(void) {
  return cpu_job_open("specs/gpt.opt", NULL, "", gpt, N_GPT);
}

// ---- kernels and layout

Test(cpu_job, shapes_and_rules_share_kernels) {
  struct cpu_job j = open_gpt();
  struct cpu_program *p = cpu_job_compile(&j, "native");
  const struct steprt_program *s = cpu_program_step(p);
  cr_assert_eq(s->n_kernels, 3);
  cr_expect_str_eq(s->kernel[0].name, "adamw__p0__f32");
  cr_expect_str_eq(s->kernel[1].name, "muon__p0__f32");
  cr_expect_str_eq(s->kernel[2].name, "muon__p2__f32");
  cr_expect_eq(s->kernel[0].bytes_read, 16);
  cr_expect_eq(s->kernel[0].bytes_written, 12);
  cpu_program_free(p);
  cpu_job_close(&j);
}

// Equal math under other names is one kernel, other math under the same name another.
Test(cpu_job, kernels_are_what_they_compute) {
  static const char spec[] = "spec 1\n"
                             "optimizer a {\n"
                             "  hyper lr : f32 = 1\n"
                             "  static sum : bool = false\n"
                             "  state m : f32 like param\n"
                             "  m := if sum then m + grad else m - grad\n"
                             "  param := param - lr * m\n"
                             "}\n"
                             "optimizer b {\n"
                             "  hyper rate : f32 = 2\n"
                             "  state v : f32 like param\n"
                             "  v := v - grad\n"
                             "  param := param - rate * v\n"
                             "}\n"
                             "recipe r {\n"
                             "  use a as one when name == \"one\"\n"
                             "  use b as two when name == \"two\"\n"
                             "  use a as three(sum = true)\n"
                             "}\n";
  static const struct job_param_spec p[] = {{"one", ST_F32, ST_F32, VECTOR(8), false},
                                            {"two", ST_F32, ST_F32, MATRIX(3, 5), false},
                                            {"three", ST_F32, ST_F32, VECTOR(8), false}};
  struct cpu_job j = cpu_job_open("x.opt", spec, "", p, 3);
  struct cpu_program *c = cpu_job_compile(&j, "native");
  const struct steprt_program *s = cpu_program_step(c);
  cr_assert_eq(s->n_kernels, 2);
  cr_expect_str_eq(s->kernel[0].name, "a__p0__f32");
  cr_expect_str_eq(s->kernel[1].name, "a__p0__f32__2");
  cr_expect_eq(s->rule[0].phase[0].kernel, s->rule[1].phase[0].kernel);
  cr_expect_neq(s->rule[0].phase[0].kernel, s->rule[2].phase[0].kernel);
  cpu_program_free(c);
  cpu_job_close(&j);
}

// ---- memory

// One whole compilation in an arena of at most `limit` bytes (0: any); returns the bytes it took, 0 when they ran out.
static size_t compile_within(size_t limit) {
  struct arena *a = arena_new(limit);
  jmp_buf oom;
  size_t bytes = 0;
  if (setjmp(oom) == 0) {
    arena_guard(a, &oom);
    struct cpu_job j = cpu_job_open_on(a, "specs/gpt.opt", NULL, "", gpt, N_GPT);
    struct cpu_options options = {STR("native")};
    struct cpu_program *p = cpu_compile(&j.front, j.job, &options, &j.ice);
    cpu_program_free(p);
    bytes = arena_bytes(a);
  }
  arena_free(a);
  return bytes;
}

// Under ASan this also shows that LLVM's objects do not leak.
Test(cpu_job, running_out_of_memory_ends_the_call_only) {
  size_t all = compile_within(0);
  for (size_t k = 1; k < 24; k++) {
    cr_expect_eq(compile_within(all * k / 24), 0);
  }
  cr_expect_eq(compile_within(all), all);
}

// ---- threads

static void *compile_and_free(void *ctx) {
  (void)ctx;
  struct cpu_job j = open_gpt();
  cpu_program_free(cpu_job_compile(&j, "native"));
  cpu_job_close(&j);
  return NULL;
}

Test(cpu_job, threads_compile_at_once) {
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) {
    cr_assert_eq(pthread_create(&thread[i], NULL, compile_and_free, NULL), 0);
  }
  for (int i = 0; i < 4; i++) {
    (void)pthread_join(thread[i], NULL);
  }
}

// ---- text

static struct str emit(struct cpu_job *j, const char *cpu, bool assembly) {
  struct cpu_options options = {str_of(cpu)};
  struct str text = cpu_emit_text(&j->front, j->job, &options, assembly, &j->ice);
  cr_assert(text.n != 0, "%s%.*s", cpu_job_said(j), STR_FMT(j->ice));
  return text;
}

Test(cpu_job, ir_text_is_as_committed) {
  struct cpu_job j = open_gpt(), again = open_gpt();
  struct str text = emit(&j, "x86-64-v3", false);
  cr_expect(str_eq(text, emit(&again, "x86-64-v3", false)), "not the same twice");
  struct str trouble = golden_compare(j.arena, "tests/data/cpu/gpt.v3.ll", text);
  cr_expect(trouble.n == 0, "%.*s", STR_FMT(trouble));
  cpu_job_close(&again);
  cpu_job_close(&j);
}

// LLVM has the vectors that cpus.def promises: it would split wider ones.
Test(cpu_job, assembly_has_the_vectors_of_its_cpu) {
  static const struct {
    const char *cpu, *reg;
  } rows[] = {
#define CPU(name, bits, ahead)                                                           \
  {name, (bits) == 512 ? "zmm" : (bits) == 256 ? "ymm" : "xmm"},
#include "emit/cpus.def"
#undef CPU
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct cpu_job j = open_gpt();
    const char *text = str_cstr(j.arena, emit(&j, rows[i].cpu, true));
    cr_expect(strstr(text, rows[i].reg) != NULL, "%s", rows[i].cpu);
    cr_expect(strstr(text, "# muon.opt: rule muon, phase 1 of 3\n") != NULL);
    cpu_job_close(&j);
  }
}
