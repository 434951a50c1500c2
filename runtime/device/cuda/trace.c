// Times of operations, where options.trace asks for them: two events each, made at open, read after the step.
#include "device/cuda/cuda.h"

// A step of subsets cuts operations: room for some of it. What does not fit is counted and noted.
enum { SPARE_RECORDS = 1024 };

steprt_status cu_trace_open(struct rt_device *d) {
  struct cu_trace *t = &d->trace;
  uint32_t n = d->plan->n_ops + SPARE_RECORDS;
  t->record = rt_memory_alloc(&d->rt->memory, n, sizeof *t->record);
  if (!t->record) {
    return STEPRT_NO_MEMORY;
  }
  t->limit = n;
  RT_TRY(cu_new_event(d, true, &t->begun));
  for (uint32_t i = 0; i < n; i++) {
    RT_TRY(cu_new_event(d, true, &t->record[i].begin));
    RT_TRY(cu_new_event(d, true, &t->record[i].end));
  }
  return STEPRT_OK;
}

void cu_trace_close(struct rt_device *d) {
  struct cu_trace *t = &d->trace;
  for (uint32_t i = 0; i < t->limit; i++) {
    if (t->record[i].begin != NULL) {
      (void)d->driver.event_destroy(t->record[i].begin);
    }
    if (t->record[i].end != NULL) {
      (void)d->driver.event_destroy(t->record[i].end);
    }
  }
  if (t->begun != NULL) {
    (void)d->driver.event_destroy(t->begun);
  }
}

void cu_trace_clear(struct rt_device *d) {
  struct cu_trace *t = &d->trace;
  if (t->left_out != 0) {
    rt_note(d->rt, "trace: %llu operations of a step were not timed",
            (unsigned long long)t->left_out);
  }
  t->n = 0;
  t->left_out = 0;
}

steprt_status cu_trace_begin(struct rt_device *d) {
  const struct cu_trace *t = &d->trace;
  if (t->record == NULL || t->n != 0) {
    return STEPRT_OK;
  }
  CU_TRY(d, event_record, t->begun, d->lane[RT_LANE_COMPUTE]);
  return STEPRT_OK;
}

steprt_status cu_trace_start(struct rt_device *d, const struct rt_op *op,
                             struct cu_trace_record **out) {
  struct cu_trace *t = &d->trace;
  *out = NULL;
  if (t->record == NULL || op < d->plan->op || op >= d->plan->op + d->plan->n_ops) {
    return STEPRT_OK; // those of bind are in no step
  }
  if (t->n == t->limit) {
    t->left_out++;
    return STEPRT_OK;
  }
  *out = &t->record[t->n++];
  (*out)->record =
      (struct steprt_trace_record){.op = (uint32_t)(op - d->plan->op), .lane = op->lane};
  CU_TRY(d, event_record, (*out)->begin, d->lane[op->lane]);
  return STEPRT_OK;
}

steprt_status cu_trace_stop(struct rt_device *d, struct cu_trace_record *r,
                            uint64_t bytes) {
  if (r != NULL) {
    r->record.bytes = bytes;
    CU_TRY(d, event_record, r->end, d->lane[r->record.lane]);
  }
  return STEPRT_OK;
}

// Seconds from the step's begin to an event, both done.
static double seconds(struct rt_device *d, void *event) {
  float ms = 0;
  return d->driver.event_elapsed(&ms, d->trace.begun, event) == CU_SUCCESS ? ms * 1e-3
                                                                           : 0;
}

uint64_t cu_trace_read(struct rt_device *d, struct steprt_trace_record *out, uint64_t n) {
  struct cu_trace *t = &d->trace;
  for (uint32_t i = 0; i < t->n && i < n; i++) {
    out[i] = t->record[i].record;
    out[i].begin = seconds(d, t->record[i].begin);
    out[i].end = seconds(d, t->record[i].end);
  }
  return t->n;
}

void cu_trace_times(struct rt_device *d, double *kind) {
  for (uint32_t i = 0; i < d->trace.n; i++) {
    const struct cu_trace_record *r = &d->trace.record[i];
    if (r->record.lane == RT_LANE_COMPUTE) {
      kind[d->plan->op[r->record.op].kind] += seconds(d, r->end) - seconds(d, r->begin);
    }
  }
}
