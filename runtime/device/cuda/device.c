// The class: open, bind and looking inside; a step's calls are in step.c.
#include "device/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

// ---- open and close

static void close_device(struct rt_device *d) {
  if (d == NULL) {
    return;
  }
  // In a child of fork the driver must not be called: what it holds is the parent's. The text of a failure stays.
  bool ours = d->context.context != NULL && cu_is_home(d);
  bool call = ours && d->driver.context_push(d->context.context) == CU_SUCCESS;
  if (call) {
    for (uint32_t i = 0; i < RT_N_LANES; i++) {
      if (d->lane[i] != NULL) {
        (void)d->driver.stream_synchronize(d->lane[i]);
      }
    }
    cu_graphs_close(d);
    rt_cuda_ortho_close(d, d->ortho);
    cu_trace_close(d);
    cu_stages_close(d);
    cu_kernels_close(d);
    cu_memory_close(d);
    cu_context_close(d);
    cu_leave(d);
  }
  if (ours) {
    (void)d->driver.context_release(d->context.device);
  }
  if (call || d->context.context == NULL) {
    rt_slab_close(&d->slab);
  }
  free(d);
}

// What the list asks for that this device has not, before anything is allocated.
static steprt_status check_operations(struct rt_device *d) {
  for (uint32_t i = 0; i < d->plan->n_ops; i++) {
    const struct rt_op *op = &d->plan->op[i];
    if (op->kind == RT_OP_EXCHANGE) {
      return rt_refuse(d->rt, STEPRT_BAD_PROGRAM,
                       "exchanges between GPUs do not run in this version");
    }
  }
  return STEPRT_OK;
}

static steprt_status open_products(struct rt_device *d) {
  for (uint32_t i = 0; i < d->plan->n_ops; i++) {
    if (d->plan->op[i].kind == RT_OP_ORTHO) {
      return rt_cuda_ortho_open(d, &d->ortho);
    }
  }
  return STEPRT_OK;
}

static steprt_status make_everything(struct rt_device *d,
                                     const struct steprt_options *o) {
  uint32_t n = d->program->n_params;
  d->param = rt_memory_alloc(&d->rt->memory, n, sizeof *d->param);
  d->accepted = rt_memory_alloc(&d->rt->memory, n, sizeof *d->accepted);
  if (!d->param || !d->accepted) {
    return STEPRT_NO_MEMORY;
  }
  RT_TRY(check_operations(d));
  RT_TRY(cu_kernels_open(d));
  RT_TRY(cu_tables_open(d));
  RT_TRY(cu_stages_open(d));
  RT_TRY(cu_memory_open(d, o));
  cu_tables_place(d);
  RT_TRY(open_products(d));
  return o->trace != 0 ? cu_trace_open(d) : STEPRT_OK;
}

static steprt_status open_device(struct rt_device *d, const struct steprt_options *o) {
  RT_TRY(cu_context_open(d, o->device));
  RT_TRY(cu_enter(d, "open"));
  steprt_status s = make_everything(d, o);
  cu_leave(d);
  return s;
}

static steprt_status cuda_open(struct steprt *rt, const struct steprt_options *options,
                               struct rt_device **out) {
  struct rt_device *d = calloc(1, sizeof *d);
  steprt_status s = STEPRT_NO_MEMORY;
  if (d != NULL) {
    d->rt = rt;
    d->program = rt->program;
    d->plan = rt->program->plan;
    s = open_device(d, options);
  }
  if (s == STEPRT_OK) {
    *out = d;
    d->opened = true;
    rt_note(rt, "CUDA device %d: %s, %s, driver for CUDA %d.%d", d->context.ordinal,
            d->context.name, d->context.bus, d->driver.version / 1000,
            d->driver.version % 1000 / 10);
    return s;
  }
  close_device(d);
  return s == STEPRT_NO_MEMORY && rt->error[0] == '\0' ? rt_refuse(rt, s, "out of memory")
                                                       : s;
}

// ---- bind

