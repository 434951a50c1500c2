// Operations: what bind and a step will run.
#include "core/check.h"

struct list {
  const struct steprt_program *p;
  bool is_init;
};

// A buffer as the i-th pointer of a MAP operation.
static const char *fault_of_buffer(const struct list *l, const struct rt_wave_op *op,
                                   uint32_t id) {
  if (id >= l->p->n_buffers) {
    return "a buffer that does not exist";
  }
  const struct rt_buffer *b = &l->p->buffer[id];
  if (b->kind != RT_BUF_TEMP && b->param != op->param) {
    return "a buffer of another parameter";
  }
  if (b->numel < op->numel) {
    return "a buffer with fewer elements than it updates";
  }
  if (l->is_init && b->kind == RT_BUF_GRAD) {
    return "a gradient, before the first step";
  }
  return NULL;
}

static const char *fault_of_map(const struct list *l, const struct rt_wave_op *op) {
  if (op->kernel >= l->p->n_kernels) {
    return "a kernel that does not exist";
  }
  const struct rt_kernel *k = &l->p->kernel[op->kernel];
  if ((k->n_ptrs > 0 && !op->buffer) || (k->n_scalars > 0 && !op->scalar)) {
    return "buffers or scalars without a table";
  }
  if (l->is_init && k->n_scalars > 0) {
    return "scalars, before the first step";
  }
  for (uint32_t i = 0; i < k->n_ptrs; i++) {
    const char *fault = fault_of_buffer(l, op, op->buffer[i]);
    if (fault) {
      return fault;
    }
  }
  uint32_t n_scalars = l->p->rule[l->p->param[op->param].rule].n_scalars;
  for (uint32_t i = 0; i < k->n_scalars; i++) {
    if (op->scalar[i] != RT_SCALAR_CLIP && op->scalar[i] >= n_scalars) {
      return "a scalar that its rule does not have";
    }
  }
  return NULL;
}

static bool holds(const struct list *l, uint32_t id, uint32_t storage, uint64_t numel) {
  return id < l->p->n_buffers && l->p->buffer[id].storage == storage &&
         l->p->buffer[id].numel >= numel;
}

static const char *fault_of_ortho(const struct list *l, const struct rt_wave_op *op) {
  uint64_t numel;
  if (l->is_init) {
    return "a matrix operation, before the first step";
  }
  if (op->iteration >= l->p->n_iterations) {
    return "an iteration that does not exist";
  }
  if (!rt_mul(op->rows, op->cols, &numel) || !rt_mul(numel, op->batch, &numel)) {
    return "dimensions that overflow";
  }
  uint32_t storage = l->p->iteration[op->iteration].compute;
  if (!holds(l, op->in, RT_F32, numel) && !holds(l, op->in, RT_BF16, numel)) {
    return "an operand that is not f32 or bf16 of its size";
  }
  if (!holds(l, op->out, storage, numel)) {
    return "a result that does not have its compute type and size";
  }
  const struct rt_buffer *in = &l->p->buffer[op->in];
  if (in->kind == RT_BUF_GRAD || (in->kind != RT_BUF_TEMP && in->param != op->param)) {
    return "an operand that is no temporary, nor its parameter or a state of it";
  }
  if (l->p->buffer[op->out].kind != RT_BUF_TEMP) {
    return "a result that is no temporary";
  }
  return op->in == op->out ? "one buffer as operand and result" : NULL;
}

static const char *fault_of(const struct list *l, const struct rt_wave_op *op) {
  if (op->param >= l->p->n_params || !l->p->param[op->param].active) {
    return "a parameter that has no rule";
  }
  switch (op->kind) {
  case RT_WAVE_MAP: return fault_of_map(l, op);
  case RT_WAVE_ORTHO: return fault_of_ortho(l, op);
  }
  return "an unknown kind";
}

steprt_status rt_check_ops(struct steprt *rt, const struct steprt_program *p,
                           const struct rt_wave_op *ops, uint32_t n, bool is_init) {
  const struct list l = {p, is_init};
  for (uint32_t i = 0; i < n; i++) {
    const char *fault = fault_of(&l, &ops[i]);
    if (!fault && i > 0 && ops[i].wave < ops[i - 1].wave) {
      fault = "a wave before the one of its predecessor";
    }
    if (fault) {
      return rt_refuse(rt, STEPRT_BAD_PROGRAM, "%s operation %u names %s",
                       is_init ? "init" : "step", i, fault);
    }
  }
  return STEPRT_OK;
}
