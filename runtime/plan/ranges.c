// What operations read and write.
#include "plan/plan_json.h"

struct ranges {
  rt_range_fn fn;
  void *ctx;
};

// False: the callee has seen enough.
static bool give(const struct ranges *r, struct rt_at at, uint64_t bytes, bool is_write) {
  return bytes == 0 || r->fn(r->ctx, at, bytes, is_write);
}
static bool reads(const struct ranges *r, struct rt_at at, uint64_t bytes) {
  return give(r, at, bytes, false);
}
static bool writes(const struct ranges *r, struct rt_at at, uint64_t bytes) {
  return give(r, at, bytes, true);
}

static struct rt_at step_at(uint64_t offset) {
  return (struct rt_at){RT_AT_STEP, 0, offset};
}
static bool reads_upload(const struct ranges *r) {
  return reads(r, step_at(RT_STEP_UPLOAD), RT_UPLOAD_BYTES);
}

bool rt_plan_judges(const struct rt_plan *plan) {
  return plan->n_begin > 0 && plan->op[plan->n_begin - 1].kind == RT_OP_VERDICT;
}

static bool map_rows(const struct rt_plan *plan, const struct rt_op *op,
                     const struct ranges *r) {
  const struct rt_kernel_info *k = &plan->kernel[op->kernel];
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    const struct rt_row *row = &plan->row[i];
    for (uint32_t p = 0; p < k->n_ptrs; p++) {
      struct rt_at at = plan->at[row->at + p];
      uint64_t bytes = row->numel * k->access[p].bytes;
      if ((k->access[p].read && !reads(r, at, bytes)) ||
          (k->access[p].written && !writes(r, at, bytes))) {
        return false;
      }
    }
  }
  return true;
}

static bool map(const struct rt_plan *plan, const struct rt_op *op,
                const struct ranges *r) {
  bool is_init = plan->n_init != 0 && op >= plan->init && op < plan->init + plan->n_init;
  return (is_init || reads_upload(r)) &&
         (is_init || !rt_plan_judges(plan) ||
          reads(r, step_at(RT_STEP_VERDICT), sizeof(struct rt_verdict))) &&
         map_rows(plan, op, r);
}

static bool ortho(const struct rt_plan *plan, const struct rt_op *op,
                  const struct ranges *r) {
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    const struct rt_row *row = &plan->row[i];
    if (!reads(r, plan->at[row->at], row->numel * op->in_bytes) ||
        !writes(r, plan->at[row->at + 1], row->numel * op->out_bytes)) {
      return false;
    }
  }
  return writes(r, op->work, op->work_bytes);
}

static bool reduce(const struct rt_plan *plan, const struct rt_op *op,
                   const struct ranges *r) {
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    const struct rt_row *row = &plan->row[i];
    uint64_t bytes = row->numel * rt_storage_bytes(plan->param[row->param].grad);
    if (!reads(r, plan->at[row->at], bytes)) {
      return false;
    }
  }
  return reads_upload(r) && writes(r, op->work, op->work_bytes);
}

static bool copies(const struct rt_plan *plan, const struct rt_op *op,
                   const struct ranges *r) {
  bool is_load = op->kind == RT_OP_LOAD;
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    const struct rt_copy *c = &plan->copy[i];
    struct rt_at host = {RT_AT_HOST, 0, c->host}, arena = {RT_AT_ARENA, 0, c->arena};
    if (!reads(r, is_load ? host : arena, c->bytes) ||
        !writes(r, is_load ? arena : host, c->bytes)) {
      return false;
    }
  }
  return true;
}

void rt_op_ranges(const struct rt_plan *plan, const struct rt_op *op, rt_range_fn fn,
                  void *ctx) {
  const struct ranges r = {fn, ctx};
  switch ((enum rt_op_kind)op->kind) {
  case RT_OP_UPLOAD: (void)writes(&r, step_at(RT_STEP_UPLOAD), RT_UPLOAD_BYTES); break;
  case RT_OP_REDUCE: (void)reduce(plan, op, &r); break;
  case RT_OP_MERGE:
    (void)(reads(&r, op->work, op->work_bytes) &&
           writes(&r, step_at(RT_STEP_SUM), RT_BINS_BYTES));
    break;
  case RT_OP_EXCHANGE:
    (void)(reads(&r, step_at(RT_STEP_SUM), RT_BINS_BYTES) &&
           writes(&r, step_at(RT_STEP_GATHERED),
                  (uint64_t)plan->configuration.world * RT_BINS_BYTES));
    break;
  case RT_OP_VERDICT:
    (void)(reads_upload(&r) && reads(&r, op->work, op->work_bytes) &&
           writes(&r, step_at(RT_STEP_VERDICT), sizeof(struct rt_verdict)));
    break;
  case RT_OP_LOAD:
  case RT_OP_STORE: (void)copies(plan, op, &r); break;
  case RT_OP_MAP: (void)map(plan, op, &r); break;
  case RT_OP_ORTHO: (void)ortho(plan, op, &r); break;
  case RT_N_OP_KINDS: break;
  }
}
