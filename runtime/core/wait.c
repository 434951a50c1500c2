// Waits, and what is known after them: the report, counters, the trace.
#include "core/issue.h"

static steprt_status wait(struct steprt *rt, bool compute_only) {
  return rt_checked(rt, rt->class->wait(rt->device, compute_only));
}

// Of the chunks that hold parameters first needed at `order` or before, the one enqueued last, in this step or, until
// their units run, in the one before; RT_NO_ID: none was.
static uint32_t last_needed(const struct steprt *rt, uint64_t order) {
  uint32_t last = RT_NO_ID;
  for (uint32_t c = 0; c < rt->plan->n_chunks; c++) {
    bool needed = rt->plan->chunk[c].order <= order && rt->chunk_issued[c] > 0;
    if (needed && (last == RT_NO_ID || rt->chunk_issued[c] > rt->chunk_issued[last])) {
      last = c;
    }
  }
  return last;
}

// One past the last chunk in the list that holds such parameters; 0: none does.
static uint64_t end_needed(const struct rt_plan *plan, uint64_t order) {
  uint32_t c = plan->n_chunks;
  while (c > 0 && plan->chunk[c - 1].order > order) {
    c--;
  }
  return c;
}

steprt_status steprt_wait_order(struct steprt *rt, uint64_t order, void *stream) {
  RT_TRY(rt_expect(rt, RT_MODE_BOUND, RT_MODE_BEGUN, "wait_order"));
  RT_TRY(rt_check_stream(rt, stream));
  uint64_t end = end_needed(rt->plan, order);
  RT_TRY(rt_issue_until(rt, end > 0 ? end + rt->plan->ahead : 0));
  uint32_t last = last_needed(rt, order);
  if (last == RT_NO_ID) {
    return STEPRT_OK;
  }
  rt->counters.order_waits += !rt->class->join;
  return rt_checked(rt, rt->class->wait_chunk(rt->device, last, stream));
}

steprt_status steprt_wait_all(struct steprt *rt) {
  RT_TRY(rt_expect(rt, RT_MODE_BOUND, RT_MODE_BEGUN, "wait_all"));
  if (rt->waited) {
    return STEPRT_OK;
  }
  RT_TRY(rt_issue_rest(rt));
  RT_TRY(wait(rt, false));
  RT_TRY(rt_settle(rt));
  rt->counters.allocations = rt->memory.refused;
  if (rt->memory.refused > 0) {
    return rt_fail(rt, "internal error: %llu allocations inside a step",
                   (unsigned long long)rt->memory.refused);
  }
  if (rt->mode == RT_MODE_BOUND) { // else the step goes on
    rt->memory.silent = false;
    rt->waited = true;
    rt->report.seconds = rt_now() - rt->begun;
  }
  return STEPRT_OK;
}

steprt_status steprt_grads_done(struct steprt *rt, void *stream) {
  RT_TRY(rt_expect(rt, RT_MODE_BOUND, RT_MODE_BEGUN, "grads_done"));
  RT_TRY(rt_check_stream(rt, stream));
  if (rt->waited) {
    return STEPRT_OK;
  }
  RT_TRY(rt_issue_rest(rt));
  if (rt->class->join) {
    return rt_checked(rt, rt->class->join(rt->device, stream));
  }
  rt->counters.waits++;
  return wait(rt, true);
}

static uint64_t element_bytes(const struct steprt *rt, const struct rt_op *op,
                              const struct rt_row *row) {
  if (op->kind == RT_OP_REDUCE) {
    return rt_storage_bytes(rt->plan->param[row->param].grad);
  }
  const struct rt_kernel *k = &rt->program->kernel[op->kernel];
  return (uint64_t)k->bytes_read + k->bytes_written;
}

// What MAP and REDUCE operations of the last step moved: rows of parameters that took part.
static uint64_t bytes_moved(const struct steprt *rt) {
  const struct rt_plan *plan = rt->plan;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < plan->n_ops; i++) {
    const struct rt_op *op = &plan->op[i];
    bool counts =
        op->kind == RT_OP_REDUCE || (op->kind == RT_OP_MAP && !rt->report.skipped);
    for (uint32_t r = op->first; counts && r < op->first + op->n; r++) {
      const struct rt_row *row = &plan->row[r];
      bytes += rt->takes_part[row->param] ? row->numel * element_bytes(rt, op, row) : 0;
    }
  }
  return bytes;
}

static void fill_report(struct steprt *rt) {
  double seconds[RT_N_OP_KINDS] = {0};
  rt->class->times(rt->device, seconds);
  rt->report.matrix_seconds = seconds[RT_OP_ORTHO];
  rt->report.map_seconds = seconds[RT_OP_MAP] + seconds[RT_OP_REDUCE] +
                           seconds[RT_OP_MERGE] + seconds[RT_OP_VERDICT];
  rt->report.bytes_moved = bytes_moved(rt);
}

steprt_status steprt_report(struct steprt *rt, struct steprt_report *out) {
  if (!rt || rt->mode < RT_MODE_OPEN || !out || out->size < sizeof out->size) {
    return STEPRT_BAD_ARGUMENT;
  }
  if (rt->mode >= RT_MODE_BOUND) {
    RT_TRY(steprt_wait_all(rt));
    fill_report(rt);
  }
  return rt_write_versioned(out, sizeof rt->report, &rt->report) ? STEPRT_OK
                                                                 : STEPRT_BAD_ARGUMENT;
}

steprt_status steprt_counters(const struct steprt *rt, struct steprt_counters *out) {
  if (!rt || rt->mode < RT_MODE_OPEN || !out ||
      !rt_write_versioned(out, sizeof rt->counters, &rt->counters)) {
    return STEPRT_BAD_ARGUMENT;
  }
  return STEPRT_OK;
}

uint64_t steprt_trace(struct steprt *rt, struct steprt_trace_record *out, uint64_t n) {
  bool ready = rt && rt->mode == RT_MODE_BOUND && !rt->failed && rt->waited;
  return ready ? rt->class->trace(rt->device, out, n) : 0;
}
