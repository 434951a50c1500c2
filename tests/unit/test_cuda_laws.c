// Shipped specs on the CUDA device, planned for it and run by the core, over the driver in host memory: the bits of the
// CPU device for every way to stream, to take units, and for every order that the streams may run in. Kernels are the
// CPU target's functions; programs with products are left out.
#include "fake_cuda.h"
#include "fake_kernels.h"
#include "plan_job.h"
#include "support/law.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define NO_PRODUCTS                                                                      \
  "spec 1\nimport \"adamw.opt\"\nimport \"lion.opt\"\nrecipe both {\n"                   \
  "  clip global_norm 0.5\n  skip nonfinite\n  use lion when rank >= 2\n  use "          \
  "adamw\n}\n"

struct way {
  const char *offload;
  uint64_t chunk_bytes;
  uint32_t slots;
  bool overlap;
  uint64_t subsets;
};
static const struct way ways[] = {
    {"none", 0, 0, false, 0},
    {"none", 0, 0, false, 5},
    {"host", 4 * KIB, 3, false, 0},
    {"host", 4 * KIB, 8, false, 7},
    {"host", 64 * KIB, 4, true, 0},
    {"host", 64 * KIB, 3, true, 11},
    {"host:0.5", 16 * KIB, 3, false, 17},
    {"host:0.5", 16 * KIB, 5, true, 0},
};

// The CUDA program of a job with images of the fake driver, and the functions of its kernels.
struct cuda {
  struct plan_job job;
  struct driver cpu;
  struct rt_kernel *kernel;
  rt_map_fn *fn;
};

static rt_map_fn function_of(const struct steprt_program *cpu, const char *name) {
  for (uint32_t i = 0; i < cpu->n_kernels; i++) {
    if (strcmp(cpu->kernel[i].name, name) == 0) {
      return cpu->kernel[i].fn;
    }
  }
  return NULL;
}

static void compile(struct cuda *c, const char *spec, const char *model,
                    const struct way *w) {
  struct driver_input in;
  plan_job_open(&c->job, spec, model, true);
  in = c->job.input;
  in.names_cuda = false;
  struct front *f = &c->job.front;
  c->cpu = (struct driver){0};
  cr_assert(driver_run(f, &in, &c->cpu), "%s", plan_job_said(&c->job));
  struct plan_options o = {.offload = str_of(w->offload),
                           .chunk_bytes = w->chunk_bytes,
                           .slots = w->slots,
                           .overlap = w->overlap};
  struct steprt_program *p = c->job.driver.step;
  c->kernel = ARENA_ARRAY(f->arena, struct rt_kernel, p->n_kernels);
  c->fn = ARENA_ARRAY(f->arena, rt_map_fn, p->n_kernels);
  for (uint32_t k = 0; k < p->n_kernels; k++) {
    c->kernel[k] = p->kernel[k];
    c->kernel[k].image = FAKE_IMAGE;
    c->kernel[k].image_bytes = sizeof FAKE_IMAGE;
    c->fn[k] = function_of(c->cpu.step, p->kernel[k].name);
  }
  p->kernel = c->kernel;
  cr_assert_not_null(plan_job_plan(&c->job, &o), "%s", plan_job_said(&c->job));
}

static void check(const char *spec, const char *model, const struct way *w,
                  uint64_t seed) {
  struct cuda c;
  compile(&c, spec, model, w);
  struct law_digest expected = law_run(c.cpu.step, &(struct law_run){.threads = 1});
  setenv("STEPC_LIBRARY_PATH", STEPC_BUILD_DIR "/fake-cuda", 1);
  fake_cuda_reset(seed);
  fake_cuda_trust();
  fake_kernels_register(c.job.driver.step, c.fn);
  struct law_digest got =
      law_run(c.job.driver.step, &(struct law_run){.threads = 1, .subsets = w->subsets});
  cr_expect_str_eq(
      got.hex, expected.hex,
      "offload %s, chunks of %llu, %u slots, overlap %d, subsets %llu, seed %llu",
      w->offload, (unsigned long long)w->chunk_bytes, w->slots, w->overlap,
      (unsigned long long)w->subsets, (unsigned long long)seed);
  cr_expect_eq(fake_cuda_calls("cuLaunchKernel") > 0, true);
  struct fake_live l = fake_cuda_live();
  cr_expect(l.streams == 0 && l.events == 0 && l.allocations == 0 && l.contexts == 0);
  driver_free(&c.cpu);
  plan_job_close(&c.job);
}

static void check_all(const char *spec, const char *model) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    check(spec, model, &ways[i], i + 1);
  }
}

Test(cuda_laws, adamw) {
  check_all(STEPC_SOURCE_DIR "/specs/adamw.opt", law_model);
}

Test(cuda_laws, adamw_bf16) {
  check_all(STEPC_SOURCE_DIR "/specs/adamw.opt", law_model_bf16);
}

Test(cuda_laws, sgd_bf16) {
  check_all(STEPC_SOURCE_DIR "/specs/sgd.opt", law_model_bf16);
}

Test(cuda_laws, clip_and_skip) {
  check_all(NO_PRODUCTS, law_model);
}
