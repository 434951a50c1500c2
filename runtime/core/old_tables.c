// Schedule, scalars and buffers.
#include "core/tables.h"

static uint64_t op_numel(const void *ctx, uint32_t i) {
  const struct rt_wave_op *op = (const struct rt_wave_op *)ctx + i;
  return op->kind == RT_WAVE_MAP ? op->numel : 0;
}

static uint64_t grad_numel(const void *ctx, uint32_t i) {
  const struct rt_param *v = (const struct rt_param *)ctx + i;
  return v->active ? v->numel : 0;
}

// Cuts `n` operations into waves, and their MAP operations into items. Counts only where the tables are NULL.
static void cut_waves(struct rt_schedule *s, uint32_t n, uint64_t *n_items) {
  s->n_waves = 0;
  *n_items = 0;
  for (uint32_t i = 0, end; i < n; i = end) {
    struct rt_wave w = {.first_op = i, .first_item = *n_items};
    for (end = i; end < n && s->op[end].wave == s->op[i].wave; end++) {
      w.has_ortho |= s->op[end].kind == RT_WAVE_ORTHO;
    }
    w.n_ops = end - i;
    w.n_items =
        rt_items_cut(op_numel, s->op, i, w.n_ops, s->item ? s->item + *n_items : NULL);
    if (s->wave) {
      s->wave[s->n_waves] = w;
    }
    s->n_waves++;
    *n_items += w.n_items;
  }
}

static steprt_status make_schedule(struct rt_memory *m, struct rt_schedule *s,
                                   const struct rt_wave_op *op, uint32_t n) {
  uint64_t n_items;
  *s = (struct rt_schedule){.op = op};
  cut_waves(s, n, &n_items);
  s->wave = rt_memory_alloc(m, s->n_waves, sizeof *s->wave);
  s->item = rt_memory_alloc(m, n_items, sizeof *s->item);
  if (!s->wave || !s->item) {
    return STEPRT_NO_MEMORY;
  }
  cut_waves(s, n, &n_items);
  return STEPRT_OK;
}

static steprt_status make_grad_items(struct steprt *rt) {
  const struct steprt_program *p = rt->program;
  rt->old.n_grad_items = rt_items_cut(grad_numel, p->param, 0, p->n_params, NULL);
  rt->old.grad_item =
      rt_memory_alloc(&rt->memory, rt->old.n_grad_items, sizeof *rt->old.grad_item);
  rt->old.thread_sum = rt_memory_alloc(&rt->memory, rt_team_size(rt->old.team),
                                       sizeof *rt->old.thread_sum);
  if (!rt->old.grad_item || !rt->old.thread_sum) {
    return STEPRT_NO_MEMORY;
  }
  rt_items_cut(grad_numel, p->param, 0, p->n_params, rt->old.grad_item);
  return STEPRT_OK;
}

steprt_status rt_make_schedules(struct steprt *rt) {
  const struct steprt_program *p = rt->program;
  steprt_status s = make_schedule(&rt->memory, &rt->old.step, p->op, p->n_ops);
  if (!s) {
    s = make_schedule(&rt->memory, &rt->old.init, p->init, p->n_init);
  }
  if (!s && (p->clips || p->skips_nonfinite)) {
    s = make_grad_items(rt);
  }
  return s;
}

// Bytes of the buffers of a kind, each rounded up to 64; sets their addresses where `block` is given. False when the
// sum overflows.
static bool lay_out(struct steprt *rt, enum rt_buffer_kind kind, char *block,
                    uint64_t *bytes) {
  *bytes = 0;
  for (uint32_t i = 0; i < rt->program->n_buffers; i++) {
    const struct rt_buffer *b = &rt->program->buffer[i];
    if (b->kind != kind) {
      continue;
    }
    if (block) {
      rt->old.base[i] = block + *bytes;
    }
    uint64_t size = (b->numel * rt_storage_bytes(b->storage) + 63) / 64 * 64;
    if (__builtin_add_overflow(*bytes, size, bytes)) {
      return false;
    }
  }
  return true;
}

steprt_status rt_make_buffers(struct steprt *rt, enum rt_buffer_kind kind) {
  uint64_t bytes;
  if (!lay_out(rt, kind, NULL, &bytes)) {
    return STEPRT_NO_MEMORY;
  }
  char *block = rt_memory_alloc(&rt->memory, bytes, 1);
  if (!block) {
    return rt_refuse(rt, STEPRT_NO_MEMORY, "out of memory: %llu bytes for %s",
                     (unsigned long long)bytes,
                     kind == RT_BUF_STATE ? "states" : "temporaries");
  }
  lay_out(rt, kind, block, &bytes);
  rt_memory_touch(rt->old.team, block, bytes);
  return STEPRT_OK;
}
