// Operations on their streams. Nothing here waits on the host, allocates or creates.
#include "device/cuda/cuda.h"

// ---- launches

static steprt_status launch(struct rt_device *d, uint32_t kernel, uint64_t blocks,
                            void **arg) {
  const struct rt_kernel *k = &d->program->kernel[kernel];
  d->n_launched++;
  CU_TRY(d, launch, d->kernel[kernel].function, (unsigned)blocks, 1, 1, k->block, 1, 1, 0,
         d->lane[RT_LANE_COMPUTE], arg, NULL);
  return STEPRT_OK;
}

static steprt_status launch_map(struct rt_device *d, const struct rt_op *op,
                                const struct cu_table *t, uint32_t first, uint32_t n) {
  const struct cu_kernel *k = &d->kernel[op->kernel];
  uint32_t at = first - op->first;
  uint32_t tiles = t->first_tile[at + n] - t->first_tile[at];
  uint64_t rows = t->at + (uint64_t)at * k->row_size;
  bool in_step =
      op->chunk != RT_NO_ID; // initial values have no gradients: all rows take part
  uint64_t upload = d->at.upload, scalar_at = upload + d->stages.scalar_at;
  uint64_t grads = in_step ? upload : 0, scalars = upload + d->stages.scalar;
  uint64_t verdict = d->at.step + RT_STEP_VERDICT;
  void *arg[] = {&rows, &n, &tiles, &scalars, &scalar_at, &grads, &verdict};
  if (tiles == 0) {
    return STEPRT_OK;
  }
  // A block per tile: the hardware starts them in order, so that each tensor is read in one run (measured best).
  return launch(d, op->kernel, tiles, arg);
}

// As many blocks as the plan has places for partial sums: a block without a tile writes an empty one.
static steprt_status launch_squares(struct rt_device *d, const struct rt_op *op,
                                    const struct cu_table *t) {
  uint64_t rows = t->at, grads = d->at.upload, parts = cu_address(d, op->work);
  uint32_t n = op->n, tiles = t->first_tile[n];
  void *arg[] = {&rows, &n, &tiles, &grads, &parts};
  return launch(d, op->kernel, op->work_bytes / RT_BINS_BYTES, arg);
}

static steprt_status launch_merge(struct rt_device *d, const struct rt_op *op) {
  uint64_t parts = cu_address(d, op->work), sum = d->at.step + RT_STEP_SUM;
  uint32_t n = (uint32_t)(op->work_bytes / RT_BINS_BYTES);
  void *arg[] = {&parts, &n, &sum};
  return launch(d, d->program->merge, 1, arg);
}

// The host reads the verdict at the next begin, so it is sent at once.
static steprt_status launch_verdict(struct rt_device *d, const struct rt_op *op,
                                    const struct rt_stage *stage) {
  uint64_t parts = cu_address(d, op->work), verdict = d->at.step + RT_STEP_VERDICT;
  uint32_t n = (uint32_t)(op->work_bytes / RT_BINS_BYTES);
  double bound = stage->bound;
  void *arg[] = {&parts, &n, &bound, &verdict}, *compute = d->lane[RT_LANE_COMPUTE];
  RT_TRY(launch(d, d->program->judge, 1, arg));
  CU_TRY(d, store, d->verdict, verdict, sizeof *d->verdict, compute);
  CU_TRY(d, event_record, d->judged, compute);
  return STEPRT_OK;
}

// ---- products

// Matrices of a row lie one behind the other; so may those of the next row.
enum { ORTHO_ROWS = 264 };

static bool continues(const struct rt_cuda_matrices *last,
                      const struct rt_cuda_ortho_call *c,
                      const struct rt_cuda_matrices *m) {
  uint64_t numel = last->n * c->rows * c->cols;
  return m->operand == last->operand + numel * c->operand_bytes &&
         m->result == last->result + numel * c->result_bytes;
}

static void add_matrices(struct rt_cuda_matrices *list, struct rt_cuda_ortho_call *c,
                         struct rt_cuda_matrices m) {
  if (c->n_list > 0 && continues(&list[c->n_list - 1], c, &m)) {
    list[c->n_list - 1].n += m.n;
  } else {
    list[c->n_list++] = m;
  }
  c->n += m.n;
}

static steprt_status run_ortho(struct rt_device *d, const struct rt_op *op,
                               uint32_t first, uint32_t n) {
  struct rt_cuda_matrices list[ORTHO_ROWS];
  struct rt_cuda_ortho_call c = {.stream = d->lane[RT_LANE_COMPUTE],
                                 .iteration = &d->program->iteration[op->kernel],
                                 .rows = op->rows,
                                 .cols = op->cols,
                                 .operand_bytes = op->in_bytes,
                                 .result_bytes = op->out_bytes,
                                 .list = list,
                                 .work = cu_address(d, op->work),
                                 .work_bytes = op->work_bytes};
  for (uint32_t i = first, end = first + n; i < end;) {
    c.n_list = 0;
    c.n = 0;
    for (; i < end && c.n_list < ORTHO_ROWS; i++) {
      const struct rt_row *row = &d->plan->row[i];
      const struct rt_at *at = &d->plan->at[row->at];
      uint64_t matrices = row->numel / (op->rows * op->cols);
      add_matrices(list, &c,
                   (struct rt_cuda_matrices){cu_address(d, at[0]), cu_address(d, at[1]),
                                             matrices});
    }
    RT_TRY(rt_cuda_ortho_run(d, d->ortho, &c));
  }
  return STEPRT_OK;
}

