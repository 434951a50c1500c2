// From a spec and a model to a handle with seeded data.
#include "cpu_arms.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static bool say(const char *what, const char *why) {
  (void)fprintf(stderr, "bench: %s: %s\n", what, why);
  return false;
}

static bool compile(struct bench *b, const char *spec, const char *model) {
  struct sources *sources = ARENA_NEW(b->arena, struct sources);
  struct diags *diags = ARENA_NEW(b->arena, struct diags);
  sources->arena = b->arena;
  diags_init(diags, b->arena, sources);
  struct front f = {.arena = b->arena, .sources = sources, .diags = diags};
  struct driver_input in = {.spec = str_of(spec), .model = str_of(model)};
  struct driver *d = &b->driver;
  bool ok = driver_parse(&f, &in, d) && driver_model(&f, &in, d) &&
            driver_job(&f, &in, d) && driver_lower(&f, &in, d) &&
            driver_compile(&f, &in, d);
  if (!ok) {
    return say(spec, "does not compile for this model: `stepc emit` says why");
  }
  b->program = cpu_program_step(d->cpu);
  return true;
}

static void *new_array(uint64_t numel, float size) {
  uint64_t bytes = numel * sizeof(float) + 4096;
  float *x =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (x == MAP_FAILED) {
    return NULL;
  }
  (void)madvise(x, bytes, MADV_HUGEPAGE);
  for (uint64_t i = 0; i < numel; i++) {
    x[i] = size * (float)(i % 977 + 1);
  }
  return x;
}

static bool make_data(struct bench *b) {
  const struct steprt_program *p = b->program;
  b->param = ARENA_ARRAY(b->arena, void *, p->n_params);
  b->grad = ARENA_ARRAY(b->arena, const void *, p->n_params);
  for (uint32_t i = 0; i < p->n_params; i++) {
    b->param[i] = new_array(p->param[i].numel, 1e-5f);
    b->grad[i] = new_array(p->param[i].numel, 1e-6f);
    if (b->param[i] == NULL || b->grad[i] == NULL) {
      return say(p->param[i].name, "out of memory");
    }
  }
  return true;
}

static uint64_t numel_of(const void *ctx, uint32_t i) {
  const struct steprt_program *p = ctx;
  return p->param[i].numel;
}

static void find_work(struct bench *b) {
  const struct steprt_program *p = b->program;
  b->row = ARENA_ARRAY(b->arena, const struct rt_row *, p->n_params);
  for (uint32_t i = p->plan->n_ops; i-- > 0;) {
    const struct rt_op *op = &p->plan->op[i];
    for (uint32_t r = op->first; op->kind == RT_OP_MAP && r < op->first + op->n; r++) {
      b->row[p->plan->row[r].param] = &p->plan->row[r];
    }
  }
  b->n_items = rt_items_cut(numel_of, p, 0, p->n_params, NULL);
  b->item = ARENA_ARRAY(b->arena, struct rt_item, b->n_items);
  (void)rt_items_cut(numel_of, p, 0, p->n_params, b->item);
}

bool bench_step(struct bench *b) {
  struct steprt_step step = {.size = sizeof step, .grads = b->grad};
  bool ok = steprt_begin(b->rt, &step) == STEPRT_OK &&
            steprt_run(b->rt, NULL) == STEPRT_OK && steprt_end(b->rt) == STEPRT_OK &&
            steprt_wait_all(b->rt) == STEPRT_OK;
  return ok || say("step", steprt_error(b->rt));
}

bool bench_open(struct bench *b, const char *spec, const char *model, uint32_t threads) {
  *b = (struct bench){.arena = arena_new(0)};
  struct steprt_options options = {.size = sizeof options, .threads = threads};
  if (!compile(b, spec, model) || !make_data(b)) {
    return false;
  }
  if (rt_team_new(threads, &b->team) != STEPRT_OK ||
      steprt_open(b->program, &options, &b->rt) != STEPRT_OK ||
      steprt_bind(b->rt, b->param) != STEPRT_OK) {
    return say(spec, b->rt != NULL ? steprt_error(b->rt) : "no threads");
  }
  find_work(b);
  return bench_step(b);
}

void bench_close(struct bench *b) {
  steprt_destroy(b->rt);
  rt_team_free(b->team);
  driver_free(&b->driver);
  arena_free(b->arena);
}
