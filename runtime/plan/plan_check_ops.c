// Kernels, and operations one by one: kinds, lanes, where each may stand, its ranges in the tables, its workspace.
#include "plan/plan_check.h"

#include "plan/names.h"
#include "plan/plan_write.h"

static const char *fault_of_kernel(const struct rt_kernel_info *k) {
  if (k->name == NULL) {
    return "it has no name";
  }
  if (k->n_ptrs > RT_MAX_PTRS || k->n_scalars > RT_MAX_SCALARS) {
    return "it has more than 64 pointers or 256 scalars";
  }
  if (k->n_ptrs > 0 && k->access == NULL) {
    return "its pointers have no table";
  }
  for (uint32_t i = 0; i < k->n_ptrs; i++) {
    uint32_t bytes = k->access[i].bytes;
    if (bytes != 1 && bytes != 2 && bytes != 4) {
      return "a pointer's elements have neither 1, 2 nor 4 bytes";
    }
    if (!k->access[i].read && !k->access[i].written) {
      return "a pointer is neither read nor written";
    }
  }
  return NULL;
}

steprt_status rt_plan_check_kernels(struct plan_check *c) {
  for (uint32_t i = 0; i < c->plan->n_kernels; i++) {
    const char *fault = fault_of_kernel(&c->plan->kernel[i]);
    if (fault != NULL) {
      return rt_plan_bad(c, "kernel %u: %s", i, fault);
    }
  }
  return STEPRT_OK;
}

static bool has_rows(const struct rt_op *op) {
  return op->kind == RT_OP_MAP || op->kind == RT_OP_ORTHO || op->kind == RT_OP_REDUCE;
}
static bool has_copies(const struct rt_op *op) {
  return op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
}
static bool is_of_chunk(const struct rt_op *op) {
  return has_copies(op) || op->kind == RT_OP_MAP || op->kind == RT_OP_ORTHO;
}

// The bytes that a plan's begin has beyond the parts that lie at the same place in every plan.
static uint64_t sums_begin(const struct rt_plan *p) {
  for (uint32_t i = 0; i < p->n_begin; i++) {
    if (p->op[i].kind == RT_OP_EXCHANGE) {
      return RT_STEP_GATHERED + (uint64_t)p->configuration.world * RT_BINS_BYTES;
    }
  }
  return RT_STEP_GATHERED;
}

static bool is_sums(const struct rt_plan *p, const struct rt_op *op, uint64_t begin) {
  return op->work.space == RT_AT_STEP && op->work.index == 0 &&
         op->work.offset >= begin && op->work.offset % 8 == 0 && op->work_bytes > 0 &&
         op->work_bytes % RT_BINS_BYTES == 0 &&
         rt_within(op->work.offset, op->work_bytes, p->step_bytes);
}

static bool is_workspace(const struct rt_plan *p, const struct rt_op *op) {
  return op->work_bytes == 0 ||
         (op->work.space == RT_AT_ARENA && op->work.index == 0 &&
          op->work.offset >= p->n_slots * p->slot_bytes &&
          op->work.offset % RT_SLOT_ALIGN == 0 &&
          rt_within(op->work.offset, op->work_bytes, p->arena_bytes));
}

static const char *fault_of_work(const struct rt_plan *p, const struct rt_op *op) {
  uint64_t begin = sums_begin(p);
  switch ((enum rt_op_kind)op->kind) {
  case RT_OP_REDUCE:
  case RT_OP_MERGE:
    return is_sums(p, op, begin) ? NULL : "its partial sums lie outside of their place";
  case RT_OP_VERDICT:
    if (begin == RT_STEP_GATHERED) {
      return is_sums(p, op, begin) ? NULL : "its partial sums lie outside of their place";
    }
    return is_sums(p, op, RT_STEP_GATHERED) && op->work.offset == RT_STEP_GATHERED &&
                   op->work_bytes == begin - RT_STEP_GATHERED
               ? NULL
               : "its sums are not those of all ranks";
  case RT_OP_ORTHO:
    return is_workspace(p, op)
               ? NULL
               : "its workspace is not aligned to 256, in a slot or beyond the arena";
  case RT_OP_EXCHANGE:
    return rt_within(RT_STEP_GATHERED, begin - RT_STEP_GATHERED, p->step_bytes)
               ? NULL
               : "step_bytes has no room for the sums of all ranks";
  case RT_OP_UPLOAD:
  case RT_OP_LOAD:
  case RT_OP_MAP:
  case RT_OP_STORE:
  case RT_N_OP_KINDS: break;
  }
  return op->work_bytes == 0 ? NULL : "its kind has no workspace";
}

static const char *fault_of_matrix(const struct rt_op *op) {
  uint64_t numel;
  if (op->rows == 0 || op->cols == 0 ||
      __builtin_mul_overflow(op->rows, op->cols, &numel) || numel > RT_MAX_SIZE / 8) {
    return "its matrices have no elements, or too many to address";
  }
  bool in = op->in_bytes == 2 || op->in_bytes == 4,
       out = op->out_bytes == 2 || op->out_bytes == 4;
  return in && out ? NULL : "its operand and result have elements of 2 or 4 bytes";
}

