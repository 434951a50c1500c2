// Whole programs on a CUDA device against the CPU target, through the two libraries as a trainer uses them: the same
// parameters, states, norm and skip after some steps, bit for bit, with states resident and streamed, whole steps and
// subsets of units, pointers at any element, gradients missing and not finite. Usage: gpu_step [-t TARGET] [CASE...] in
// the repository's root or a folder with specs/ and tests/models/. TARGET: "cuda"; with "cpu" the test tests itself.
#include "gpu.h"

#include "plan/program.h"
#include "stepc.h"
#include "steprt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step_case {
  const char *name, *spec, *model, *offload;
  uint64_t chunk;
  uint32_t slots,
      shift; // elements by which every second tensor is moved off an aligned address
  bool subsets;
};
static const struct step_case cases[] = {
#define STEP_CASE(name, spec, model, offload, chunk, slots, shift, subsets)              \
  {#name, spec, model, offload, chunk, slots, shift, subsets},
#include "step_cases.def"
#undef STEP_CASE
};
enum {
  STEPS = 4,
  MISSING = 1,
  NOT_FINITE = 2
}; // the steps in which a gradient is missing, has a NaN

// One side: a program, a handle, and its memory.
struct side {
  const struct gpu *gpu; // NULL: host memory
  struct steprt_program *program;
  struct steprt *rt;
  void **param, **grad, **block; // block: what was allocated, parameters before gradients
};

static void fail(const char *what, const char *text) {
  (void)fprintf(stderr, "gpu_step: %s: %s\n", what, text);
  exit(3);
}

// ---- memory

static void *new_block(const struct side *s, size_t bytes) {
  void *p =
      s->gpu != NULL ? (void *)(uintptr_t)gpu_new(s->gpu, bytes) : malloc(bytes + 1);
  if (p == NULL) {
    fail("memory", "none left");
  }
  return p;
}

static void free_block(const struct side *s, void *p) {
  if (s->gpu != NULL) {
    GPU(s->gpu, mem_free((uint64_t)(uintptr_t)p));
  } else {
    free(p);
  }
}

static void put(const struct side *s, void *to, const void *from, size_t bytes) {
  if (s->gpu != NULL) {
    GPU(s->gpu, to_device((uint64_t)(uintptr_t)to, from, bytes));
  } else {
    memcpy(to, from, bytes);
  }
}

static void get(const struct side *s, void *to, const void *from, size_t bytes) {
  if (s->gpu != NULL) {
    GPU(s->gpu, to_host(to, (uint64_t)(uintptr_t)from, bytes));
  } else {
    memcpy(to, from, bytes);
  }
}

// ---- values: a function of what, step and element; multiples of 2^-6 up to 1, exact in every storage of parameters

static void fill(void *to, uint32_t storage, uint64_t seed, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    uint64_t x = (seed * 1000003 + i + 1) * 0x9e3779b97f4a7c15u;
    float value = (float)((double)(x >> 57) - 64) / 64;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t high = (uint16_t)(bits >> 16);
    if (storage == RT_F16) { // sign, exponent less 112, ten bits: exact for these
      uint32_t magnitude = bits & 0x7fffffff;
      high = (uint16_t)((bits >> 16 & 0x8000) |
                        (magnitude == 0 ? 0 : (magnitude - (112u << 23)) >> 13));
    }
    if (storage == RT_F32) {
      ((float *)to)[i] = value;
    } else {
      ((uint16_t *)to)[i] = high;
    }
  }
}

static void put_nan(void *to, uint32_t storage) {
  const float nan = NAN;
  memcpy(to, storage == RT_F32 ? (const void *)&nan : (const void *)&(uint16_t){0x7fff},
         rt_storage_bytes(storage));
}

// ---- a side

