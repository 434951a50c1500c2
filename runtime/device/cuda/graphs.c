// The operations of a chunk on COMPUTE as a captured graph: some forty launches become one, so that the host is done with
// a step long before the device, and the driver's queue of launches never fills and blocks it (L2). Everything that the
// launches take is known at bind: scalars, gradients and the verdict lie at fixed places of the device.
//
// The list of operations stays what is executed: a graph is captured from issuing it, and stands for a chunk only while
// that is issued whole and not traced.
#include "device/cuda/cuda.h"

static bool is_compute(const struct rt_device *d, uint32_t op) {
  return d->plan->op[op].lane == RT_LANE_COMPUTE;
}

// Its first operation on COMPUTE may wait, its last signal, none between: then one launch can stand for all.
static bool is_simple(const struct rt_device *d, const struct rt_chunk *c,
                      uint32_t *first, uint32_t *last) {
  *first = *last = RT_NO_ID;
  for (uint32_t i = c->first_op; i < c->first_op + c->n_ops; i++) {
    if (!is_compute(d, i)) {
      continue;
    }
    if (*first == RT_NO_ID) {
      *first = i;
    } else if (d->plan->op[i].n_waits > 0 || d->plan->op[*last].signal != RT_NO_ID) {
      return false;
    }
    *last = i;
  }
  return *first != RT_NO_ID;
}

static steprt_status launch_all(struct rt_device *d, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; i++) {
    const struct rt_op *op = &d->plan->op[i];
    if (is_compute(d, i)) {
      d->doing = op;
      steprt_status s = cu_run_op(d, op, &d->op_table[i], op->first, op->n, NULL);
      d->doing = NULL;
      RT_TRY(s);
    }
  }
  return STEPRT_OK;
}

static steprt_status instantiate(struct rt_device *d, void *graph, void **exec) {
  CU_TRY(d, graph_instantiate, exec, graph, 0);
  CU_TRY(d, graph_upload, *exec, d->lane[RT_LANE_COMPUTE]);
  return STEPRT_OK;
}

static steprt_status capture(struct rt_device *d, struct cu_graph *g) {
  void *graph = NULL, *compute = d->lane[RT_LANE_COMPUTE];
  CU_TRY(d, capture_begin, compute, CU_CAPTURE_RELAXED);
  steprt_status s = launch_all(d, g->first, g->last);
  int ended = d->driver.capture_end(compute, &graph);
  if (!s && ended != CU_SUCCESS) {
    s = cu_error(d, ended, "capture_end");
  }
  if (!s) {
    s = instantiate(d, graph, &g->exec);
  }
  if (graph != NULL) {
    (void)d->driver.graph_destroy(graph);
  }
  return s;
}

steprt_status cu_graphs_make(struct rt_device *d) {
  if (d->trace.record != NULL) {
    return STEPRT_OK;
  }
  cu_graphs_close(d); // of a bind that failed
  d->graph = rt_memory_alloc(&d->rt->memory, d->plan->n_chunks, sizeof *d->graph);
  if (!d->graph) {
    return rt_refuse(d->rt, STEPRT_NO_MEMORY, "out of memory");
  }
  for (uint32_t i = 0; i < d->plan->n_chunks; i++) {
    struct cu_graph *g = &d->graph[i];
    if (is_simple(d, &d->plan->chunk[i], &g->first, &g->last)) {
      RT_TRY(capture(d, g));
    }
  }
  return STEPRT_OK;
}

void cu_graphs_close(struct rt_device *d) {
  for (uint32_t i = 0; d->graph && i < d->plan->n_chunks; i++) {
    if (d->graph[i].exec) {
      (void)d->driver.graph_exec_destroy(d->graph[i].exec);
    }
  }
  d->graph = NULL;
}
