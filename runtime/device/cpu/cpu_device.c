// The CPU as a device: what the core calls.
#include "device/cpu/exec.h"

static void note(void *ctx, const char *text) {
  rt_note(ctx, "%s", text);
}

static steprt_status open_team(struct rt_device *d, uint32_t threads) {
  steprt_status s = rt_team_new(threads, &d->team);
  if (s == STEPRT_BAD_ARGUMENT) {
    return rt_refuse(d->rt, s, "%u threads are too many", threads);
  }
  if (s) {
    return rt_refuse(d->rt, s, "no memory or no threads for a team of %u", threads);
  }
  return STEPRT_OK;
}

static steprt_status open_slab(struct rt_device *d,
                               const struct steprt_options *options) {
  const struct rt_slab_request r = {.bytes = d->plan->host_bytes,
                                    .limit = options->host_memory,
                                    .node = -1,
                                    .team = d->team,
                                    .note = note,
                                    .note_ctx = d->rt};
  char why[480];
  double start = rt_now();
  steprt_status s = rt_slab_open(&r, &d->host, why, sizeof why);
  d->rt->slab_seconds = rt_now() - start;
  return s ? rt_refuse(d->rt, s, "%s", why) : STEPRT_OK;
}

static steprt_status check_ops(struct rt_device *d) {
  for (uint32_t i = 0; i < d->program->n_kernels; i++) {
    if (!d->program->kernel[i].fn) {
      return rt_refuse(d->rt, STEPRT_BAD_PROGRAM, "kernel %u '%s' has no code", i,
                       rt_show(d->program->kernel[i].name).text);
    }
  }
  for (uint32_t i = 0; i < d->plan->n_ops; i++) {
    uint32_t kind = d->plan->op[i].kind;
    if (kind == RT_OP_MERGE || kind == RT_OP_EXCHANGE) {
      return rt_refuse(d->rt, STEPRT_BAD_PROGRAM,
                       "operation %u exchanges with other ranks: not on this device", i);
    }
  }
  return STEPRT_OK;
}

static steprt_status open_all(struct rt_device *d, const struct steprt_options *options) {
  RT_TRY(check_ops(d));
  RT_TRY(open_team(d, options->threads));
  RT_TRY(cpu_exec_open(d));
  RT_TRY(open_slab(d, options));
  return cpu_lanes_open(&d->lanes, &d->rt->memory, options->trace != 0);
}

static steprt_status start_compute(struct rt_device *d) {
  return d->blas ? rt_blas_warm(d->blas, d->team) : STEPRT_OK;
}

static void cpu_close(struct rt_device *d) {
  cpu_lanes_close(&d->lanes);
  rt_team_free(d->team);
  rt_blas_close(d->blas);
  rt_slab_close(&d->host);
}

static steprt_status cpu_open(struct steprt *rt, const struct steprt_options *options,
                              struct rt_device **out) {
  struct rt_device *d = rt_memory_alloc(&rt->memory, 1, sizeof *d);
  if (!d) {
    return STEPRT_NO_MEMORY;
  }
  d->rt = rt;
  d->program = rt->program;
  d->plan = rt->plan;
  d->lanes.device = d;
  d->lanes.plan = rt->plan;
  d->lanes.exec = cpu_exec;
  d->lanes.start = start_compute;
  d->lanes.waits = &rt->counters.waits;
  steprt_status s = open_all(d, options);
  if (s) {
    cpu_close(d);
    return s;
  }
  *out = d;
  return STEPRT_OK;
}

static steprt_status still(struct rt_device *d, steprt_status s) {
  return s ? rt_fail(d->rt, "this process was forked in the middle of a step")
           : STEPRT_OK;
}

static steprt_status issue(struct rt_device *d, const struct cpu_entry *e) {
  return still(d, cpu_lanes_issue(&d->lanes, e));
}

// Waits that the core counts or that are the caller's wish.
static steprt_status wait_for(struct rt_device *d, enum rt_lane lane, uint64_t ticket) {
  uint64_t waits = 0;
  return still(d, cpu_lanes_wait(&d->lanes, lane, ticket, &waits));
}

static steprt_status cpu_wait(struct rt_device *d, bool compute_only) {
  for (uint32_t i = 0; i < RT_N_LANES; i++) {
    enum rt_lane lane = (enum rt_lane)i;
    if (lane == RT_LANE_COMPUTE || !compute_only) {
      RT_TRY(wait_for(d, lane, cpu_lanes_ticket(&d->lanes, lane)));
    }
  }
  return STEPRT_OK;
}