static void open_side(struct side *s, const struct step_case *c, const char *target,
                      const struct gpu *g, bool streams) {
  struct stepc_job job = {
      .size = sizeof job, .spec = c->spec, .model = c->model, .target = target};
  struct steprt_options o = {.size = sizeof o};
  *s = (struct side){.gpu = g};
  if (streams) {
    job.offload = c->offload;
    job.chunk_bytes = c->chunk;
    job.slots = c->slots;
  }
  if (stepc_compile(&job, &s->program) != STEPC_OK) {
    fail(c->name, stepc_program_messages(s->program));
  }
  if (steprt_open(s->program, &o, &s->rt) != STEPRT_OK) {
    fail(c->name, steprt_error(s->rt));
  }
  uint32_t n = s->program->n_params;
  s->param = calloc(n, sizeof *s->param);
  s->grad = calloc(n, sizeof *s->grad);
  s->block = calloc(2 * (size_t)n, sizeof *s->block);
  for (uint32_t i = 0; i < n; i++) {
    const struct rt_param *p = &s->program->param[i];
    uint64_t shift = i % 2 != 0 ? c->shift : 0;
    s->block[i] = new_block(s, (p->numel + shift) * rt_storage_bytes(p->storage));
    s->block[n + i] = new_block(s, (p->numel + shift) * rt_storage_bytes(p->grad));
    s->param[i] = (char *)s->block[i] + shift * rt_storage_bytes(p->storage);
    s->grad[i] = (char *)s->block[n + i] + shift * rt_storage_bytes(p->grad);
    void *values = malloc(p->numel * sizeof(float) + 1);
    fill(values, p->storage, i, p->numel);
    put(s, s->param[i], values, p->numel * rt_storage_bytes(p->storage));
    free(values);
  }
  if (steprt_bind(s->rt, s->param) != STEPRT_OK) {
    fail(c->name, steprt_error(s->rt));
  }
}

static void close_side(struct side *s) {
  steprt_destroy(s->rt);
  for (uint32_t i = 0; i < 2 * s->program->n_params; i++) {
    free_block(s, s->block[i]);
  }
  free(s->param);
  free(s->grad);
  free(s->block);
  stepc_program_free(s->program);
}

// ---- a step

static void fill_grads(struct side *s, uint32_t step, const void **grads) {
  for (uint32_t i = 0; i < s->program->n_params; i++) {
    const struct rt_param *p = &s->program->param[i];
    void *values = malloc(p->numel * sizeof(float) + 1);
    fill(values, p->grad, 1000 + 100 * step + i, p->numel);
    if (step == NOT_FINITE && i == 0 && p->numel != 0) {
      put_nan(values, p->grad);
    }
    put(s, s->grad[i], values, p->numel * rt_storage_bytes(p->grad));
    free(values);
    grads[i] = p->active && !(step == MISSING && i % 3 == 1) ? s->grad[i] : NULL;
  }
}

// Units of one parity, the odd ones first.
static steprt_status run_subsets(struct steprt *rt) {
  uint32_t n = steprt_units(rt, NULL), *unit = malloc((n + 1) * sizeof *unit);
  steprt_status status = STEPRT_OK;
  for (uint32_t part = 2; part-- > 0 && status == STEPRT_OK;) {
    struct steprt_set set = {.size = sizeof set, .units = unit};
    for (uint32_t u = part; u < n; u += 2) {
      unit[set.n++] = u;
    }
    status = set.n != 0 ? steprt_run(rt, &set) : STEPRT_OK;
  }
  free(unit);
  return status;
}

static void step(struct side *s, const struct step_case *c, uint32_t i, bool subsets,
                 struct steprt_report *report) {
  const void **grads = calloc(s->program->n_params, sizeof *grads);
  fill_grads(s, i, grads);
  struct steprt_step in = {.size = sizeof in, .grads = grads};
  steprt_status status = steprt_begin(s->rt, &in);
  if (status == STEPRT_OK) {
    status = subsets ? run_subsets(s->rt) : steprt_run(s->rt, NULL);
  }
  status = status == STEPRT_OK ? steprt_end(s->rt) : status;
  status = status == STEPRT_OK ? steprt_wait_all(s->rt) : status;
  *report = (struct steprt_report){.size = sizeof *report};
  if (status != STEPRT_OK || steprt_report(s->rt, report) != STEPRT_OK) {
    fail(c->name, steprt_error(s->rt));
  }
  free(grads);
}

