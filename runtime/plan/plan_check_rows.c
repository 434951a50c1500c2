// Rows and their addresses: elements of their parameter's shard, in memory that the operation may touch, aligned.
#include "plan/plan_check.h"

#include "plan/names.h"
#include "plan/plan_write.h"

struct row_check {
  struct plan_check *c;
  const struct rt_op *op;
  const struct rt_row *row;
};

static bool in_chunk(const struct rt_plan *p, uint32_t chunk, uint32_t unit) {
  const struct rt_chunk *k = &p->chunk[chunk];
  return unit >= k->first_unit && unit - k->first_unit < k->n_units;
}

static const char *fault_of_row(const struct rt_plan *p, const struct rt_op *op,
                                const struct rt_row *row) {
  if (row->param >= p->n_params) {
    return "its parameter does not exist";
  }
  const struct rt_plan_param *v = &p->param[row->param];
  if (v->unit == RT_NO_ID || row->unit != v->unit) {
    return "its unit is not that of its parameter";
  }
  if (op->chunk != RT_NO_ID && !in_chunk(p, op->chunk, row->unit)) {
    return "its unit is not in the chunk";
  }
  if (!rt_within(row->first, row->numel, v->numel)) {
    return "it lies beyond its parameter's shard";
  }
  if ((uint64_t)row->at + rt_op_pointers(p, op) > p->n_at) {
    return "its addresses lie beyond the table";
  }
  if (op->kind == RT_OP_REDUCE && !v->counted) {
    return "its gradient is another replica's to count";
  }
  if (op->kind == RT_OP_ORTHO && (row->first % (op->rows * op->cols) != 0 ||
                                  row->numel % (op->rows * op->cols) != 0)) {
    return "it holds a part of a matrix";
  }
  return NULL;
}

// In the arena an operation reaches its own slot, and what lies behind the slots.
static const char *fault_in_arena(const struct rt_plan *p, const struct rt_op *op,
                                  uint64_t offset, uint64_t bytes) {
  uint64_t slots = p->n_slots * p->slot_bytes;
  if (offset >= slots) {
    return rt_within(offset, bytes, p->arena_bytes) ? NULL : "lies beyond the arena";
  }
  uint32_t slot = op->chunk == RT_NO_ID ? RT_NO_ID : p->chunk[op->chunk].slot;
  if (slot == RT_NO_ID || offset < slot * p->slot_bytes ||
      !rt_within(offset - slot * p->slot_bytes, bytes, p->slot_bytes)) {
    return "lies in a slot that is not its chunk's";
  }
  return NULL;
}

// The caller's memory: the row's own elements.
static const char *fault_at_caller(const struct row_check *k, const struct rt_at *at,
                                   const struct rt_access *a) {
  const struct rt_plan_param *v = &k->c->plan->param[k->row->param];
  bool is_grad = at->space == RT_AT_GRAD;
  if (at->index != k->row->param) {
    return "is of another parameter";
  }
  if (a->bytes != rt_storage_bytes(is_grad ? v->grad : v->storage)) {
    return "has elements of another size";
  }
  if (is_grad && (a->written || rt_is_init(k->c->plan, k->op))) {
    return "is a gradient, which is only read, and in a step";
  }
  return at->offset == k->row->first * a->bytes ? NULL
                                                : "is not that of the row's elements";
}

static const char *fault_at(const struct row_check *k, const struct rt_at *at,
                            const struct rt_access *a) {
  const struct rt_plan *p = k->c->plan;
  uint64_t bytes = k->row->numel * a->bytes;
  if (k->op->kind == RT_OP_REDUCE && at->space != RT_AT_GRAD) {
    return "is no gradient";
  }
  switch ((enum rt_space)at->space) {
  case RT_AT_PARAM:
  case RT_AT_GRAD: return fault_at_caller(k, at, a);
  case RT_AT_STATE:
  case RT_AT_ARENA:
    if (at->index != 0 || at->offset % a->bytes != 0) {
      return "is not aligned to its elements";
    }
    if (at->space == RT_AT_ARENA) {
      return fault_in_arena(p, k->op, at->offset, bytes);
    }
    return rt_within(at->offset, bytes, p->state_bytes)
               ? NULL
               : "lies beyond the resident states";
  case RT_AT_HOST: return "is on the host: operations reach it through a slot";
  case RT_AT_STEP:
  case RT_N_SPACES: break;
  }
  return "is in no memory that rows have";
}

static struct rt_access access_of(const struct rt_plan *p, const struct rt_op *op,
                                  const struct rt_row *row, uint32_t i) {
  if (op->kind == RT_OP_MAP) {
    return p->kernel[op->kernel].access[i];
  }
  if (op->kind == RT_OP_REDUCE) {
    return (struct rt_access){rt_storage_bytes(p->param[row->param].grad), true, false};
  }
  return i == 0 ? (struct rt_access){op->in_bytes, true, false}
                : (struct rt_access){op->out_bytes, false, true};
}

static steprt_status check_row(struct row_check *k) {
  const struct rt_plan *p = k->c->plan;
  const char *fault = fault_of_row(p, k->op, k->row);
  unsigned index = (unsigned)(k->row - p->row - k->op->first);
  if (fault != NULL) {
    return rt_op_bad(k->c, k->op, "row %u: %s", index, fault);
  }
  uint32_t n = rt_op_pointers(p, k->op);
  for (uint32_t i = 0; i < n; i++) {
    struct rt_access a = access_of(p, k->op, k->row, i);
    fault = fault_at(k, &p->at[k->row->at + i], &a);
    if (fault != NULL) {
      return rt_op_bad(k->c, k->op, "row %u ('%s'): address %u %s", index,
                       rt_show(p->param[k->row->param].name).text, i, fault);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_list(struct plan_check *c, const struct rt_op *op,
                                uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (rt_op_pointers(c->plan, &op[i]) == 0) {
      continue;
    }
    for (uint32_t r = op[i].first; r < op[i].first + op[i].n; r++) {
      struct row_check k = {c, &op[i], &c->plan->row[r]};
      RT_TRY(check_row(&k));
    }
  }
  return STEPRT_OK;
}

steprt_status rt_plan_check_rows(struct plan_check *c) {
  RT_TRY(check_list(c, c->plan->init, c->plan->n_init));
  return check_list(c, c->plan->op, c->plan->n_ops);
}