// States are zero since open.
static steprt_status cpu_bind(struct rt_device *d, void *const *params) {
  for (uint32_t i = 0; i < d->plan->n_params; i++) {
    d->param[i] = params[i];
  }
  for (uint32_t i = 0; i < d->plan->n_init; i++) {
    const struct rt_op *op = &d->plan->init[i];
    const struct cpu_entry e = {d->plan->n_ops + i, op->first, op->n, 0};
    RT_TRY(issue(d, &e));
  }
  RT_TRY(cpu_wait(d, false));
  d->first_record = d->lanes.next_trace; // they belong to no step
  memset(d->lanes.seconds, 0, sizeof d->lanes.seconds);
  return STEPRT_OK;
}

static steprt_status cpu_stage(struct rt_device *d, struct rt_stage **out) {
  uint32_t i = d->next_stage++ % RT_STAGES;
  RT_TRY(still(d, cpu_lanes_wait(&d->lanes, RT_LANE_COMPUTE, d->stage_ticket[i],
                                 &d->rt->counters.waits)));
  d->first_record = d->lanes.next_trace;
  d->begun = d->rt->begun;
  *out = &d->stage[i];
  return STEPRT_OK;
}

static steprt_status cpu_issue(struct rt_device *d, const struct rt_entry *e,
                               const struct rt_stage *stage) {
  const struct rt_op *op = &d->plan->op[e->op];
  uint32_t of = (uint32_t)(stage - d->stage);
  RT_TRY(issue(d, &(struct cpu_entry){e->op, e->first, e->n, of}));
  if (op->lane != RT_LANE_COMPUTE) {
    return STEPRT_OK;
  }
  uint64_t ticket = cpu_lanes_ticket(&d->lanes, RT_LANE_COMPUTE);
  if (op->chunk != RT_NO_ID) {
    d->chunk_ticket[op->chunk] = ticket;
  }
  if (op->kind == RT_OP_UPLOAD) {
    d->stage_ticket[of] = ticket;
  }
  if (op->kind == RT_OP_VERDICT) {
    d->verdict_ticket = ticket;
  }
  return STEPRT_OK;
}

static steprt_status cpu_wait_chunk(struct rt_device *d, uint32_t chunk, void *stream) {
  (void)stream;
  return wait_for(d, RT_LANE_COMPUTE, d->chunk_ticket[chunk]);
}

static steprt_status cpu_read_verdict(struct rt_device *d, struct rt_verdict *out) {
  RT_TRY(wait_for(d, RT_LANE_COMPUTE, d->verdict_ticket));
  *out = *cpu_verdict(d);
  return STEPRT_OK;
}

static steprt_status cpu_read(struct rt_device *d, struct rt_at at, void *to,
                              uint64_t bytes) {
  memcpy(to, cpu_at(d, at), bytes);
  return STEPRT_OK;
}

static steprt_status cpu_write(struct rt_device *d, struct rt_at at, const void *from,
                               uint64_t bytes) {
  memcpy(cpu_at(d, at), from, bytes);
  return STEPRT_OK;
}

static void *cpu_address(struct rt_device *d, struct rt_at at) {
  return cpu_at(d, at);
}

static void cpu_times(struct rt_device *d, double *seconds) {
  memcpy(seconds, d->lanes.seconds, sizeof d->lanes.seconds);
}

static uint64_t cpu_trace(struct rt_device *d, struct steprt_trace_record *out,
                          uint64_t n) {
  uint64_t all = d->lanes.trace ? d->lanes.next_trace - d->first_record : 0;
  for (uint64_t i = 0; i < n && i < all; i++) {
    out[i] = d->lanes.trace[(d->first_record + i) % d->lanes.n_trace];
    out[i].begin -= d->begun;
    out[i].end -= d->begun;
  }
  return all;
}

const struct rt_device_class rt_device_cpu = {.name = "cpu",
                                              .open = cpu_open,
                                              .close = cpu_close,
                                              .bind = cpu_bind,
                                              .stage = cpu_stage,
                                              .issue = cpu_issue,
                                              .wait_chunk = cpu_wait_chunk,
                                              .wait = cpu_wait,
                                              .verdict = cpu_read_verdict,
                                              .read = cpu_read,
                                              .write = cpu_write,
                                              .address = cpu_address,
                                              .times = cpu_times,
                                              .trace = cpu_trace};
