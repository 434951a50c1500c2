// A step's calls: what the core enqueues, and the few places that wait. Each pushes the context and pops it.
#include "device/cuda/cuda.h"

steprt_status cu_finish(struct rt_device *d, bool compute_only) {
  CU_TRY(d, stream_synchronize, d->lane[RT_LANE_COMPUTE]);
  if (!compute_only) {
    CU_TRY(d, stream_synchronize, d->lane[RT_LANE_LOAD]);
    CU_TRY(d, stream_synchronize, d->lane[RT_LANE_STORE]);
  }
  return STEPRT_OK;
}

static steprt_status check(struct rt_device *d, const void *const *grads, void *stream) {
  RT_TRY(cu_check_stream(d, stream));
  return grads != NULL ? cu_check_grads(d, grads) : STEPRT_OK;
}

steprt_status cu_step_check(struct rt_device *d, const void *const *grads, void *stream) {
  RT_TRY(cu_enter(d, "begin"));
  steprt_status s = check(d, grads, stream);
  cu_leave(d);
  return s;
}

steprt_status cu_step_stage(struct rt_device *d, struct rt_stage **out) {
  RT_TRY(cu_enter(d, "begin"));
  steprt_status s = cu_stage_next(d, out);
  cu_trace_clear(d);
  cu_leave(d);
  return s;
}

static steprt_status fork_lanes(struct rt_device *d, void *stream) {
  RT_TRY(cu_check_stream(d, stream));
  CU_TRY(d, event_record, d->forked, stream);
  CU_TRY(d, stream_wait, d->lane[RT_LANE_COMPUTE], d->forked, 0);
  return cu_trace_begin(d);
}

steprt_status cu_step_fork(struct rt_device *d, void *stream) {
  RT_TRY(cu_enter(d, "begin"));
  steprt_status s = fork_lanes(d, stream);
  cu_leave(d);
  return s;
}

static steprt_status join_lanes(struct rt_device *d, void *stream) {
  RT_TRY(cu_check_stream(d, stream));
  CU_TRY(d, event_record, d->joined, d->lane[RT_LANE_COMPUTE]);
  CU_TRY(d, stream_wait, stream, d->joined, 0);
  return STEPRT_OK;
}

steprt_status cu_step_join(struct rt_device *d, void *stream) {
  RT_TRY(cu_enter(d, "run"));
  steprt_status s = join_lanes(d, stream);
  cu_leave(d);
  return s;
}

static steprt_status issue(struct rt_device *d, const struct rt_entry *e,
                           const struct rt_stage *stage) {
  const struct rt_op *op = &d->plan->op[e->op];
  bool graph = e->whole && op->lane == RT_LANE_COMPUTE && d->graph != NULL &&
               d->graph[op->chunk].n_execs != 0;
  RT_TRY(graph ? cu_issue_whole(d, e->op)
               : cu_issue(d, op, &d->op_table[e->op], e->first, e->n, stage));
  // Of a part of a chunk it is not known which operation is the last.
  bool ends = op->chunk != RT_NO_ID && op->lane == RT_LANE_COMPUTE &&
              (d->chunk_last[op->chunk] == e->op || !e->whole);
  if (ends) {
    CU_TRY(d, event_record, d->chunk_done[op->chunk], d->lane[RT_LANE_COMPUTE]);
  }
  return STEPRT_OK;
}

steprt_status cu_step_issue(struct rt_device *d, const struct rt_entry *e,
                            const struct rt_stage *stage) {
  RT_TRY(cu_enter(d, "run"));
  d->doing = &d->plan->op[e->op];
  steprt_status s = issue(d, e, stage);
  d->doing = NULL;
  cu_leave(d);
  return s;
}

static steprt_status wait_chunk(struct rt_device *d, uint32_t chunk, void *stream) {
  RT_TRY(cu_check_stream(d, stream));
  CU_TRY(d, stream_wait, stream, d->chunk_done[chunk], 0);
  return STEPRT_OK;
}

steprt_status cu_step_wait_chunk(struct rt_device *d, uint32_t chunk, void *stream) {
  RT_TRY(cu_enter(d, "wait_order"));
  steprt_status s = wait_chunk(d, chunk, stream);
  cu_leave(d);
  return s;
}

steprt_status cu_step_wait(struct rt_device *d, bool compute_only) {
  RT_TRY(cu_enter(d, "wait_all"));
  steprt_status s = cu_finish(d, compute_only);
  cu_leave(d);
  return s;
}

static steprt_status verdict(struct rt_device *d, struct rt_verdict *out) {
  CU_TRY(d, event_synchronize, d->judged);
  *out = *d->verdict;
  return STEPRT_OK;
}

steprt_status cu_step_verdict(struct rt_device *d, struct rt_verdict *out) {
  RT_TRY(cu_enter(d, "begin"));
  steprt_status s = verdict(d, out);
  cu_leave(d);
  return s;
}
