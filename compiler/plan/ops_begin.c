// What a step begins with: scalars and pointers go up, squares of gradients are summed, the verdict is made.
//
// With several ranks each sums what it is to count, merges that to one set of bins, and all sets are gathered. Each
// event orders both directions: the next MERGE follows this VERDICT on its lane, and so the exchange before it.
#include "plan/plan_int.h"

static bool looks_at_gradients(const struct plan_builder *b) {
  return b->program->clips || b->program->skips_nonfinite;
}

static bool exchanges(const struct plan_builder *b) {
  return looks_at_gradients(b) && b->model->world > 1;
}

// Are gradients of this storage summed here? Where a rank counts none, it sums nothing of the first storage in use.
static bool sums_storage(const struct plan_builder *b, uint32_t storage) {
  uint32_t first = RT_F16 + 1;
  bool counts_any = false;
  for (uint32_t i = 0; i < b->program->n_params; i++) {
    const struct rt_plan_param *p = &b->param[i];
    if (b->program->param[i].active) {
      bool counts = p->counted && p->numel != 0;
      if (counts && p->grad == storage) {
        return true;
      }
      counts_any = counts_any || counts;
      first = p->grad < first ? p->grad : first;
    }
  }
  return !counts_any && storage == (first <= RT_F16 ? first : RT_F32);
}

static uint64_t sums_at(const struct plan_builder *b) {
  uint64_t gathered = exchanges(b) ? b->model->world * RT_BINS_BYTES : 0;
  return rt_round_up(RT_STEP_GATHERED + gathered, 64);
}

static uint64_t parts_bytes(const struct plan_builder *b) {
  return (uint64_t)b->target.parts * RT_BINS_BYTES;
}

// For the bound that all ranks share: gradients of every storage.
uint64_t plan_step_bytes(const struct plan_builder *b) {
  return rt_round_up(sums_at(b) + (looks_at_gradients(b) ? 3 * parts_bytes(b) : 0),
                     PLAN_ALIGN);
}

static void put_upload(struct plan_builder *b) {
  struct rt_op op = op_new(RT_OP_UPLOAD, RT_LANE_COMPUTE, RT_NO_ID);
  for (uint32_t i = 0; i < b->program->n_params; i++) {
    const struct rt_param *p = &b->program->param[i];
    if (p->active) {
      op.bytes_read += 8 + 4 + 4 * (uint64_t)b->program->rule[p->rule].n_scalars;
    }
  }
  op.bytes_written = op.bytes_read;
  put_op(b, false, op);
}

static void put_reduce(struct plan_builder *b, uint32_t storage, uint64_t at) {
  struct rt_op op = op_new(RT_OP_REDUCE, RT_LANE_COMPUTE, RT_NO_ID);
  op.kernel = b->target.on_gpu ? b->program->squares[storage] : RT_NO_ID;
  op.first = b->row.n;
  op.work = at_space(RT_AT_STEP, 0, at);
  op.work_bytes = op.bytes_written = parts_bytes(b);
  for (uint32_t i = 0; i < b->program->n_params; i++) {
    const struct rt_plan_param *p = &b->param[i];
    if (b->program->param[i].active && p->counted && p->numel != 0 &&
        p->grad == storage) {
      struct rt_row row = {.param = i, .unit = p->unit, .numel = p->numel, .at = b->at.n};
      struct rt_at at_grad = at_space(RT_AT_GRAD, i, 0);
      VEC_PUSH(b->arena, b->row, row);
      VEC_PUSH(b->arena, b->at, at_grad);
      op.bytes_read += p->numel * rt_storage_bytes(storage);
      op.flops += 2 * p->numel;
    }
  }
  op.n = b->row.n - op.first;
  put_op(b, false, op);
}

static uint32_t add_event(struct plan_builder *b, uint32_t kind) {
  VEC_PUSH(b->arena, b->event, ((struct rt_event){kind, 0}));
  return b->event.n - 1;
}

// Returns the event after which the sums of all ranks stand.
static uint32_t put_exchange(struct plan_builder *b, uint64_t parts) {
  uint32_t summed = add_event(b, RT_EVENT_SUMMED);
  uint32_t gathered = add_event(b, RT_EVENT_GATHERED);
  struct rt_op merge = op_new(RT_OP_MERGE, RT_LANE_COMPUTE, RT_NO_ID);
  merge.work = at_space(RT_AT_STEP, 0, sums_at(b));
  merge.work_bytes = merge.bytes_read = parts;
  merge.bytes_written = RT_BINS_BYTES;
  merge.signal = summed;
  put_op(b, false, merge);
  struct rt_op op = op_new(RT_OP_EXCHANGE, RT_LANE_COMM, RT_NO_ID);
  op_wait(b, &op, summed);
  op.signal = gathered;
  op.bytes_read = RT_BINS_BYTES;
  op.bytes_written = b->model->world * RT_BINS_BYTES;
  put_op(b, false, op);
  return gathered;
}

static void put_verdict(struct plan_builder *b, uint64_t parts) {
  struct rt_op op = op_new(RT_OP_VERDICT, RT_LANE_COMPUTE, RT_NO_ID);
  op.work = at_space(RT_AT_STEP, 0, sums_at(b));
  op.work_bytes = parts;
  if (exchanges(b)) {
    op_wait(b, &op, put_exchange(b, parts));
    op.work = at_space(RT_AT_STEP, 0, RT_STEP_GATHERED);
    op.work_bytes = b->model->world * RT_BINS_BYTES;
  }
  op.bytes_read = op.work_bytes;
  op.bytes_written = sizeof(struct rt_verdict);
  put_op(b, false, op);
}

void plan_begin_ops(struct plan_builder *b) {
  put_upload(b);
  if (!looks_at_gradients(b)) {
    return;
  }
  uint64_t parts = 0;
  for (uint32_t s = RT_F32; s <= RT_F16; s++) {
    if (sums_storage(b, s)) {
      put_reduce(b, s, sums_at(b) + parts);
      parts += parts_bytes(b);
    }
  }
  put_verdict(b, parts);
}
