// The CUDA device over a driver in host memory: same bits as a plain loop for every number of slots, order of chunks
// and order in which streams run; silent steps; traces, states and waits.
#include "cuda_run.h"

#include "device/cuda/cuda.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the reference: plain loops over whole parameters

struct answer {
  float *param[CASE_PARAMS], *m[CASE_PARAMS];
};

static float clip_of(const void *const *grads, bool *skip) {
  double sum = 0;
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    for (uint64_t e = 0; grads[i] != NULL && e < case_sizes[i]; e++) {
      double g = (double)((const float *)grads[i])[e];
      sum += g * g; // exact: gradients are multiples of 2^-15 below 1
    }
  }
  *skip = !isfinite(sum);
  double factor = bound / (sqrt(sum) + 1e-6);
  return (float)(factor > 1 ? 1 : factor);
}

static void reference_step(struct answer *a, uint32_t step, float *const *grad,
                           const void **grads, float *u) {
  bool skip;
  run_fill_grads(step, grad, grads);
  float clip = clip_of(grads, &skip), s[3];
  for (uint32_t i = 0; i < CASE_PARAMS && !skip; i++) {
    bool one = i % 3 == 1;
    if (grads[i] == NULL) {
      continue;
    }
    (void)run_fill_scalars(one, step, s);
    s[one ? 1 : 2] = clip;
    if (one) {
      cuda_case_map(CASE_MOMENTUM)((void *[]){grad[i], a->m[i], u}, s, 0, case_sizes[i]);
      cuda_case_map(CASE_UPDATE)((void *[]){a->param[i], u}, s + 2, 0, case_sizes[i]);
    } else {
      cuda_case_map(CASE_STEP)((void *[]){a->param[i], grad[i], a->m[i]}, s, 0,
                               case_sizes[i]);
    }
  }
}

static void make_answer(struct answer *a) {
  float *grad[CASE_PARAMS], *u = malloc(sizeof(float) * 100000);
  const void *grads[CASE_PARAMS];
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    a->param[i] = malloc(case_sizes[i] * sizeof(float));
    a->m[i] = calloc(case_sizes[i], sizeof(float));
    grad[i] = malloc(case_sizes[i] * sizeof(float));
    for (uint64_t e = 0; e < case_sizes[i]; e++) {
      a->param[i][e] = run_value(i, e);
      a->m[i][e] = i % 3 == 1 ? 0 : a->param[i][e];
    }
  }
  for (uint32_t s = 0; s < STEPS; s++) {
    reference_step(a, s, grad, grads, u);
  }
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    free(grad[i]);
  }
  free(u);
}

static void compare(struct run *r, const struct answer *a) {
  float *m = malloc(sizeof(float) * 100000);
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    size_t bytes = case_sizes[i] * sizeof(float);
    cr_expect_eq(memcmp(r->param[i], a->param[i], bytes), 0, "parameter %u differs", i);
    if (i != CASE_FROZEN) {
      OK(cuda->read(r->d, r->c.state[i].at, m, bytes));
      cr_expect_eq(memcmp(m, a->m[i], bytes), 0, "state of %u differs", i);
    }
  }
  free(m);
}

static void free_answer(struct answer *a) {
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    free(a->param[i]);
    free(a->m[i]);
  }
}

// ---- tests

static void run_steps(struct run *r, uint64_t seed, uint32_t slots, uint64_t elements,
                      bool subsets, bool trace) {
  struct rt_verdict v;
  run_start(r, seed, slots, elements);
  OK(run_open(r, (struct steprt_options){.trace = trace}));
  OK(cuda->bind(r->d, (void *const *)r->param));
  for (uint32_t i = 0; i < STEPS; i++) {
    uint64_t waits = fake_cuda_waits();
    run_step(r, i, subsets);
    cr_expect_eq(fake_cuda_waits(), waits, "a step waits");
    OK(cuda->verdict(r->d, &v));
    cr_expect_eq(v.skip != 0, i == 2);
  }
  OK(cuda->wait(r->d, false));
}