static steprt_status check_ranges(struct plan_check *c, const struct rt_op *op) {
  const struct rt_plan *p = c->plan;
  uint32_t n = has_rows(op) ? p->n_rows : has_copies(op) ? p->n_copies : 0;
  if (op->n > 0 && !has_rows(op) && !has_copies(op)) {
    return rt_op_bad(c, op, "its kind has neither rows nor copies");
  }
  if ((uint64_t)op->first + op->n > n && op->n > 0) {
    return rt_op_bad(c, op, "its %s lie beyond the table",
                     has_copies(op) ? "copies" : "rows");
  }
  bool needs_kernel =
      op->kind == RT_OP_MAP || (op->kind == RT_OP_REDUCE && op->kernel != RT_NO_ID);
  if (needs_kernel && op->kernel >= p->n_kernels) {
    return rt_op_bad(c, op, "kernel %u does not exist", op->kernel);
  }
  const char *fault = op->kind == RT_OP_ORTHO ? fault_of_matrix(op) : NULL;
  fault = fault != NULL ? fault : fault_of_work(p, op);
  if (fault == NULL && (op->bytes_read > RT_MAX_SIZE || op->bytes_written > RT_MAX_SIZE ||
                        op->flops > RT_MAX_SIZE)) {
    fault = "an estimate is beyond 2^53";
  }
  return fault == NULL ? STEPRT_OK : rt_op_bad(c, op, "%s", fault);
}

static steprt_status check_op(struct plan_check *c, const struct rt_op *op,
                              uint32_t chunk) {
  if (op->kind >= RT_N_OP_KINDS || op->lane >= RT_N_LANES) {
    return rt_op_bad(c, op, "unknown kind %u or lane %u", op->kind, op->lane);
  }
  if (op->lane != (uint32_t)rt_op_lanes[op->kind]) {
    return rt_op_bad(c, op, "it runs on lane %s, not %s",
                     rt_lane_names[rt_op_lanes[op->kind]], rt_lane_names[op->lane]);
  }
  if (op->chunk != chunk) {
    return rt_op_bad(c, op, "it stands among the ops of another chunk");
  }
  return check_ranges(c, op);
}

// begin: UPLOAD, then REDUCE as often as needed, MERGE and EXCHANGE together, VERDICT.
static steprt_status check_begin(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  uint32_t count[RT_N_OP_KINDS] = {0}, last = 0;
  for (uint32_t i = 0; i < p->n_begin; i++) {
    const struct rt_op *op = &p->op[i];
    RT_TRY(check_op(c, op, RT_NO_ID));
    if (is_of_chunk(op)) {
      return rt_op_bad(c, op, "it belongs to no chunk");
    }
    if (op->kind < last || (op->kind != RT_OP_REDUCE && count[op->kind] > 0)) {
      return rt_op_bad(c, op, "begin is upload, reduce, merge, exchange, verdict");
    }
    last = op->kind;
    count[op->kind]++;
  }
  if (p->n_ops > 0 && count[RT_OP_UPLOAD] == 0) {
    return rt_plan_bad(c, "begin has no upload");
  }
  if (count[RT_OP_MERGE] != count[RT_OP_EXCHANGE] ||
      (count[RT_OP_VERDICT] == 0 && count[RT_OP_REDUCE] + count[RT_OP_MERGE] > 0)) {
    return rt_plan_bad(c, "begin sums gradients without exchanging or judging the sum");
  }
  return STEPRT_OK;
}

static steprt_status check_of_chunk(struct plan_check *c, const struct rt_op *op,
                                    uint32_t chunk) {
  RT_TRY(check_op(c, op, chunk));
  if (!is_of_chunk(op)) {
    return rt_op_bad(c, op, "it belongs to begin");
  }
  return has_copies(op) && c->plan->chunk[chunk].slot == RT_NO_ID
             ? rt_op_bad(c, op, "its chunk has no slot")
             : STEPRT_OK;
}

static steprt_status check_init(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  uint32_t least = 0;
  for (uint32_t i = 0; i < p->n_init; i++) {
    const struct rt_op *op = &p->init[i];
    if (op->chunk >= p->n_chunks || op->chunk < least) {
      return rt_op_bad(c, op, "its chunk does not exist, or stands before");
    }
    least = op->chunk;
    RT_TRY(check_of_chunk(c, op, op->chunk));
    if (op->kind == RT_OP_ORTHO) {
      return rt_op_bad(c, op, "initial values are maps, between a load and a store");
    }
    if (op->kind == RT_OP_MAP && p->kernel[op->kernel].n_scalars > 0) {
      return rt_op_bad(c, op, "its kernel has scalars, before the first step");
    }
  }
  return STEPRT_OK;
}

steprt_status rt_plan_check_ops(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  RT_TRY(check_begin(c));
  RT_TRY(check_init(c));
  for (uint32_t k = 0; k < p->n_chunks; k++) {
    for (uint32_t i = p->chunk[k].first_op; i < p->chunk[k].first_op + p->chunk[k].n_ops;
         i++) {
      RT_TRY(check_of_chunk(c, &p->op[i], k));
    }
  }
  return STEPRT_OK;
}
