// The driver, the primary context, streams and events; and errors as text.
#include "device/cuda/cuda.h"

#include "plan/names.h"

#include <unistd.h>

// ---- errors

// ", map adamw__p0__f32 of chunk 3 (units 7 to 9)".
static void append_operation(const struct rt_device *d, char *text, size_t n) {
  const struct rt_op *op = d->doing;
  rt_append(text, n, ", %s", rt_op_names[op->kind]);
  if (op->kind == RT_OP_MAP || op->kind == RT_OP_REDUCE) {
    rt_append(text, n, " %s", rt_show(d->program->kernel[op->kernel].name).text);
  }
  if (op->chunk != RT_NO_ID) {
    const struct rt_chunk *c = &d->plan->chunk[op->chunk];
    rt_append(text, n, " of chunk %u (units %u to %u)", op->chunk, c->first_unit,
              c->first_unit + c->n_units - 1);
  }
}

steprt_status cu_error(struct rt_device *d, int error, const char *call) {
  char text[560] = "";
  rt_append(text, sizeof text, "CUDA device %d (%s)", d->context.ordinal,
            d->context.bus[0] != '\0' ? d->context.bus : "?");
  if (d->doing != NULL) {
    append_operation(d, text, sizeof text);
  }
  rt_append(text, sizeof text, ": %s: ", call);
  cu_append_error(&d->driver, error, text, sizeof text);
  if (d->doing != NULL) {
    rt_append(text, sizeof text, "; it or one before it failed");
    return rt_fail(d->rt, "%s", text);
  }
  if (error == CU_OUT_OF_MEMORY) {
    return rt_refuse(d->rt, STEPRT_NO_MEMORY, "%s", text);
  }
  // What failed on the device may come out of any later call.
  return d->opened ? rt_fail(d->rt, "%s", text)
                   : rt_refuse(d->rt, STEPRT_NO_LIBRARY, "%s", text);
}

void cu_count(struct rt_device *d, enum cu_call call) {
  struct steprt_counters *c = &d->rt->counters;
  if (!d->rt->memory.silent) {
    return;
  }
  d->rt->memory.refused += call == CU_CALL_memory_alloc;
  c->pins += call == CU_CALL_host_alloc || call == CU_CALL_host_register;
  c->opens += call == CU_CALL_stream_create || call == CU_CALL_event_create;
  c->compiles += call == CU_CALL_library_load || call == CU_CALL_kernel_function ||
                 call == CU_CALL_graph_instantiate;
}

// ---- open

static steprt_status describe(struct rt_device *d) {
  struct cu_context *c = &d->context;
  CU_TRY(d, device_get, &c->device, c->ordinal);
  CU_TRY(d, device_name, c->name, (int)sizeof c->name, c->device);
  CU_TRY(d, device_bus, c->bus, (int)sizeof c->bus, c->device);
  CU_TRY(d, device_attribute, &c->major, CU_DEVICE_MAJOR, c->device);
  CU_TRY(d, device_attribute, &c->minor, CU_DEVICE_MINOR, c->device);
  return STEPRT_OK;
}

steprt_status cu_new_event(struct rt_device *d, bool timed, void **out) {
  CU_TRY(d, event_create, out, timed ? 0 : CU_NO_TIMING);
  return STEPRT_OK;
}

// Products and updates go before other work of the device that would hold up the copies behind them.
static steprt_status make_streams(struct rt_device *d) {
  int least = 0, greatest = 0;
  CU_TRY(d, priorities, &least, &greatest);
  CU_TRY(d, stream_create, &d->lane[RT_LANE_LOAD], CU_NON_BLOCKING, least);
  CU_TRY(d, stream_create, &d->lane[RT_LANE_COMPUTE], CU_NON_BLOCKING, greatest);
  CU_TRY(d, stream_create, &d->lane[RT_LANE_STORE], CU_NON_BLOCKING, least);
  for (int i = 0; i < CU_HELPERS; i++) {
    CU_TRY(d, stream_create, &d->helper[i], CU_NON_BLOCKING, greatest);
  }
  return STEPRT_OK;
}

