// libstepc as a trainer uses it: jobs in every form, programs that step, diagnostics as data, refusals, memory that
// runs out, threads.
#include "stepc.h"
#include "steprt.h"

#include "plan/bundle.h"
#include "plan/plan.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <xmmintrin.h>

#define SGD                                                                              \
  "spec 1\noptimizer plain {\n  hyper lr : f32 = 0.5 in [0, inf)\n  hyper wd as "        \
  "\"decay\" "                                                                           \
  ": f32 = 0\n  param := param * (1 - lr * wd) - lr * grad\n}\n"

static const uint64_t dims[] = {4, 3};
static const struct stepc_param params[] = {
    {.size = sizeof params[0], .name = "w", .dim = dims, .rank = 2},
    {.size = sizeof params[0], .name = "h.{0..3}", .dim = dims, .rank = 1},
    {.size = sizeof params[0], .name = "f", .dim = dims, .rank = 2, .frozen = 1},
    {.size = sizeof params[0], .name = "t", .dim = dims, .rank = 2, .tied = "w"},
};

static struct stepc_job text_job(const char *text) {
  return (struct stepc_job){.size = sizeof(struct stepc_job),
                            .spec_text = text,
                            .params = params,
                            .n_params = 4};
}

static struct steprt_program *compile(const struct stepc_job *job) {
  struct steprt_program *p;
  stepc_status s = stepc_compile(job, &p);
  cr_assert_eq(s, STEPC_OK, "%s: %s\n%s", stepc_status_text(s), stepc_program_error(p),
               stepc_program_messages(p));
  return p;
}

static struct stepc_summary summary(const struct steprt_program *p) {
  struct stepc_summary s = {.size = sizeof s};
  cr_assert_eq(stepc_program_summary(p, &s), STEPC_OK);
  return s;
}

// ---- what a program does and tells

// A number that rounds up from its decimals, and two products of constants: one rounds, one is denormal.
#define ROUNDING                                                                         \
  "spec 1\noptimizer plain {\n  hyper lr : f32 = 0.1\n  hyper b : f32 = 0.7\n"           \
  "  static k : f32 = 0.1 * 0.7\n  static d : f32 = 1e-300 * 1e-20\n"                    \
  "  param := param * 1e-40 - lr * grad * (k + b) * where(d > 0, 1, 2)\n}\n"

Test(libstepc, constants_do_not_depend_on_the_callers_floating_point_mode) {
  struct stepc_job job = text_job(ROUNDING);
  struct steprt_program *plain = compile(&job);
  const char *expected, *text;
  cr_assert_eq(stepc_program_emit(plain, "llvm", &expected), STEPC_OK);
  for (int i = 0; i < 2; i++) {
    fenv_t before;
    fegetenv(&before);
    fesetround(i == 0 ? FE_UPWARD : FE_DOWNWARD);
    _mm_setcsr(_mm_getcsr() | 0x8040u); // FTZ, DAZ
    struct steprt_program *p = compile(&job);
    stepc_status s = stepc_program_emit(p, "llvm", &text);
    cr_assert_eq(_mm_getcsr() & 0x8040u, 0x8040u);
    cr_assert_eq(fegetround(), i == 0 ? FE_UPWARD : FE_DOWNWARD);
    fesetenv(&before);
    cr_assert_eq(s, STEPC_OK);
    cr_assert_str_eq(text, expected);
    for (uint32_t k = 0; k < summary(p).n_hypers; k++) {
      struct stepc_hyper_info a = {.size = sizeof a}, b = a;
      stepc_program_hyper(plain, k, &a);
      stepc_program_hyper(p, k, &b);
      cr_assert_float_eq(a.value, b.value, 0, "%s", a.name);
    }
    stepc_program_free(p);
  }
  stepc_program_free(plain);
}

