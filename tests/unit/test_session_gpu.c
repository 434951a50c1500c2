// A session's tensors on a GPU, over the driver in host memory: the same values as on the host, however small the piece
// of memory that they pass through; and what is said where they have no place.
#include "fake_cuda.h"
#include "plan_job.h"

#include "tool/session_data.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

#define MODEL                                                                            \
  "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"params\": ["                      \
  "{\"name\": \"wte\", \"shape\": [50, 40]}, "                                           \
  "{\"name\": \"head\", \"shape\": [50, 40], \"tied\": \"wte\"}, "                       \
  "{\"name\": \"none\", \"shape\": [0, 8]}, "                                            \
  "{\"name\": \"w.{1..9}\", \"shape\": [3, 7], \"dtype\": \"bf16\", \"grad\": "          \
  "\"f32\"}, "                                                                           \
  "{\"name\": \"still\", \"shape\": [33], \"frozen\": true}, "                           \
  "{\"name\": \"b\", \"shape\": [1000]}] }"

struct fixture {
  struct plan_job job;
  struct tool tool;
  struct session cpu, gpu;
};

static enum exit_code open_on(struct fixture *f, struct session *s, const char *target) {
  struct steprt_program *p = ARENA_NEW(f->job.arena, struct steprt_program);
  const struct session_source source = {.seed = 3};
  *p = *f->job.driver.step;
  p->target = target;
  return session_open_tensors(s, &f->tool, f->job.driver.job, p, &source, 2);
}

static void start(struct fixture *f) {
  setenv("STEPC_LIBRARY_PATH", STEPC_BUILD_DIR "/fake-cuda", 1);
  fake_cuda_reset(1);
  plan_job_open(&f->job, "specs/adamw.opt", MODEL, true);
  f->tool = (struct tool){.arena = f->job.arena, .front = f->job.front};
  cr_assert_eq(open_on(f, &f->cpu, "cpu"), EXIT_OK);
}

static void stop(struct fixture *f) {
  session_close(&f->cpu);
  session_close(&f->gpu);
  plan_job_close(&f->job);
  struct fake_live l = fake_cuda_live();
  cr_expect(l.allocations == 0 && l.contexts == 0);
}

static uint64_t bytes_of(const struct fixture *f, uint32_t i, bool grad) {
  const struct model_param *p = &f->cpu.model->param[i];
  return shape_numel(&p->shape) * storage_bytes(grad ? p->grad : p->dtype);
}

// The driver's memory is the host's: it is cleared, and gradients are looked at, where they lie.
static void clear(struct fixture *f) {
  for (uint32_t i = 0; i < f->gpu.model->n_params; i++) {
    if (f->gpu.param[i] != NULL) {
      memset(f->gpu.param[i], 0xff, bytes_of(f, i, false));
    }
    if (f->gpu.grad[i] != NULL) {
      memset(f->gpu.grad[i], 0xff, bytes_of(f, i, true));
    }
  }
}

static void expect_same(struct fixture *f, const char *what) {
  for (uint32_t i = 0; i < f->cpu.model->n_params; i++) {
    const char *name = str_cstr(f->job.arena, f->cpu.model->param[i].name);
    const void *p = session_param(&f->gpu, i);
    cr_assert_eq(p == NULL, f->cpu.param[i] == NULL, "%s: %s", what, name);
    cr_assert_eq(f->gpu.grad[i] == NULL, f->cpu.grad[i] == NULL, "%s: %s", what, name);
    cr_expect(p == NULL || memcmp(p, f->cpu.param[i], bytes_of(f, i, false)) == 0,
              "%s: %s", what, name);
    cr_expect(f->gpu.grad[i] == NULL ||
                  memcmp(f->gpu.grad[i], f->cpu.grad[i], bytes_of(f, i, true)) == 0,
              "%s: gradient of %s", what, name);
  }
}

struct bytes {
  unsigned char at[1 << 16];
  uint64_t n;
};
static void append(void *ctx, const void *at, uint64_t bytes) {
  struct bytes *b = ctx;
  memcpy(b->at + b->n, at, bytes);
  b->n += bytes;
}

static void expect_read_alike(struct fixture *f) {
  struct bytes *x = ARENA_NEW(f->job.arena, struct bytes);
  struct bytes *y = ARENA_NEW(f->job.arena, struct bytes);
  cr_assert_eq(session_read_params(&f->cpu, append, x), EXIT_OK);
  cr_assert_eq(session_read_params(&f->gpu, append, y), EXIT_OK);
  cr_expect(x->n == y->n && memcmp(x->at, y->at, x->n) == 0);
}

Test(session_gpu, tensors) {
  struct fixture f = {0};
  start(&f);
  cr_assert_eq(open_on(&f, &f.gpu, "cuda:sm_90"), EXIT_OK);
  cr_expect(f.gpu.on_gpu && f.gpu.stage != NULL);
  for (int piece = 0; piece < 2; piece++) {
    clear(&f);
    cr_assert_eq(session_load_params(&f.gpu), EXIT_OK);
    cr_assert_eq(session_load_grads(&f.gpu), EXIT_OK);
    cr_assert_eq(session_load_grads(&f.cpu), EXIT_OK);
    expect_same(&f, piece == 0 ? "all at once" : "in pieces");
    expect_read_alike(&f);
    f.gpu.stage_bytes = 50 * 40 * sizeof(float); // the largest tensor
  }
  stop(&f);
}

// The memory of parameters, of gradients, and a copy of each.
Test(session_gpu, no_place, .init = cr_redirect_stderr) {
  static const struct {
    const char *call;
    uint64_t which;
  } cases[] = {{"cuMemAlloc", 1}, {"cuMemAlloc", 2}, {"cuMemcpyHtoD", 1}};
  struct fixture f = {0};
  start(&f);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fake_cuda_fail(cases[i].call, cases[i].which, 2);
    cr_expect_eq(open_on(&f, &f.gpu, "cuda:sm_90"), EXIT_ENVIRONMENT, "%s",
                 cases[i].call);
  }
  stop(&f);
}
