// Rows against the phases of their rules: the kernel, and for each of its pointers the tensor that it is.
#include "plan/plan_check.h"

#include "plan/work.h"

#include <stdlib.h>

struct phase_check {
  struct plan_check *c;
  const struct rt_copy **load; // of the chunk, by place in the slab
  uint32_t n_loads;
};

static bool on_gpu(const struct steprt_program *p) {
  return strncmp(p->target, "cuda", 4) == 0;
}

static const struct rt_phase *phase_of(const struct plan_check *c, const struct rt_op *op,
                                       const struct rt_row *row) {
  const struct rt_rule *r = &c->program->rule[c->program->param[row->param].rule];
  bool is_init = rt_is_init(c->plan, op);
  uint32_t n = is_init ? r->n_init : r->n_phases;
  return row->phase >= n ? NULL : is_init ? &r->init[row->phase] : &r->phase[row->phase];
}

// Where a state's byte at `offset` of the slab lies in the arena while its chunk is loaded.
static bool in_slot(const struct phase_check *k, uint64_t offset, uint64_t bytes,
                    uint64_t *arena) {
  uint32_t low = 0, high = k->n_loads;
  while (low < high) { // the last copy that begins at or before `offset`
    uint32_t middle = low + (high - low) / 2;
    if (k->load[middle]->host <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) {
    return false;
  }
  const struct rt_copy *copy = k->load[low - 1];
  *arena = copy->arena + (offset - copy->host);
  return rt_within(offset - copy->host, bytes, copy->bytes);
}

static bool is_state(const struct phase_check *k, const struct rt_row *row,
                     const struct rt_tensor *t, const struct rt_at *at) {
  const struct rt_plan *p = k->c->plan;
  const struct rt_plan_param *v = &p->param[row->param];
  if (t->index >= v->n_states) {
    return false;
  }
  const struct rt_state_home *s = &p->state[v->first_state + t->index];
  uint64_t width = rt_storage_bytes(s->storage), arena;
  uint64_t offset = s->at.offset + row->first * width;
  if (s->at.space == RT_AT_HOST && row->numel > 0) {
    return at->space == RT_AT_ARENA && in_slot(k, offset, row->numel * width, &arena) &&
           at->offset == arena;
  }
  return row->numel == 0 || (at->space == s->at.space && at->offset == offset);
}

static const char *fault_of_tensor(const struct phase_check *k, const struct rt_row *row,
                                   const struct rt_tensor *t, const struct rt_at *at) {
  const struct rt_plan *p = k->c->plan;
  switch ((enum rt_tensor_kind)t->kind) {
  case RT_TENSOR_PARAM: return at->space == RT_AT_PARAM ? NULL : "is not the parameter";
  case RT_TENSOR_GRAD: return at->space == RT_AT_GRAD ? NULL : "is not the gradient";
  case RT_TENSOR_STATE:
    return is_state(k, row, t, at) ? NULL : "is not where its state rests or is loaded";
  case RT_TENSOR_TEMP:
    return at->space == RT_AT_ARENA && at->offset >= p->n_slots * p->slot_bytes
               ? NULL
               : "is no temporary behind the slots";
  }
  return "is of no known kind";
}

static const char *fault_of_matrix(const struct plan_check *c, const struct rt_op *op,
                                   const struct rt_phase *phase) {
  if (op->kernel >= c->program->n_iterations) {
    return "its iteration does not exist";
  }
  if (phase->n_tensors != 2 ||
      rt_storage_bytes(phase->tensor[0].storage) != op->in_bytes ||
      rt_storage_bytes(phase->tensor[1].storage) != op->out_bytes) {
    return "its operand and result have other elements";
  }
  return NULL;
}

static steprt_status check_row(const struct phase_check *k, const struct rt_op *op,
                               const struct rt_row *row) {
  const struct plan_check *c = k->c;
  const struct rt_phase *phase = phase_of(c, op, row);
  const struct rt_rule *rule = &c->program->rule[c->program->param[row->param].rule];
  uint32_t kind = op->kind == RT_OP_MAP ? RT_PHASE_MAP : RT_PHASE_ORTHO;
  unsigned index = (unsigned)(row - c->plan->row - op->first);
  if (phase == NULL || phase->kind != kind || phase->kernel != op->kernel) {
    return rt_op_bad(c, op, "row %u: phase %u of rule '%s' is not this %s", index,
                     row->phase, rt_show(rule->name).text,
                     op->kind == RT_OP_MAP ? "kernel" : "iteration");
  }
  const char *fault = kind == RT_PHASE_ORTHO ? fault_of_matrix(c, op, phase) : NULL;
  if (kind == RT_PHASE_ORTHO && (rule->rows != op->rows || rule->cols != op->cols)) {
    fault = "its rule has matrices of another size";
  }
  if (kind == RT_PHASE_MAP && phase->n_tensors != c->plan->kernel[op->kernel].n_ptrs) {
    fault = "its phase has not as many tensors as the kernel has pointers";
  }
  if (fault != NULL) {
    return rt_op_bad(c, op, "row %u: %s", index, fault);
  }
  for (uint32_t i = 0; i < phase->n_tensors; i++) {
    fault = fault_of_tensor(k, row, &phase->tensor[i], &c->plan->at[row->at + i]);
    if (fault != NULL) {
      return rt_op_bad(c, op, "row %u ('%s'): address %u %s", index,
                       rt_show(c->plan->param[row->param].name).text, i, fault);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_workspace(const struct phase_check *k,
                                     const struct rt_op *op) {
  const struct steprt_program *p = k->c->program;
  uint64_t matrices = 0;
  for (uint32_t r = op->first; r < op->first + op->n; r++) {
    matrices += k->c->plan->row[r].numel / (op->rows * op->cols);
  }
  uint64_t need =
      rt_ortho_work(on_gpu(p), &p->iteration[op->kernel], op->rows, op->cols, matrices);
  return op->work_bytes >= need
             ? STEPRT_OK
             : rt_op_bad(k->c, op,
                         "its workspace has %llu bytes; %llu matrices need %llu",
                         (unsigned long long)op->work_bytes, (unsigned long long)matrices,
                         (unsigned long long)need);
}

// On a GPU gradients are squared by a kernel for their storage, on the CPU by the runtime's own.
static steprt_status check_reduce(const struct phase_check *k, const struct rt_op *op) {
  const struct steprt_program *p = k->c->program;
  for (uint32_t r = op->first; r < op->first + op->n; r++) {
    uint32_t storage = k->c->plan->param[k->c->plan->row[r].param].grad;
    uint32_t kernel = on_gpu(p) ? p->squares[storage] : RT_NO_ID;
    if (op->kernel != kernel) {
      return rt_op_bad(k->c, op, "row %u: its kernel is not that for its gradient",
                       r - op->first);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_op(const struct phase_check *k, const struct rt_op *op) {
  if (op->kind == RT_OP_REDUCE) {
    return check_reduce(k, op);
  }
  if (op->kind != RT_OP_MAP && op->kind != RT_OP_ORTHO) {
    return STEPRT_OK;
  }
  for (uint32_t r = op->first; r < op->first + op->n; r++) {
    RT_TRY(check_row(k, op, &k->c->plan->row[r]));
  }
  return op->kind == RT_OP_ORTHO && op->n > 0 ? check_workspace(k, op) : STEPRT_OK;
}

static int by_host(const void *a, const void *b) {
  const struct rt_copy *x = *(const struct rt_copy *const *)a,
                       *y = *(const struct rt_copy *const *)b;
  return (x->host > y->host) - (x->host < y->host);
}

static steprt_status check_chunk(struct phase_check *k, const struct rt_op *op,
                                 uint32_t n) {
  k->n_loads = 0;
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t r = op[i].first; op[i].kind == RT_OP_LOAD && r < op[i].first + op[i].n;
         r++) {
      k->load[k->n_loads++] = &k->c->plan->copy[r];
    }
  }
  qsort(k->load, k->n_loads, sizeof *k->load, by_host);
  for (uint32_t i = 0; i < n; i++) {
    RT_TRY(check_op(k, &op[i]));
  }
  return STEPRT_OK;
}

static steprt_status check_list(struct plan_check *c, const struct rt_op *op,
                                uint32_t n) {
  struct phase_check k = {.c = c};
  uint64_t most = 0; // operations may share copies: their numbers are added up
  for (uint32_t i = 0; i < n; i++) {
    most += op[i].kind == RT_OP_LOAD ? op[i].n : 0;
  }
  k.load = rt_pool_alloc(&c->pool, most, sizeof *k.load);
  if (k.load == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t i = 0, end; i < n; i = end) {
    end = rt_chunk_end(op, i, n);
    RT_TRY(check_chunk(&k, &op[i], end - i));
  }
  return STEPRT_OK;
}

steprt_status rt_plan_check_phases(struct plan_check *c) {
  if (c->program == NULL) {
    return STEPRT_OK;
  }
  RT_TRY(check_list(c, c->plan->init, c->plan->n_init));
  return check_list(c, c->plan->op, c->plan->n_ops);
}