// One step from parameters of 1 with gradients of 0.25; the first parameter's first element.
static float step_once(const struct steprt_program *p) {
  float w[12], h[4], g[12];
  void *param[] = {w, h, NULL, NULL};
  const void *grad[] = {g, g, NULL, NULL};
  for (int i = 0; i < 12; i++) {
    w[i] = 1;
    h[i % 4] = 1;
    g[i] = 0.25f;
  }
  struct steprt *rt;
  struct steprt_step step = {.size = sizeof step, .grads = grad};
  cr_assert_eq(steprt_open(p, NULL, &rt), STEPRT_OK);
  cr_assert_eq(steprt_bind(rt, param), STEPRT_OK);
  cr_assert_eq(steprt_begin(rt, &step), STEPRT_OK, "%s", steprt_error(rt));
  cr_assert_eq(steprt_run(rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_end(rt), STEPRT_OK);
  cr_assert_eq(steprt_wait_all(rt), STEPRT_OK);
  steprt_destroy(rt);
  cr_assert_float_eq(w[0], h[3], 0);
  return w[0];
}

Test(libstepc, a_program_steps) {
  struct stepc_job job = text_job(SGD);
  struct steprt_program *p = compile(&job);
  cr_assert_float_eq(step_once(p), 0.875f, 0);
  cr_assert_str_empty(stepc_program_error(p));
  cr_assert_str_empty(stepc_program_messages(p));
  stepc_program_free(p);
}

Test(libstepc, tells_what_it_made) {
  struct stepc_job job = text_job(SGD);
  job.sets = (const char *[]){"wd=0.5"};
  job.n_sets = 1;
  struct steprt_program *p = compile(&job);
  struct stepc_summary s = summary(p);
  cr_assert_str_eq(s.name, "plain");
  cr_assert_eq(s.n_params, 4);
  cr_assert_eq(s.n_hypers, 2);
  cr_assert_eq(s.n_errors, 0);
  struct stepc_param_info w = {.size = sizeof w}, t = w, f = w;
  cr_assert_eq(stepc_program_param(p, 0, &w), STEPC_OK);
  cr_assert_str_eq(w.name, "w");
  cr_assert_str_eq(w.optimizer, "plain");
  cr_assert_str_eq(w.dtype, "f32");
  cr_assert_eq(w.dim[1], 3);
  cr_assert_eq(w.tied_to, -1);
  cr_assert_eq(stepc_program_param(p, 2, &f), STEPC_OK);
  cr_assert(f.frozen);
  cr_assert_str_empty(f.optimizer);
  cr_assert_eq(stepc_program_param(p, 3, &t), STEPC_OK);
  cr_assert_eq(t.tied_to, 0);
  struct stepc_hyper_info wd = {.size = sizeof wd};
  cr_assert_eq(stepc_program_hyper(p, 1, &wd), STEPC_OK);
  cr_assert_str_eq(wd.name, "wd");
  cr_assert_str_eq(wd.alias, "decay");
  cr_assert_float_eq(wd.value, 0.5, 0);
  struct stepc_kernel_info k = {.size = sizeof k};
  cr_assert_eq(stepc_program_kernel(p, 0, &k), STEPC_OK);
  cr_assert_eq(k.bytes_read, 8);
  cr_assert_eq(k.bytes_written, 4);
  cr_assert_eq(stepc_program_kernel(p, s.n_kernels, &k), STEPC_BAD_ARGUMENT);
  cr_assert_eq(stepc_program_param(p, 4, &w), STEPC_BAD_ARGUMENT);
  cr_assert_null(stepc_program_note(p, s.n_notes));
  stepc_program_free(p);
}

Test(libstepc, gives_the_text_of_every_stage) {
  static const char *const kinds[][2] = {{"ast", "plain"},    {"ir", "plain"},
                                         {"phases", "plain"}, {"llvm", "define"},
                                         {"asm", "ret"},      {"cuda", "__global__"}};
  struct stepc_job job = text_job(SGD);
  struct steprt_program *p = compile(&job);
  struct stepc_kernel_info k = {.size = sizeof k};
  cr_assert_eq(stepc_program_kernel(p, 0, &k), STEPC_OK);
  for (int i = 0; i < 6; i++) {
    const char *text;
    cr_assert_eq(stepc_program_emit(p, kinds[i][0], &text), STEPC_OK, "%s", kinds[i][0]);
    cr_assert_not_null(strstr(text, kinds[i][1]), "%s:\n%s", kinds[i][0], text);
    cr_assert(i < 3 || i > 4 || strstr(text, k.name) != NULL);
  }
  const char *text;
  cr_assert_eq(stepc_program_emit(p, "coffee", &text), STEPC_BAD_ARGUMENT);
  stepc_program_free(p);
}

Test(libstepc, a_caller_of_an_older_header_gets_what_it_knows) {
  struct stepc_job job = text_job(SGD);
  struct steprt_program *p = compile(&job);
  struct {
    size_t size;
    const char *name;
    unsigned char after;
  } old = {.size = offsetof(struct stepc_param_info, dtype), .after = 7};
  cr_assert_eq(stepc_program_param(p, 1, (struct stepc_param_info *)&old), STEPC_OK);
  cr_assert_str_eq(old.name, "h.{0..3}");
  cr_assert_eq(old.after, 7);
  old.size = 1;
  cr_assert_eq(stepc_program_param(p, 1, (struct stepc_param_info *)&old),
               STEPC_BAD_ARGUMENT);
  stepc_program_free(p);
}

// ---- jobs

Test(libstepc, takes_files_and_json) {
  struct stepc_job job = {.size = sizeof job,
                          .spec = "specs/gpt.opt",
                          .model = "tests/models/tiny.json",
                          .target = "cpu"};
  struct steprt_program *p = compile(&job);
  cr_assert_str_eq(summary(p).name, "gpt");
  stepc_program_free(p);
  job.spec = "specs/muon.opt:muon";
  job.model = " {\"format\": \"stepc-model/1\", \"params\": [{\"name\": \"w\", "
              "\"shape\": [8, 4]}]}";
  job.defines = (const char *[]){"ns=polar_express"};
  job.n_defines = 1;
  p = compile(&job);
  cr_assert_eq(summary(p).n_params, 1);
  stepc_program_free(p);
}

Test(libstepc, a_text_imports_beside_its_path) {
  struct stepc_job job = text_job("spec 1\nimport \"adamw.opt\"\n"
                                  "recipe mine {\n  use adamw(lr = 0.25)\n}\n");
  job.spec = "specs/not-on-disk.opt";
  struct steprt_program *p = compile(&job);
  struct stepc_hyper_info lr = {.size = sizeof lr};
  cr_assert_eq(stepc_program_hyper(p, 0, &lr), STEPC_OK);
  cr_assert_str_eq(lr.label, "adamw");
  cr_assert_float_eq(lr.value, 0.25, 0);
  stepc_program_free(p);
}

static void expect_refused(struct stepc_job job, stepc_status status, const char *words) {
  struct steprt_program *p;
  stepc_status s = stepc_compile(&job, &p);
  cr_assert_eq(s, status, "%s: %s", stepc_status_text(s), stepc_program_error(p));
  cr_assert_not_null(strstr(stepc_program_error(p), words), "%s", stepc_program_error(p));
  struct steprt *rt = NULL;
  cr_assert_eq(steprt_open(p, NULL, &rt), STEPRT_BAD_PROGRAM);
  steprt_destroy(rt);
  stepc_program_free(p);
}

Test(libstepc, refuses_wrong_calls) {
  struct steprt_program *p;
  struct stepc_job job = text_job(SGD), j = job;
  cr_assert_eq(stepc_compile(&job, NULL), STEPC_BAD_ARGUMENT);
  cr_assert_eq(stepc_compile(NULL, &p), STEPC_BAD_ARGUMENT);
  stepc_program_free(p);
  j.size = 3;
  expect_refused(j, STEPC_BAD_ARGUMENT, "size");
  j = job;
  j.spec_text = NULL;
  expect_refused(j, STEPC_BAD_ARGUMENT, "spec");
  j = job;
  j.model = "m.json";
  expect_refused(j, STEPC_BAD_ARGUMENT, "model");
  j.params = NULL;
  expect_refused(j, STEPC_BAD_ARGUMENT, "model");
  j = job;
  j.n_sets = 1;
  expect_refused(j, STEPC_BAD_ARGUMENT, "settings");
  j = job;
  j.target = "tpu";
  expect_refused(j, STEPC_BAD_ARGUMENT, "`tpu`");
  j.target = "cuda:sm90";
  expect_refused(j, STEPC_BAD_ARGUMENT, "sm90");
  struct stepc_param odd[2] = {params[0], params[1]};
  j = job;
  j.params = odd;
  j.n_params = 2;
  odd[1].size--;
  expect_refused(j, STEPC_BAD_ARGUMENT, "params[1]");
  odd[1] = params[1];
  odd[1].name = NULL;
  expect_refused(j, STEPC_BAD_ARGUMENT, "params[1]");
  stepc_program_free(NULL);
  struct stepc_summary s = {.size = sizeof s};
  cr_assert_eq(stepc_program_summary(NULL, &s), STEPC_OK);
  cr_assert_eq(s.n_params, 0);
}

// A newer caller sets a field that this library does not have.
Test(libstepc, refuses_what_it_does_not_know) {
  struct {
    struct stepc_job job;
    uint64_t more;
  } newer = {text_job(SGD), 0};
  newer.job.size = sizeof newer;
  struct steprt_program *p = compile(&newer.job);
  stepc_program_free(p);
  newer.more = 1;
  cr_assert_eq(stepc_compile(&newer.job, &p), STEPC_BAD_ARGUMENT);
  stepc_program_free(p);
}

Test(libstepc, refuses_wrong_parameters) {
  static const uint64_t huge[] = {1u << 31, 1u << 31};
  static const struct {
    struct stepc_param param;
    const char *words;
  } cases[] = {
      {{.name = "w", .dim = dims, .rank = 2}, "named `w`"},
      {{.name = "", .dim = dims, .rank = 1}, "is empty"},
      {{.name = "\xff", .dim = dims, .rank = 1}, "UTF-8"},
      {{.name = "x", .dim = dims, .rank = 9}, "8 dimensions"},
      {{.name = "x", .dim = huge, .rank = 2}, "2^60"},
      {{.name = "x", .dim = dims, .rank = 1, .dtype = "fp32"}, "`fp32`"},
      {{.name = "x", .dim = dims, .rank = 1, .grad = "int8"}, "`int8`"},
      {{.name = "x", .dim = dims, .rank = 1, .tied = "y"}, "no parameter has that name"},
      {{.name = "x", .dim = dims, .rank = 1, .tied = "w"}, "another shape"},
      {{.name = "x", .dim = dims, .rank = 2, .tied = "w", .frozen = 1}, "`frozen`"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct stepc_param two[] = {params[0], cases[i].param};
    two[1].size = sizeof two[1];
    struct stepc_job job = text_job(SGD);
    job.params = two;
    job.n_params = 2;
    expect_refused(job, STEPC_BAD_INPUT, cases[i].words);
  }
}

// ---- messages

Test(libstepc, diagnostics_are_data) {
  struct stepc_job job =
      text_job("spec 1\noptimizer plain {\n  state momentum : f32 like param\n"
               "  momentum := momemtum + grad\n  param := param - momentum\n}\n");
  job.spec = "mine.opt";
  struct steprt_program *p;
  cr_assert_eq(stepc_compile(&job, &p), STEPC_BAD_INPUT);
  struct stepc_summary s = summary(p);
  cr_assert_eq(s.n_errors, 1);
  cr_assert_eq(s.n_diags, 1);
  struct stepc_diag d = {.size = sizeof d}, help = d;
  cr_assert_eq(stepc_program_diag(p, 0, &d), STEPC_OK);
  cr_assert_str_eq(d.code, "E0201");
  cr_assert_eq(d.severity, STEPC_ERROR);
  cr_assert_str_eq(d.path, "mine.opt");
  cr_assert_eq(d.line, 4);
  cr_assert_eq(d.col, 15);
  cr_assert_eq(d.end_line, 4);
  cr_assert_eq(d.end_col, 23);
  cr_assert_not_null(strstr(d.text, "`momemtum`"));
  cr_assert_str_eq(stepc_program_error(p), d.text);
  cr_assert_eq(d.n_notes, 1);
  cr_assert_eq(stepc_program_diag_note(p, 0, 0, &help), STEPC_OK);
  cr_assert_eq(help.severity, STEPC_HELP);
  cr_assert_str_eq(help.text, "did you mean `momentum`?");
  cr_assert_str_empty(help.path);
  cr_assert_eq(stepc_program_diag_note(p, 0, 1, &help), STEPC_BAD_ARGUMENT);
  cr_assert_eq(stepc_program_diag(p, 1, &d), STEPC_BAD_ARGUMENT);
  cr_assert_not_null(strstr(stepc_program_messages(p), "mine.opt:4:15: error[E0201]"));
  const char *text;
  cr_assert_eq(stepc_program_emit(p, "ir", &text), STEPC_BAD_ARGUMENT);
  stepc_program_free(p);
}

Test(libstepc, warnings_do_not_refuse) {
  struct stepc_job job = text_job(NULL);
  job.spec = "specs/muon.opt";
  job.n_params = 1; // 4 x 3: tiny
  struct steprt_program *p = compile(&job);
  cr_assert_eq(summary(p).n_warnings, 1);
  struct stepc_diag d = {.size = sizeof d};
  cr_assert_eq(stepc_program_diag(p, 0, &d), STEPC_OK);
  cr_assert_eq(d.severity, STEPC_WARNING);
  cr_assert_str_eq(d.name, "tiny-matrix");
  stepc_program_free(p);
}

Test(libstepc, files_that_cannot_be_read) {
  struct stepc_job job = text_job(NULL);
  job.spec = "specs/nowhere.opt";
  expect_refused(job, STEPC_IO, "specs/nowhere.opt");
  job.spec = "specs/sgd.opt";
  job.params = NULL;
  job.n_params = 0;
  job.model = "tests/models/nowhere.json";
  expect_refused(job, STEPC_IO, "nowhere.json");
}

// ---- several programs, threads, memory

Test(libstepc, programs_live_side_by_side) {
  struct steprt_program *p[4];
  for (int i = 0; i < 4; i++) {
    char set[] = "lr=0.0";
    set[5] = (char)('0' + i);
    struct stepc_job job = text_job(SGD);
    job.sets = (const char *[]){set};
    job.n_sets = 1;
    p[i] = compile(&job);
  }
  stepc_program_free(p[1]);
  for (int i = 3; i >= 0; i--) {
    if (i != 1) {
      cr_assert_float_eq(step_once(p[i]), (float)(1 - 0.1 * i * 0.25), 0);
      stepc_program_free(p[i]);
    }
  }
}

struct compiling {
  pthread_t thread;
  const char *spec;
  char name[32];
};

static void *compile_often(void *arg) {
  struct compiling *c = arg;
  struct stepc_job job = {
      .size = sizeof job, .spec = c->spec, .model = "tests/models/tiny.json"};
  for (int i = 0; i < 4; i++) {
    struct steprt_program *p;
    struct stepc_summary s = {.size = sizeof s};
    if (stepc_compile(&job, &p) == STEPC_OK && stepc_program_summary(p, &s) == STEPC_OK) {
      strncpy(c->name, s.name, sizeof c->name - 1);
    }
    stepc_program_free(p);
  }
  return NULL;
}

Test(libstepc, threads_compile_at_once) {
  struct compiling c[] = {{.spec = "specs/gpt.opt"}, {.spec = "specs/lion.opt"}};
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(pthread_create(&c[i].thread, NULL, compile_often, &c[i]), 0);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(c[i].thread, NULL);
  }
  cr_assert_str_eq(c[0].name, "gpt");
  cr_assert_str_eq(c[1].name, "lion");
}

// Limits that grow by a fifth until the job fits: memory runs out in every stage.
Test(libstepc, out_of_memory_is_a_status) {
  struct stepc_job job = {
      .size = sizeof job, .spec = "specs/gpt.opt", .model = "tests/models/tiny.json"};
  stepc_status s = STEPC_NO_MEMORY;
  int refused = 0;
  for (uint64_t limit = 16; s != STEPC_OK; limit += 1 + limit / 5) {
    struct steprt_program *p;
    job.memory_limit = limit;
    s = stepc_compile(&job, &p);
    cr_assert(s == STEPC_OK || s == STEPC_NO_MEMORY, "%s", stepc_program_messages(p));
    struct steprt *rt = NULL;
    cr_assert_eq(p == NULL || steprt_open(p, NULL, &rt) != STEPRT_OK, s != STEPC_OK);
    steprt_destroy(rt);
    cr_assert(s == STEPC_OK || strcmp(stepc_program_error(p), "out of memory") == 0);
    refused += s != STEPC_OK;
    stepc_program_free(p);
  }
  cr_assert_gt(refused, 20);
}

Test(libstepc, emitting_runs_out_of_memory) {
  struct stepc_job job = text_job(SGD);
  for (uint64_t limit = 16;; limit += 1 + limit / 20) {
    struct steprt_program *p;
    const char *text;
    job.memory_limit = limit;
    if (stepc_compile(&job, &p) == STEPC_OK) {
      stepc_status s = stepc_program_emit(p, limit % 2 != 0 ? "asm" : "llvm", &text);
      cr_assert(s == STEPC_NO_MEMORY || s == STEPC_OK);
      cr_assert_eq(*text == '\0', s != STEPC_OK);
      stepc_program_free(p);
      if (s == STEPC_OK) {
        return;
      }
      continue;
    }
    stepc_program_free(p);
  }
}

// E0002: no NVRTC compiles for it any more. E0003: only where there is no device.
Test(libstepc, cuda_needs_a_compiler_and_a_device_or_its_name) {
  struct stepc_job job = {.size = sizeof job,
                          .spec = "specs/gpt.opt",
                          .model = "tests/models/tiny.json",
                          .target = "cuda:sm_10"};
  expect_refused(job, STEPC_NO_LIBRARY, "NVRTC");
  job.target = "cuda";
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver != NULL) {
    dlclose(driver);
  } else {
    expect_refused(job, STEPC_NO_LIBRARY, "libcuda.so.1");
  }
}

