// The fixture of the CUDA device's tests.
#include "cuda_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct rt_device_class *const cuda = &rt_device_cuda;

float run_value(uint64_t seed, uint64_t i) {
  uint64_t x = (seed * 1000003 + i + 1) * 0x9e3779b97f4a7c15u;
  return (float)((double)(int64_t)(x >> 24 & 0xffff) - 32768.0) / 32768.0f;
}

void run_start(struct run *r, uint64_t seed, uint32_t slots, uint64_t elements) {
  setenv("STEPC_LIBRARY_PATH", STEPC_BUILD_DIR "/fake-cuda", 1);
  fake_cuda_reset(seed);
  *r = (struct run){0};
  cuda_case_make(&r->c, slots, elements);
  cuda_case_register(&r->c);
  r->rt.program = &r->c.program;
  r->rt.plan = &r->c.plan;
  r->rt.counters.size = sizeof r->rt.counters;
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    size_t bytes = case_sizes[i] * sizeof(float);
    r->param[i] = fake_cuda_alloc(0, bytes);
    r->grad[i] = fake_cuda_alloc(0, bytes);
    for (uint64_t e = 0; e < case_sizes[i]; e++) {
      r->param[i][e] = run_value(i, e);
    }
  }
  r->stream = fake_cuda_stream(0);
}

steprt_status run_open(struct run *r, struct steprt_options o) {
  o.size = sizeof o;
  return cuda->open(&r->rt, &o, &r->d);
}

void run_free(struct run *r) {
  fake_cuda_reset(0);
  rt_memory_free(&r->rt.memory);
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    free(r->param[i]);
    free(r->grad[i]);
    for (uint32_t s = 0; s < STEPS; s++) {
      free(r->made[s][i]);
    }
  }
}

void run_stop(struct run *r) {
  if (r->d != NULL) {
    cuda->close(r->d);
  }
  struct fake_live l = fake_cuda_live();
  cr_expect(l.streams == 1 && l.events == 0 && l.allocations == 0 && l.pinned == 0 &&
                l.libraries == 0 && l.contexts == 0 && l.graphs == 0,
            "left: %u streams, %u events, %u allocations, %u pinned, %u libraries, %u "
            "contexts, "
            "%u graphs",
            l.streams, l.events, l.allocations, l.pinned, l.libraries, l.contexts,
            l.graphs);
  run_free(r);
}

// ---- one step, as the core issues it

// Gradients of a step: parameter 4 is missing from every third one, and step 2 has a NaN.
void run_fill_grads(uint32_t step, float *const *grad, const void **grads) {
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    for (uint64_t e = 0; e < case_sizes[i]; e++) {
      grad[i][e] = run_value(100 + step * CASE_PARAMS + i, e);
    }
    grads[i] = i == CASE_FROZEN || (i == 4 && step % 3 == 1) ? NULL : grad[i];
  }
  if (step == 2) {
    grad[1][777] = NAN;
  }
}

// Scalars of a rule's phases in order: 0.1 / step for rates, beta, clip's place.
uint32_t run_fill_scalars(uint32_t rule, uint32_t step, float *to) {
  float rate = 0.1f / (float)(step + 1);
  const float zero[] = {rate, 0.9f, 1}, one[] = {0.8f, 1, rate};
  memcpy(to, rule == 0 ? zero : one, sizeof zero);
  return 3;
}

const double bound = 50;

void run_issue(struct run *r, const struct rt_stage *s, uint32_t op, uint32_t first,
               uint32_t n) {
  // The whole of an operation: the whole chunk is under way.
  const struct rt_op *all = &r->c.plan.op[op];
  bool whole = r->whole && all->chunk != RT_NO_ID && first == all->first && n == all->n;
  const struct rt_entry e = {op, first, n, whole};
  OK(cuda->issue(r->d, &e, s));
}

// The rows of one operation that belong to units of parity `part` (2: all), as runs of neighbours.
static void issue_part(struct run *r, const struct rt_stage *s, uint32_t id,
                       uint32_t part) {
  const struct rt_op *op = &r->c.plan.op[id];
  bool copies = op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
  uint32_t n = 0;
  for (uint32_t i = op->first, from; i < op->first + op->n; i++) {
    for (from = i; i < op->first + op->n; i++) {
      uint32_t unit = copies ? r->c.plan.copy[i].unit : r->c.plan.row[i].unit;
      if (part != 2 && unit % 2 != part) {
        break;
      }
    }
    if (i > from) {
      run_issue(r, s, id, from, i - from);
      n++;
    }
  }
  if (n == 0) {
    run_issue(r, s, id, op->first, 0);
  }
}

static void issue_chunks(struct run *r, const struct rt_stage *s, uint32_t part,
                         bool backwards) {
  r->whole = part == 2;
  for (uint32_t k = 0; k < r->c.plan.n_chunks; k++) {
    const struct rt_chunk *chunk =
        &r->c.plan.chunk[backwards ? r->c.plan.n_chunks - 1 - k : k];
    for (uint32_t i = 0; i < chunk->n_ops; i++) {
      issue_part(r, s, chunk->first_op + i, part);
    }
  }
}

// The caller's stream makes the gradients, as a backward pass does.
static void enqueue_grads(struct run *r, uint32_t step) {
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    if (r->made[step][i] == NULL) {
      r->made[step][i] = malloc(case_sizes[i] * sizeof(float));
    }
  }
  run_fill_grads(step, r->made[step], r->grads);
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    if (r->grads[i] != NULL) {
      r->grads[i] = r->grad[i];
      fake_cuda_copy(r->stream, r->grad[i], r->made[step][i],
                     case_sizes[i] * sizeof(float));
    }
  }
}

void run_step(struct run *r, uint32_t step, bool subsets) {
  struct rt_stage *s;
  enqueue_grads(r, step);
  OK(cuda->check(r->d, r->grads, r->stream));
  OK(cuda->stage(r->d, &s));
  s->bound = bound;
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    s->grad[i] = r->grads[i];
    s->scalar_at[i] = s->n_scalars;
    s->n_scalars += run_fill_scalars(r->c.param[i].rule, step, s->scalar + s->n_scalars);
  }
  OK(cuda->fork(r->d, r->stream));
  for (uint32_t i = 0; i < r->c.plan.n_begin; i++) {
    run_issue(r, s, i, r->c.plan.op[i].first, r->c.plan.op[i].n);
  }
  OK(cuda->fork(r->d, r->stream)); // of run
  if (subsets) {
    issue_chunks(r, s, 1, true);
    OK(cuda->fork(r->d, r->stream));
    issue_chunks(r, s, 0, false);
  } else {
    issue_chunks(r, s, 2, false);
  }
  OK(cuda->join(r->d, r->stream));
}
