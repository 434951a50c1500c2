// run and end: waves in order; inside a wave the MAP operations by all threads, then one matrix operation after the
// other, each by all threads.
#include "core/handle.h"

struct map_job {
  const struct steprt *rt;
  const struct rt_wave_op *op;
  const struct rt_item *item;
};

static void run_map(const struct steprt *rt, const struct rt_wave_op *op, uint64_t begin,
                    uint64_t end) {
  const struct rt_kernel *k = &rt->program->kernel[op->kernel];
  void *ptr[RT_MAX_PTRS];
  float scalar[RT_MAX_SCALARS];
  for (uint32_t i = 0; i < k->n_ptrs; i++) {
    ptr[i] = rt->old.base[op->buffer[i]];
  }
  for (uint32_t i = 0; i < k->n_scalars; i++) {
    scalar[i] = op->scalar[i] == RT_SCALAR_CLIP
                    ? rt->old.clip
                    : rt->old.scalars[op->param][op->scalar[i]];
  }
  k->fn(ptr, scalar, begin, end);
}

static void map_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct map_job *job = ctx;
  const struct rt_item *it = &job->item[item];
  for (uint32_t i = it->first; i < it->first + it->n; i++) {
    const struct rt_wave_op *op = &job->op[i];
    uint64_t end = it->n == 1 ? it->end : op->numel;
    if (op->kind == RT_WAVE_MAP && end > 0 && job->rt->takes_part[op->param]) {
      run_map(job->rt, op, it->begin, end);
    }
  }
}

static void run_orthos(struct steprt *rt, const struct rt_wave_op *ops,
                       const struct rt_wave *w) {
  for (uint32_t i = w->first_op; i < w->first_op + w->n_ops; i++) {
    const struct rt_wave_op *op = &ops[i];
    if (op->kind == RT_WAVE_ORTHO && rt->takes_part[op->param] && op->batch > 0 &&
        op->rows > 0 && op->cols > 0) {
      struct rt_matrices m = {.in = rt->old.base[op->in],
                              .in_storage = rt->program->buffer[op->in].storage,
                              .out = rt->old.base[op->out],
                              .batch = op->batch,
                              .rows = op->rows,
                              .cols = op->cols};
      rt_ortho(rt->old.blas, rt->old.team, &rt->program->iteration[op->iteration], &m,
               rt->old.scratch);
    }
  }
}

void rt_run_schedule(struct steprt *rt, const struct rt_schedule *s) {
  double last = rt_now();
  for (uint32_t i = 0; i < s->n_waves; i++) {
    const struct rt_wave *w = &s->wave[i];
    struct map_job job = {rt, s->op, s->item + w->first_item};
    rt_team_run(rt->old.team, w->n_items, map_item, &job);
    double mapped = rt_now();
    rt->report.map_seconds += mapped - last;
    last = mapped;
    if (!w->has_ortho) {
      continue;
    }
    run_orthos(rt, s->op, w);
    last = rt_now();
    rt->report.matrix_seconds += last - mapped;
  }
}

static uint64_t map_bytes(const struct steprt *rt) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < rt->program->n_ops; i++) {
    const struct rt_wave_op *op = &rt->program->op[i];
    if (op->kind != RT_WAVE_MAP || !rt->takes_part[op->param]) {
      continue;
    }
    const struct rt_kernel *k = &rt->program->kernel[op->kernel];
    bytes += op->numel * ((uint64_t)k->bytes_read + k->bytes_written);
  }
  return bytes;
}

steprt_status rt_old_run(struct steprt *rt, const struct steprt_set *units) {
  if (units) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                     "run: sets of units are not known to this device; NULL runs all");
  }
  if (rt->old.ran) {
    return rt_refuse(rt, STEPRT_BAD_STATE, "run: all units have run in this step");
  }
  if (!rt->report.skipped) {
    rt_run_schedule(rt, &rt->old.step);
    rt->report.bytes_moved += map_bytes(rt);
  }
  rt->old.ran = true;
  return STEPRT_OK;
}

steprt_status rt_old_end(struct steprt *rt) {
  if (!rt->old.ran) {
    return rt_refuse(rt, STEPRT_BAD_STATE, "end: a step has begun and not run");
  }
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    if (rt->takes_part[i]) {
      rt->old.base[rt->program->param[i].grad_buffer] = NULL;
    }
  }
  rt->memory.silent = false;
  rt->report.seconds = rt_now() - rt->begun;
  if (rt->memory.refused > 0) {
    return rt_fail(rt, "internal error: %llu allocations inside a step",
                   (unsigned long long)rt->memory.refused);
  }
  return STEPRT_OK;
}
