// What operations on the CPU need, made at open: memory, items, stages, scratch for products.
#include "device/cpu/exec.h"

static steprt_status out_of_memory(struct rt_device *d, uint64_t bytes,
                                   const char *what) {
  return rt_refuse(d->rt, STEPRT_NO_MEMORY, "out of memory: %llu bytes for %s",
                   (unsigned long long)bytes, what);
}

// Zeroed, its pages in place.
static char *make_block(struct rt_device *d, uint64_t bytes) {
  char *block = rt_memory_alloc(&d->rt->memory, bytes, 1);
  if (block) {
    rt_memory_touch(d->team, block, bytes);
  }
  return block;
}

static steprt_status make_blocks(struct rt_device *d) {
  const struct rt_plan *plan = d->plan;
  uint64_t least = RT_STEP_VERDICT + sizeof(struct rt_verdict);
  uint64_t step = plan->step_bytes > least ? plan->step_bytes : least;
  if (!(d->state = make_block(d, plan->state_bytes))) {
    return out_of_memory(d, plan->state_bytes, "states");
  }
  if (!(d->arena = make_block(d, plan->arena_bytes))) {
    return out_of_memory(d, plan->arena_bytes, "slots and temporaries");
  }
  if (!(d->step = make_block(d, step))) {
    return out_of_memory(d, step, "sums");
  }
  const struct rt_verdict none = {.clip = 1};
  memcpy(d->step + RT_STEP_VERDICT, &none, sizeof none);
  return STEPRT_OK;
}

static void *make(struct rt_device *d, uint64_t n, uint64_t size) {
  return rt_memory_alloc(&d->rt->memory, n, size);
}

static steprt_status make_stages(struct rt_device *d) {
  uint64_t n = d->plan->n_params, scalars = rt_stage_scalars(d->program);
  bool ok = (d->scalar = make(d, scalars, sizeof *d->scalar)) &&
            (d->scalar_at = make(d, n, sizeof *d->scalar_at)) &&
            (d->grad = make(d, n, sizeof *d->grad)) &&
            (d->param = make(d, n, sizeof *d->param)) &&
            (d->chunk_ticket = make(d, d->plan->n_chunks, sizeof *d->chunk_ticket)) &&
            (d->thread_sum = make(d, rt_team_size(d->team), sizeof *d->thread_sum));
  for (int i = 0; i < RT_STAGES && ok; i++) {
    struct rt_stage *s = &d->stage[i];
    ok = (s->scalar = make(d, scalars, sizeof *s->scalar)) &&
         (s->scalar_at = make(d, n, sizeof *s->scalar_at)) &&
         (s->grad = make(d, n, sizeof *s->grad));
  }
  return ok ? STEPRT_OK : STEPRT_NO_MEMORY;
}

static uint64_t row_numel(const void *ctx, uint32_t i) {
  return ((const struct rt_row *)ctx)[i].numel;
}

// The items of all operations over rows, one list behind the other; counts only where there is no table yet.
static uint64_t cut_rows(struct rt_device *d) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < d->plan->n_ops + d->plan->n_init; i++) {
    const struct rt_op *op = cpu_op(d->plan, i);
    if (op->kind != RT_OP_MAP && op->kind != RT_OP_REDUCE) {
      continue;
    }
    struct rt_item *into = d->item ? d->item + n : NULL;
    uint64_t items = rt_items_cut(row_numel, d->plan->row, op->first, op->n, into);
    d->cut[i] = (struct cpu_cut){n, items};
    n += items;
  }
  return n;
}

static steprt_status make_items(struct rt_device *d) {
  d->cut = make(d, (uint64_t)d->plan->n_ops + d->plan->n_init, sizeof *d->cut);
  d->item = d->cut ? make(d, cut_rows(d), sizeof *d->item) : NULL;
  if (!d->item) {
    return STEPRT_NO_MEMORY;
  }
  cut_rows(d);
  return STEPRT_OK;
}

// The BLAS and its scratch, only where the step has a matrix operation.
static steprt_status open_products(struct rt_device *d) {
  size_t most = 0;
  bool needed = false;
  for (uint32_t i = 0; i < d->plan->n_ops; i++) {
    const struct rt_op *op = &d->plan->op[i];
    if (op->kind == RT_OP_ORTHO) {
      size_t bytes = rt_ortho_scratch(&d->program->iteration[op->kernel], op->rows,
                                      op->cols, rt_team_size(d->team));
      most = bytes > most ? bytes : most;
      needed = true;
    }
  }
  if (!needed) {
    return STEPRT_OK;
  }
  char why[480];
  steprt_status s = rt_blas_open(&d->blas, why, sizeof why);
  if (s) {
    return rt_refuse(d->rt, s, "no BLAS for matrix products: %s", why);
  }
  if (*why) {
    rt_note(d->rt, "%s", why);
  }
  rt_note(d->rt, "products by %s", rt_blas_name(d->blas));
  d->scratch = make_block(d, most);
  return d->scratch ? STEPRT_OK : out_of_memory(d, most, "products");
}

steprt_status cpu_exec_open(struct rt_device *d) {
  RT_TRY(make_stages(d));
  RT_TRY(make_items(d));
  RT_TRY(make_blocks(d));
  return open_products(d);
}