Test(cuda_device, chunked_is_plain) {
  static const struct {
    uint32_t slots;
    uint64_t elements;
  } shapes[] = {{0, 200000}, {1, 16384}, {3, 4096}, {3, 20000}, {4, 65536}, {8, 8192}};
  struct answer a;
  make_answer(&a);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    for (uint64_t seed = 0; seed < 6; seed++) {
      struct run r;
      run_steps(&r, seed, shapes[i].slots, shapes[i].elements, seed % 2 != 0, false);
      compare(&r, &a);
      cr_expect_eq(r.rt.counters.waits, 0);
      run_stop(&r);
    }
  }
  free_answer(&a);
}

// The stages go round: a caller far ahead of the device waits for the oldest, once per step, and it is counted.
Test(cuda_device, far_ahead) {
  struct run run, *r = &run;
  run_start(r, 1, 3, 20000);
  OK(run_open(r, (struct steprt_options){0}));
  OK(cuda->bind(r->d, (void *const *)r->param));
  for (uint32_t i = 0; i < RT_STAGES + 2; i++) {
    run_step(r, 1, false);
  }
  cr_expect_leq(r->rt.counters.waits, 3);
  cr_expect_geq(r->rt.counters.waits, 1);
  OK(cuda->wait(r->d, true));
  run_stop(r);
}

Test(cuda_device, nothing_is_made_in_a_step) {
  static const char *const makers[] = {"cuStreamCreateWithPriority",
                                       "cuEventCreate",
                                       "cuMemAlloc",
                                       "cuMemHostAlloc",
                                       "cuMemHostRegister",
                                       "cuLibraryLoadData",
                                       "cuKernelGetFunction",
                                       "cuStreamSynchronize",
                                       "cuMemcpyHtoD",
                                       "cuMemcpyDtoH",
                                       "cuEventSynchronize"};
  struct run run, *r = &run;
  uint64_t before[sizeof makers / sizeof *makers];
  run_start(r, 7, 3, 20000);
  OK(run_open(r, (struct steprt_options){.trace = 1}));
  OK(cuda->bind(r->d, (void *const *)r->param));
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    before[i] = fake_cuda_calls(makers[i]);
  }
  run_step(r, 0, false);
  run_step(r, 1, true);
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    cr_expect_eq(fake_cuda_calls(makers[i]), before[i], "%s in a step", makers[i]);
  }
  OK(cuda->wait(r->d, false));
  run_stop(r);
}

// A whole chunk is one launch of its graph; parts of one are launched operation by operation, and so is all under a trace.
Test(cuda_device, whole_chunks_are_graphs) {
  struct run run, *r = &run;
  for (int32_t trace = 0; trace < 2; trace++) {
    run_start(r, 9, 3, 4096);
    OK(run_open(r, (struct steprt_options){.trace = trace}));
    OK(cuda->bind(r->d, (void *const *)r->param));
    run_step(r, 0, false);
    uint64_t graphs = fake_cuda_calls("cuGraphLaunch");
    uint64_t launches = fake_cuda_calls("cuLaunchKernel");
    cr_expect_eq(graphs, trace ? 0 : r->c.plan.n_chunks);
    run_step(r, 1, false);
    uint64_t more = fake_cuda_calls("cuLaunchKernel") - launches;
    cr_expect(trace ? more > r->c.plan.n_chunks : more < r->c.plan.n_chunks, "%u",
              (unsigned)more);
    graphs = fake_cuda_calls("cuGraphLaunch");
    run_step(r, 2, true);
    cr_expect_eq(fake_cuda_calls("cuGraphLaunch"), graphs);
    run_stop(r);
  }
}

Test(cuda_device, trace) {
  struct run run, *r = &run;
  struct steprt_trace_record t[64];
  double times[RT_N_OP_KINDS];
  run_steps(r, 3, 3, 20000, false, true);
  uint64_t n = cuda->trace(r->d, t, 64);
  cr_expect_eq(n, r->c.plan.n_ops);
  for (uint64_t i = 0; i < n; i++) {
    cr_expect(t[i].op == i && t[i].lane == r->c.plan.op[i].lane && t[i].end > t[i].begin);
  }
  cuda->times(r->d, times);
  cr_expect(times[RT_OP_MAP] > 0 && times[RT_OP_REDUCE] > 0 && times[RT_OP_LOAD] == 0);
  run_stop(r);
}