// ---- comparing

// NaNs count as one value: payloads are outside the law.
static bool is_nan(const unsigned char *p, uint32_t storage) {
  uint32_t x = 0;
  memcpy(&x, p, rt_storage_bytes(storage));
  return storage == RT_F32    ? (x & 0x7fffffff) > 0x7f800000
         : storage == RT_BF16 ? (x & 0x7fff) > 0x7f80
                              : storage == RT_F16 && (x & 0x7fff) > 0x7c00;
}

static bool same(const char *what, const char *name, uint32_t storage,
                 const unsigned char *a, const unsigned char *b, uint64_t n) {
  uint32_t w = rt_storage_bytes(storage);
  for (uint64_t i = 0; i < n; i++) {
    if (memcmp(a + i * w, b + i * w, w) != 0 &&
        !(is_nan(a + i * w, storage) && is_nan(b + i * w, storage))) {
      (void)printf("  %s of '%s' differs from element %llu on\n", what, name,
                   (unsigned long long)i);
      return false;
    }
  }
  return true;
}

static bool has_products(const struct side *s, uint32_t param) {
  const struct rt_param *p = &s->program->param[param];
  return p->active && s->program->rule[p->rule].rows != 0;
}

static bool any_products(const struct side *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->program->n_params && !any; i++) {
    any = has_products(s, i);
  }
  return any;
}