static steprt_status run_init(struct rt_device *d) {
  for (uint32_t i = 0; i < d->plan->n_init; i++) {
    const struct rt_op *op = &d->plan->init[i];
    d->doing = op;
    steprt_status s = cu_issue(d, op, &d->init_table[i], op->first, op->n, NULL);
    d->doing = NULL;
    RT_TRY(s);
  }
  return cu_finish(d, false);
}

static steprt_status bind(struct rt_device *d, void *const *params) {
  const struct rt_verdict none = {.clip = 1};
  RT_TRY(cu_check_params(d, params));
  for (uint32_t i = 0; i < d->program->n_params; i++) {
    d->param[i] = (uint64_t)(uintptr_t)params[i];
  }
  RT_TRY(cu_tables_bind(d));
  RT_TRY(cu_put(d, d->at.step + RT_STEP_VERDICT, &none, sizeof none));
  if (d->plan->state_bytes != 0) {
    CU_TRY(d, memory_set, d->at.state, 0, d->plan->state_bytes, d->lane[RT_LANE_COMPUTE]);
  }
  RT_TRY(run_init(d));
  return cu_graphs_make(d);
}

static steprt_status cuda_bind(struct rt_device *d, void *const *params) {
  RT_TRY(cu_enter(d, "bind"));
  steprt_status s = bind(d, params);
  cu_leave(d);
  return s;
}

// ---- looking inside

static steprt_status read_state(struct rt_device *d, struct rt_at at, void *to,
                                uint64_t bytes) {
  CU_TRY(d, to_host, to, cu_address(d, at), bytes);
  return STEPRT_OK;
}

static steprt_status cuda_read(struct rt_device *d, struct rt_at at, void *to,
                               uint64_t bytes) {
  if (at.space == RT_AT_HOST) {
    memcpy(to, (const char *)d->slab.at + at.offset, bytes);
    return STEPRT_OK;
  }
  RT_TRY(cu_enter(d, "state_get"));
  steprt_status s = bytes == 0 ? STEPRT_OK : read_state(d, at, to, bytes);
  cu_leave(d);
  return s;
}

static steprt_status cuda_write(struct rt_device *d, struct rt_at at, const void *from,
                                uint64_t bytes) {
  if (at.space == RT_AT_HOST) {
    memcpy((char *)d->slab.at + at.offset, from, bytes);
    return STEPRT_OK;
  }
  RT_TRY(cu_enter(d, "state_set"));
  steprt_status s = bytes == 0 ? STEPRT_OK : cu_put(d, cu_address(d, at), from, bytes);
  cu_leave(d);
  return s;
}

static void *cuda_address(struct rt_device *d, struct rt_at at) {
  return at.space == RT_AT_HOST ? (char *)d->slab.at + at.offset : NULL;
}

static void cuda_times(struct rt_device *d, double *kind) {
  memset(kind, 0, RT_N_OP_KINDS * sizeof *kind);
  if (d->trace.record != NULL && cu_enter(d, "report") == STEPRT_OK) {
    cu_trace_times(d, kind);
    cu_leave(d);
  }
}

static uint64_t cuda_trace(struct rt_device *d, struct steprt_trace_record *out,
                           uint64_t n) {
  uint64_t all = 0;
  if (d->trace.record != NULL && cu_enter(d, "trace") == STEPRT_OK) {
    all = cu_trace_read(d, out, n);
    cu_leave(d);
  }
  return all;
}

const struct rt_device_class rt_device_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .close = close_device,
    .bind = cuda_bind,
    .check = cu_step_check,
    .stage = cu_step_stage,
    .fork = cu_step_fork,
    .join = cu_step_join,
    .issue = cu_step_issue,
    .wait_chunk = cu_step_wait_chunk,
    .wait = cu_step_wait,
    .verdict = cu_step_verdict,
    .read = cuda_read,
    .write = cuda_write,
    .address = cuda_address,
    .times = cuda_times,
    .trace = cuda_trace,
};