// States go in and out by their place, on the device and in the slab.
Test(cuda_device, states) {
  for (uint32_t slots = 0; slots <= 3; slots += 3) {
    struct run run, *r = &run;
    float in[64], out[64];
    run_start(r, 5, slots, 100000);
    OK(run_open(r, (struct steprt_options){0}));
    OK(cuda->bind(r->d, (void *const *)r->param));
    for (uint32_t i = 0; i < 64; i++) {
      in[i] = run_value(9, i);
    }
    struct rt_at at = r->c.state[4].at;
    OK(cuda->write(r->d, at, in, sizeof in));
    OK(cuda->read(r->d, at, out, sizeof out));
    cr_expect_eq(memcmp(in, out, sizeof in), 0);
    const void *address = cuda->address(r->d, at);
    cr_expect((address != NULL) == (slots != 0));
    cr_expect(address == NULL || memcmp(address, in, sizeof in) == 0);
    run_stop(r);
  }
}

// wait_chunk orders a stream behind a chunk, also one of which only a part ran: rows of an operation, or one of several
// operations, all of its rows.
static void check_wait_chunk(bool all_rows) {
  struct run run, *r = &run;
  struct rt_stage *s;
  run_start(r, 11, 0, 200000);
  OK(run_open(r, (struct steprt_options){0}));
  OK(cuda->bind(r->d, (void *const *)r->param));
  OK(cuda->wait_chunk(r->d, 0, r->stream)); // nothing was issued: nothing to wait for
  float first = r->param[0][0];
  run_fill_grads(0, r->grad, r->grads);
  OK(cuda->stage(r->d, &s));
  s->bound = bound;
  memcpy(s->grad, r->grads, sizeof r->grads);
  memset(s->scalar_at, 0, CASE_PARAMS * sizeof *s->scalar_at);
  s->n_scalars = run_fill_scalars(0, 0, s->scalar);
  OK(cuda->fork(r->d, r->stream));
  for (uint32_t i = 0; i < r->c.plan.n_begin; i++) {
    run_issue(r, s, i, r->c.plan.op[i].first, r->c.plan.op[i].n);
  }
  uint32_t op = r->c.plan.chunk[0].first_op;
  run_issue(r, s, op, r->c.plan.op[op].first, all_rows ? r->c.plan.op[op].n : 1);
  OK(cuda->wait_chunk(r->d, 0, r->stream));
  cr_expect_eq(r->param[0][0], first);
  fake_cuda_synchronize(r->stream);
  cr_expect_neq(r->param[0][0], first);
  OK(cuda->wait(r->d, true));
  run_stop(r);
}

Test(cuda_device, wait_chunk) {
  check_wait_chunk(false);
  check_wait_chunk(true);
}

// All host memory is the handle's: what it refuses inside a step (L2) is refused here too.
Test(cuda_device, memory_is_the_handles) {
  struct run run, *r = &run;
  run_start(r, 1, 3, 20000);
  r->rt.memory.silent = true;
  cr_expect_eq(run_open(r, (struct steprt_options){0}), STEPRT_NO_MEMORY);
  cr_expect_geq(r->rt.memory.refused, 1);
  run_stop(r);
}

// L2: what the driver is asked to make counts inside a step, and only there.
Test(cuda_device, what_is_made_in_a_step_is_counted) {
  struct run run, *r = &run;
  void *event;
  run_start(r, 1, 3, 20000);
  OK(run_open(r, (struct steprt_options){0}));
  OK(cuda->bind(r->d, (void *const *)r->param));
  const struct steprt_counters *c = &r->rt.counters;
  cr_expect(c->pins == 0 && c->opens == 0 && c->compiles == 0);
  r->rt.memory.silent = true;
  OK(cu_enter(r->d, "test"));
  OK(cu_new_event(r->d, false, &event));
  cr_expect_eq(r->d->driver.event_destroy(event), 0);
  cu_leave(r->d);
  cu_count(r->d, CU_CALL_host_register);
  cu_count(r->d, CU_CALL_library_load);
  cu_count(r->d, CU_CALL_memory_alloc);
  cr_expect(c->pins == 1 && c->opens == 1 && c->compiles == 1);
  cr_expect_eq(r->rt.memory.refused, 1);
  r->rt.memory.silent = false;
  run_stop(r);
}