static double value_at(const unsigned char *p, uint32_t storage, uint64_t i) {
  float x;
  uint32_t bits = 0;
  if (storage == RT_F32) {
    memcpy(&x, p + 4 * i, sizeof x);
    return (double)x;
  }
  memcpy((char *)&bits + 2, p + 2 * i, 2);
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

// Values that products feed: the difference against the whole update, both in the Frobenius norm. Products in bf16 on
// both sides, in another order: their update differs by about a hundredth.
static bool close_values(const struct rt_param *p, uint64_t seed, const unsigned char *a,
                         const unsigned char *b) {
  double error = 0, update = 0;
  unsigned char *start = malloc(p->numel * sizeof(float) + 1);
  fill(start, p->storage, seed, p->numel);
  for (uint64_t i = 0; i < p->numel; i++) {
    double x = value_at(a, p->storage, i), y = value_at(b, p->storage, i);
    double z = value_at(start, p->storage, i);
    error += (x - y) * (x - y);
    update += (x - z) * (x - z);
  }
  free(start);
  bool ok = error <= 0.03 * 0.03 * update; // NaN fails
  if (!ok) {
    (void)printf("  value of '%s': error %.3g of an update of %.3g\n", p->name,
                 sqrt(error), sqrt(update));
  }
  return ok;
}

// `exact`: products too ran on the same kind of device.
static bool same_param(struct side *cpu, struct side *gpu, uint32_t i, bool exact) {
  const struct rt_param *p = &cpu->program->param[i];
  const struct rt_plan_param *q = &gpu->program->plan->param[i];
  unsigned char *a = malloc(p->numel * 4 + 1), *b = malloc(p->numel * 4 + 1);
  get(cpu, a, cpu->param[i], p->numel * rt_storage_bytes(p->storage));
  get(gpu, b, gpu->param[i], p->numel * rt_storage_bytes(p->storage));
  bool ok = exact || !has_products(cpu, i)
                ? same("value", p->name, p->storage, a, b, p->numel)
                : close_values(p, i, a, b);
  for (uint32_t k = 0; p->active && k < q->n_states; k++) {
    const struct rt_state_home *home = &gpu->program->plan->state[q->first_state + k];
    if (steprt_state_get(cpu->rt, i, home->name, a, home->bytes) != STEPRT_OK ||
        steprt_state_get(gpu->rt, i, home->name, b, home->bytes) != STEPRT_OK) {
      fail(p->name, steprt_error(gpu->rt));
    }
    ok &= same(home->name, p->name, home->storage, a, b, p->numel);
  }
  free(a);
  free(b);
  return ok;
}

static bool silent(const struct steprt *rt) {
  struct steprt_counters c = {.size = sizeof c};
  (void)steprt_counters(rt, &c);
  uint64_t all = c.allocations + c.pins + c.opens + c.compiles + c.connects +
                 c.states_created + c.waits;
  if (all != 0) {
    (void)printf("  the steps were not silent: %llu events\n", (unsigned long long)all);
  }
  return all == 0;
}

static bool equal(double x, double y) {
  return x == y || (isnan(x) && isnan(y));
}

static bool same_reports(uint32_t step, const struct steprt_report *a,
                         const struct steprt_report *b) {
  bool ok = equal(a->grad_norm, b->grad_norm) && a->skipped == b->skipped &&
            equal(a->clip_factor, b->clip_factor);
  if (!ok) {
    (void)printf(
        "  step %u: norm %a, clip %a, skipped %d; on the other side %a, %a, %d\n", step,
        b->grad_norm, b->clip_factor, b->skipped, a->grad_norm, a->clip_factor,
        a->skipped);
  }
  return ok;
}

// The case as it streams against a plain run of `target`.
static bool run_against(const struct step_case *c, struct side *gpu, const char *target,
                        const struct gpu *g, bool exact) {
  struct side plain;
  bool ok = true;
  open_side(&plain, c, target, g, false);
  for (uint32_t i = 0; i < STEPS; i++) {
    struct steprt_report a, b;
    step(&plain, c, i, false, &a);
    step(gpu, c, i, c->subsets, &b);
    ok &= same_reports(i, &a, &b);
  }
  for (uint32_t i = 0; i < plain.program->n_params; i++) {
    ok &= same_param(&plain, gpu, i, exact);
  }
  ok &= silent(gpu->rt);
  close_side(&plain);
  return ok;
}

// Values that products feed are compared with a plain run on the device, bit for bit, and with the CPU's within bounds.
static bool run_case(const struct step_case *c, const char *target, const struct gpu *g) {
  struct side gpu;
  open_side(&gpu, c, target, g, true);
  bool products = any_products(&gpu);
  bool ok = run_against(c, &gpu, "cpu", NULL, !products);
  uint32_t n_chunks = gpu.program->plan->n_chunks;
  close_side(&gpu);
  if (products) {
    open_side(&gpu, c, target, g, true);
    ok &= run_against(c, &gpu, target, g, true);
    close_side(&gpu);
  }
  (void)printf("%-18s %u chunks  %s\n", c->name, n_chunks, ok ? "same bits" : "DIFFERS");
  return ok;
}

static bool is_wanted(const char *name, int n, char **names) {
  bool wanted = n == 0;
  for (int i = 0; i < n; i++) {
    wanted = wanted || strcmp(names[i], name) == 0;
  }
  return wanted;
}

int main(int argc, char **argv) {
  struct gpu g;
  const char *target = "cuda";
  uint32_t n = 0, good = 0;
  if (argc > 2 && strcmp(argv[1], "-t") == 0) {
    target = argv[2];
    argc -= 2;
    argv += 2;
  }
  bool on_gpu = strncmp(target, "cuda", 4) == 0;
  if (on_gpu && !gpu_open(&g)) {
    return 3;
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (is_wanted(cases[i].name, argc - 1, argv + 1)) {
      n++;
      good += run_case(&cases[i], target, on_gpu ? &g : NULL);
      (void)fflush(stdout);
    }
  }
  (void)printf("%u of %u programs have the CPU's bits\n", good, n);
  if (on_gpu) {
    gpu_close(&g);
  }
  return n != 0 && good == n ? 0 : 1;
}
