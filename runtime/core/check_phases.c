// Phases of rules: what bind and a step compute.
#include "core/check.h"

struct rule_check {
  const struct steprt_program *p;
  const struct rt_rule *r;
  bool is_init;
};

static const char *fault_of_tensor(const struct rule_check *c,
                                   const struct rt_tensor *t) {
  if (t->storage > RT_Q8U) {
    return "a tensor of unknown storage";
  }
  switch ((enum rt_tensor_kind)t->kind) {
  case RT_TENSOR_PARAM: return NULL;
  case RT_TENSOR_GRAD: return c->is_init ? "a gradient, before the first step" : NULL;
  case RT_TENSOR_STATE:
    return t->index < c->r->n_states ? NULL : "a state that its rule does not have";
  case RT_TENSOR_TEMP:
    return t->index < c->r->n_temps ? NULL : "a temporary that its rule does not have";
  }
  return "a tensor of an unknown kind";
}

static const char *fault_of_map(const struct rule_check *c, const struct rt_phase *ph) {
  if (ph->kernel >= c->p->n_kernels) {
    return "a kernel that does not exist";
  }
  const struct rt_kernel *k = &c->p->kernel[ph->kernel];
  if (ph->n_tensors != k->n_ptrs) {
    return "other tensors than its kernel takes";
  }
  if (k->n_scalars > 0 && c->is_init) {
    return "scalars, before the first step";
  }
  if (k->n_scalars > 0 && !ph->scalar) {
    return "scalars without a table";
  }
  for (uint32_t i = 0; i < k->n_scalars; i++) {
    if (ph->scalar[i] != RT_SCALAR_CLIP && ph->scalar[i] >= c->r->n_scalars) {
      return "a scalar that its rule does not have";
    }
  }
  return NULL;
}

static const char *fault_of_ortho(const struct rule_check *c, const struct rt_phase *ph) {
  if (c->is_init) {
    return "a matrix operation, before the first step";
  }
  if (ph->kernel >= c->p->n_iterations) {
    return "an iteration that does not exist";
  }
  if (ph->n_tensors != 2) {
    return "other tensors than an operand and a result";
  }
  const struct rt_tensor *in = &ph->tensor[0], *out = &ph->tensor[1];
  if (in->storage != RT_F32 && in->storage != RT_BF16) {
    return "an operand that is not f32 or bf16";
  }
  if (in->kind == RT_TENSOR_GRAD) {
    return "an operand that is no temporary, nor its parameter or a state of it";
  }
  if (out->kind != RT_TENSOR_TEMP) {
    return "a result that is no temporary";
  }
  if (out->storage != c->p->iteration[ph->kernel].compute) {
    return "a result that does not have its compute type";
  }
  bool same = in->kind == RT_TENSOR_TEMP && in->index == out->index;
  return same ? "one temporary as operand and result" : NULL;
}

static const char *fault_of_phase(const struct rule_check *c, const struct rt_phase *ph) {
  if (ph->n_tensors > 0 && !ph->tensor) {
    return "tensors without a table";
  }
  for (uint32_t i = 0; i < ph->n_tensors; i++) {
    const char *fault = fault_of_tensor(c, &ph->tensor[i]);
    if (fault) {
      return fault;
    }
  }
  switch ((enum rt_phase_kind)ph->kind) {
  case RT_PHASE_MAP: return fault_of_map(c, ph);
  case RT_PHASE_ORTHO: return fault_of_ortho(c, ph);
  }
  return "an unknown kind";
}

static const char *fault_of_tables(const struct rt_rule *r) {
  bool bad = (r->n_phases > 0 && !r->phase) || (r->n_init > 0 && !r->init) ||
             (r->n_states > 0 && !r->state) || (r->n_temps > 0 && !r->temp);
  for (uint32_t i = 0; i < r->n_states && !bad; i++) {
    bad = !r->state[i].name || r->state[i].storage > RT_Q8U;
  }
  for (uint32_t i = 0; i < r->n_temps && !bad; i++) {
    bad = r->temp[i] > RT_Q8U;
  }
  return bad ? "phases, states or temporaries without a table, a name or a known storage"
             : NULL;
}

steprt_status rt_check_phases(struct steprt *rt, const struct steprt_program *p,
                              const struct rt_rule *r) {
  const char *fault = fault_of_tables(r);
  if (fault) {
    return rt_refuse(rt, STEPRT_BAD_PROGRAM, "rule '%s' has %s", rt_show(r->name).text,
                     fault);
  }
  for (uint32_t i = 0; i < r->n_phases + r->n_init; i++) {
    bool is_init = i >= r->n_phases;
    uint32_t k = is_init ? i - r->n_phases : i;
    const struct rule_check c = {p, r, is_init};
    fault = fault_of_phase(&c, is_init ? &r->init[k] : &r->phase[k]);
    if (fault) {
      return rt_refuse(rt, STEPRT_BAD_PROGRAM, "rule '%s': %s phase %u names %s",
                       rt_show(r->name).text, is_init ? "initial" : "its", k, fault);
    }
  }
  return STEPRT_OK;
}