// ---- copies

static steprt_status copy(struct rt_device *d, const struct rt_op *op,
                          const struct rt_copy *c) {
  for (uint64_t done = 0; done < c->bytes;) {
    uint64_t at = c->host + done, n = CU_PINNED_PIECE - at % CU_PINNED_PIECE;
    n = n < c->bytes - done ? n : c->bytes - done;
    char *host = (char *)d->slab.at + at;
    uint64_t device = d->at.arena + c->arena + done;
    if (op->kind == RT_OP_LOAD) {
      CU_TRY(d, load, device, host, n, d->lane[RT_LANE_LOAD]);
    } else {
      CU_TRY(d, store, host, device, n, d->lane[RT_LANE_STORE]);
    }
    done += n;
  }
  return STEPRT_OK;
}

// Neighbours on both sides go in one call: a chunk is mostly one range of the slab.
static steprt_status copies(struct rt_device *d, const struct rt_op *op, uint32_t first,
                            uint32_t n) {
  const struct rt_copy *list = d->plan->copy;
  for (uint32_t i = first; i < first + n;) {
    struct rt_copy all = list[i++];
    while (i < first + n && list[i].host == all.host + all.bytes &&
           list[i].arena == all.arena + all.bytes) {
      all.bytes += list[i++].bytes;
    }
    RT_TRY(copy(d, op, &all));
  }
  return STEPRT_OK;
}

// ---- operations

steprt_status cu_run_op(struct rt_device *d, const struct rt_op *op,
                        const struct cu_table *t, uint32_t first, uint32_t n,
                        const struct rt_stage *stage) {
  switch ((enum rt_op_kind)op->kind) {
  case RT_OP_UPLOAD: return cu_stage_upload(d, stage);
  case RT_OP_REDUCE: return launch_squares(d, op, t);
  case RT_OP_MERGE: return launch_merge(d, op);
  case RT_OP_VERDICT: return launch_verdict(d, op, stage);
  case RT_OP_LOAD:
  case RT_OP_STORE: return copies(d, op, first, n);
  case RT_OP_MAP: return launch_map(d, op, t, first, n);
  case RT_OP_ORTHO: return run_ortho(d, op, first, n);
  case RT_OP_EXCHANGE: // refused at open
  case RT_N_OP_KINDS: break;
  }
  return STEPRT_OK;
}

// An event that was never signalled is waited for by nobody.
static steprt_status wait_events(struct rt_device *d, const struct rt_op *op) {
  for (uint32_t i = 0; i < op->n_waits; i++) {
    uint32_t event = d->plan->wait[op->first_wait + i];
    if (d->recorded[event]) {
      CU_TRY(d, stream_wait, d->lane[op->lane], d->event[event], 0);
    }
  }
  return STEPRT_OK;
}

// What an entry moves, for the trace.
static uint64_t bytes_of(const struct rt_device *d, const struct rt_op *op,
                         uint32_t first, uint32_t n) {
  bool copies = op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
  if (!copies && op->kind != RT_OP_MAP) {
    return op->bytes_read + op->bytes_written;
  }
  uint64_t bytes = 0;
  for (uint32_t i = first; i < first + n; i++) {
    bytes += copies ? d->plan->copy[i].bytes
                    : d->plan->row[i].numel * (d->plan->kernel[op->kernel].bytes_read +
                                               d->plan->kernel[op->kernel].bytes_written);
  }
  return bytes;
}

static steprt_status signal_event(struct rt_device *d, const struct rt_op *op) {
  if (op->signal != RT_NO_ID) {
    CU_TRY(d, event_record, d->event[op->signal], d->lane[op->lane]);
    d->recorded[op->signal] = true;
  }
  return STEPRT_OK;
}

steprt_status cu_issue(struct rt_device *d, const struct rt_op *op,
                       const struct cu_table *table, uint32_t first, uint32_t n,
                       const struct rt_stage *stage) {
  struct cu_trace_record *r;
  RT_TRY(wait_events(d, op));
  RT_TRY(cu_trace_start(d, op, &r));
  RT_TRY(cu_run_op(d, op, table, first, n, stage));
  RT_TRY(cu_trace_stop(d, r, r != NULL ? bytes_of(d, op, first, n) : 0));
  return signal_event(d, op);
}

steprt_status cu_issue_whole(struct rt_device *d, uint32_t id) {
  const struct rt_op *op = &d->plan->op[id];
  const struct cu_graph *g = &d->graph[op->chunk];
  RT_TRY(wait_events(d, op));
  if (id == g->first) {
    RT_TRY(cu_graphs_launch(d, g));
  }
  return signal_event(d, op);
}