Test(libstepc, cuda_programs_hold_their_code) {
  struct stepc_job job = {.size = sizeof job,
                          .spec = "specs/gpt.opt",
                          .model = "tests/models/tiny.json",
                          .target = "cuda:sm_90a"};
  struct steprt_program *p = compile(&job);
  cr_assert_str_eq(p->target, "cuda:sm_90a");
  cr_assert_neq(p->n_kernels, 0);
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    const struct rt_kernel *k = &p->kernel[i];
    cr_expect(k->image_bytes > 4 && memcmp(k->image, "\177ELF", 4) == 0, "%s", k->name);
    cr_expect(k->registers > 0 && k->spilled == 0 && k->block > 0, "%s", k->name);
  }
  cr_expect_neq(p->squares[RT_F32], RT_NO_ID);
  cr_expect_eq(p->squares[RT_BF16], RT_NO_ID);
  cr_expect_neq(p->judge, RT_NO_ID);
  cr_assert_eq(p->n_ortho, 1);
  cr_expect_neq(p->ortho->kernel[RT_ORTHO_SCALE], RT_NO_ID);
  cr_expect_eq(p->ortho->kernel[RT_ORTHO_FACTOR], RT_NO_ID);
  stepc_program_free(p);
}

// The bundle of a program is the program: the same digest, code and plan.
Test(libstepc, writes_bundles_of_cuda_programs) {
  struct tempdir dir = tempdir_new();
  char path[400], why[480] = "";
  struct stepc_job job = {.size = sizeof job,
                          .spec = "specs/gpt.opt",
                          .model = "tests/models/tiny.json",
                          .target = "cuda:sm_90a"};
  struct steprt_program *p = compile(&job);
  struct rt_bundle *b;
  cr_assert_eq(stepc_program_write(p, tempdir_join(&dir, "bundle", path)), STEPC_OK, "%s",
               stepc_program_error(p));
  cr_assert_eq(rt_bundle_read(path, &b, why, sizeof why), STEPRT_OK, "%s", why);
  cr_expect_str_eq(b->program->digest, p->digest);
  cr_expect_str_eq(b->program->plan->digest, p->plan->digest);
  cr_expect(memcmp(b->program->kernel[0].image, p->kernel[0].image,
                   p->kernel[0].image_bytes) == 0);
  rt_bundle_free(b);
  cr_expect_eq(stepc_program_write(p, "/nowhere/bundle"), STEPC_IO);
  cr_expect_neq(*stepc_program_error(p), '\0');
  stepc_program_free(p);
  tempdir_remove(&dir);
}

Test(libstepc, refuses_to_write_what_is_no_bundle) {
  struct stepc_job job = text_job(SGD);
  struct steprt_program *p = compile(&job);
  cr_expect_eq(stepc_program_write(p, "/tmp/never"), STEPC_BAD_ARGUMENT);
  cr_expect(strstr(stepc_program_error(p), "machine code for the CPU") != NULL);
  cr_expect_eq(stepc_program_write(p, NULL), STEPC_BAD_ARGUMENT);
  cr_expect_eq(stepc_program_write(NULL, "/tmp/never"), STEPC_BAD_ARGUMENT);
  stepc_program_free(p);
  job.spec_text = "spec 2\n";
  cr_assert_neq(stepc_compile(&job, &p), STEPC_OK);
  cr_expect_eq(stepc_program_write(p, "/tmp/never"), STEPC_BAD_ARGUMENT);
  stepc_program_free(p);
}