static steprt_status make_events(struct rt_device *d) {
  const struct rt_plan *p = d->plan;
  d->event = rt_memory_alloc(&d->rt->memory, p->n_events, sizeof *d->event);
  d->recorded = rt_memory_alloc(&d->rt->memory, p->n_events, sizeof *d->recorded);
  d->chunk_done = rt_memory_alloc(&d->rt->memory, p->n_chunks, sizeof *d->chunk_done);
  d->chunk_last = rt_memory_alloc(&d->rt->memory, p->n_chunks, sizeof *d->chunk_last);
  if (!d->event || !d->recorded || !d->chunk_done || !d->chunk_last) {
    return STEPRT_NO_MEMORY;
  }
  for (uint32_t i = 0; i < p->n_events; i++) {
    RT_TRY(cu_new_event(d, false, &d->event[i]));
  }
  for (uint32_t c = 0; c < p->n_chunks; c++) {
    const struct rt_chunk *chunk = &p->chunk[c];
    RT_TRY(cu_new_event(d, false, &d->chunk_done[c]));
    d->chunk_last[c] = RT_NO_ID;
    for (uint32_t i = chunk->first_op; i < chunk->first_op + chunk->n_ops; i++) {
      d->chunk_last[c] = p->op[i].lane == RT_LANE_COMPUTE ? i : d->chunk_last[c];
    }
  }
  RT_TRY(cu_new_event(d, false, &d->forked));
  RT_TRY(cu_new_event(d, false, &d->handed));
  RT_TRY(cu_new_event(d, false, &d->returned));
  RT_TRY(cu_new_event(d, false, &d->joined));
  return cu_new_event(d, false, &d->judged);
}

steprt_status cu_context_open(struct rt_device *d, int32_t ordinal) {
  struct cu_context *c = &d->context;
  char why[560];
  int n = 0;
  steprt_status s = cu_driver_open(&d->driver, why, sizeof why);
  if (s != STEPRT_OK) {
    return rt_refuse(d->rt, s, "%s", why);
  }
  c->ordinal = ordinal;
  c->process = getpid();
  CU_TRY(d, device_count, &n);
  if (ordinal < 0 || ordinal >= n) {
    return rt_refuse(d->rt, STEPRT_BAD_ARGUMENT,
                     "there is no CUDA device %d: the driver shows %d", ordinal, n);
  }
  RT_TRY(describe(d));
  CU_TRY(d, context_retain, &c->context, c->device);
  RT_TRY(cu_enter(d, "open"));
  s = make_streams(d);
  s = s != STEPRT_OK ? s : make_events(d);
  cu_leave(d);
  return s;
}

// ---- enter and leave

bool cu_is_home(const struct rt_device *d) {
  return d->context.process == getpid();
}

steprt_status cu_enter(struct rt_device *d, const char *call) {
  if (!cu_is_home(d)) {
    return rt_refuse(
        d->rt, STEPRT_BAD_STATE,
        "%s: this handle was opened by process %ld and CUDA does not survive "
        "fork: open one in this process, by exec or before CUDA is used",
        call, (long)d->context.process);
  }
  CU_TRY(d, context_push, d->context.context);
  return STEPRT_OK;
}

void cu_leave(struct rt_device *d) {
  void *popped;
  (void)d->driver.context_pop(&popped);
}

// ---- close

static void close_event(struct rt_device *d, void *event) {
  if (event != NULL) {
    (void)d->driver.event_destroy(event);
  }
}

static void close_stream(struct rt_device *d, void *stream) {
  if (stream != NULL) {
    (void)d->driver.stream_destroy(stream);
  }
}

// Nothing that the driver says here matters: after a failed step all of its calls fail.
void cu_context_close(struct rt_device *d) {
  for (uint32_t i = 0; d->event != NULL && i < d->plan->n_events; i++) {
    close_event(d, d->event[i]);
  }
  for (uint32_t i = 0; d->chunk_done != NULL && i < d->plan->n_chunks; i++) {
    close_event(d, d->chunk_done[i]);
  }
  close_event(d, d->forked);
  close_event(d, d->handed);
  close_event(d, d->returned);
  close_event(d, d->joined);
  close_event(d, d->judged);
  for (uint32_t i = 0; i < RT_N_LANES; i++) {
    close_stream(d, d->lane[i]);
  }
  for (uint32_t i = 0; i < CU_HELPERS; i++) {
    close_stream(d, d->helper[i]);
  }
}
