// The operations of a chunk on COMPUTE as captured graphs: hundreds of launches become a few, so that the host is done with
// a step long before the device (L2). Everything that the launches take is known at bind: scalars, gradients and the
// verdict lie at fixed places of the device.
//
// The driver's queue of a stream holds about a thousand kernels, those of graphs counted too, and a launch beyond waits
// (measured: half of a step of 1,700 kernels). So graphs are of some hundred kernels, and COMPUTE hands them to helper
// streams in turn and takes over again behind each: the order is that of one stream, the queues are of many.
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

enum { KERNELS = 96 }; // of a graph, about

// Launches operations from `at` on until a graph is full; `at` is then the next one.
static steprt_status launch_some(struct rt_device *d, uint32_t *at, uint32_t last) {
  uint64_t before = d->n_launched;
  for (; *at <= last && d->n_launched - before < KERNELS; ++*at) {
    const struct rt_op *op = &d->plan->op[*at];
    if (is_compute(d, *at)) {
      d->doing = op;
      steprt_status s = cu_run_op(d, op, &d->op_table[*at], op->first, op->n, NULL);
      d->doing = NULL;
      RT_TRY(s);
    }
  }
  return STEPRT_OK;
}

// A graph always runs on the same helper: the driver keeps it ready there.
static void *helper_of(const struct rt_device *d, uint32_t exec) {
  return d->helper[exec % CU_HELPERS];
}

static steprt_status instantiate(struct rt_device *d, void *graph, uint32_t exec) {
  CU_TRY(d, graph_instantiate, &d->exec[exec], graph, 0);
  CU_TRY(d, graph_upload, d->exec[exec], helper_of(d, exec));
  return STEPRT_OK;
}

static steprt_status capture(struct rt_device *d, uint32_t *at, uint32_t last,
                             uint32_t exec) {
  void *graph = NULL, *compute = d->lane[RT_LANE_COMPUTE];
  CU_TRY(d, capture_begin, compute, CU_CAPTURE_RELAXED);
  steprt_status s = launch_some(d, at, last);
  int ended = d->driver.capture_end(compute, &graph);
  if (!s && ended != CU_SUCCESS) {
    s = cu_error(d, ended, "capture_end");
  }
  if (!s) {
    s = instantiate(d, graph, exec);
  }
  if (graph != NULL) {
    (void)d->driver.graph_destroy(graph);
  }
  return s;
}

static steprt_status make_graphs(struct rt_device *d) {
  for (uint32_t i = 0; i < d->plan->n_chunks; i++) {
    struct cu_graph *g = &d->graph[i];
    g->first_exec = d->n_execs;
    if (!is_simple(d, &d->plan->chunk[i], &g->first, &g->last)) {
      continue;
    }
    for (uint32_t at = g->first; at <= g->last; g->n_execs++) {
      RT_TRY(capture(d, &at, g->last, d->n_execs));
      d->n_execs++;
    }
  }
  return STEPRT_OK;
}

steprt_status cu_graphs_make(struct rt_device *d) {
  if (d->trace.record != NULL) {
    return STEPRT_OK;
  }
  cu_graphs_close(d); // of a bind that failed
  d->graph = rt_memory_alloc(&d->rt->memory, d->plan->n_chunks, sizeof *d->graph);
  d->exec = rt_memory_alloc(&d->rt->memory, d->plan->n_ops, sizeof *d->exec);
  if (!d->graph || !d->exec) {
    return rt_refuse(d->rt, STEPRT_NO_MEMORY, "out of memory");
  }
  return make_graphs(d);
}

steprt_status cu_graphs_launch(struct rt_device *d, const struct cu_graph *g) {
  void *compute = d->lane[RT_LANE_COMPUTE];
  for (uint32_t i = 0; i < g->n_execs; i++) {
    void *helper = helper_of(d, g->first_exec + i);
    CU_TRY(d, event_record, d->handed, compute);
    CU_TRY(d, stream_wait, helper, d->handed, 0);
    CU_TRY(d, graph_launch, d->exec[g->first_exec + i], helper);
    CU_TRY(d, event_record, d->returned, helper);
    CU_TRY(d, stream_wait, compute, d->returned, 0);
  }
  return STEPRT_OK;
}

void cu_graphs_close(struct rt_device *d) {
  for (uint32_t i = 0; i < d->n_execs; i++) {
    (void)d->driver.graph_exec_destroy(d->exec[i]);
  }
  d->n_execs = 0;
  d->graph = NULL;
}
