// Hypers, counts, registers and the tables of units: what does not depend on the device.
#include "core/tables.h"

static uint32_t most(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

static uint32_t most_regs(const struct steprt_program *p) {
  uint32_t regs = p->clips ? p->n_clip_regs : 0;
  for (uint32_t i = 0; i < p->n_rules; i++) {
    regs = most(regs, p->rule[i].n_regs);
  }
  for (uint32_t i = 0; i < p->n_hypers; i++) {
    regs = p->hyper[i].bound ? most(regs, p->hyper[i].n_bound_regs) : regs;
  }
  return regs;
}

static uint32_t most_outs(const struct steprt_program *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_rules; i++) {
    n = most(n, p->rule[i].n_scalars);
  }
  return n;
}

// Allocates the array that `field` of the handle points to.
#define MAKE(rt, field, n)                                                               \
  (((rt)->field = rt_memory_alloc(&(rt)->memory, n, sizeof *(rt)->field)) != NULL)

steprt_status rt_make_scalars(struct steprt *rt) {
  const struct steprt_program *p = rt->program;
  if (!MAKE(rt, count, p->n_params) || !MAKE(rt, takes_part, p->n_params) ||
      !MAKE(rt, memo, p->n_rules) || !MAKE(rt, reg, most_regs(p)) ||
      !MAKE(rt, outs, most_outs(p)) || !MAKE(rt, hyper, p->n_hypers)) {
    return STEPRT_NO_MEMORY;
  }
  for (uint32_t i = 0; i < p->n_hypers; i++) {
    rt->hyper[i] = p->hyper[i].value;
  }
  rt_hypers_bind(rt);
  return STEPRT_OK;
}

steprt_status rt_make_units(struct steprt *rt) {
  const struct rt_plan *plan = rt->plan;
  bool ok = MAKE(rt, unit_mode, plan->n_units) && MAKE(rt, asked, plan->n_units) &&
            MAKE(rt, named, plan->n_params) && MAKE(rt, chunk_issued, plan->n_chunks);
  return ok ? STEPRT_OK : STEPRT_NO_MEMORY;
}
