// Sums over a plan.
#include "plan/totals.h"

static uint64_t copied(const struct rt_plan *plan, const struct rt_op *op) {
  uint64_t bytes = 0;
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    bytes += plan->copy[i].bytes;
  }
  return bytes;
}

struct rt_plan_totals rt_plan_totals(const struct rt_plan *plan) {
  struct rt_plan_totals t = {.params = plan->n_params};
  for (uint32_t i = 0; i < plan->n_params; i++) {
    bool updated = plan->param[i].unit != RT_NO_ID;
    t.updated += updated;
    t.elements += updated ? plan->param[i].numel : 0;
  }
  for (uint32_t i = 0; i < plan->n_states; i++) {
    const struct rt_state_home *s = &plan->state[i];
    *(s->at.space == RT_AT_HOST ? &t.streamed : &t.resident) += s->bytes;
  }
  for (uint32_t i = 0; i < plan->n_ops; i++) {
    const struct rt_op *op = &plan->op[i];
    t.loads += op->kind == RT_OP_LOAD ? copied(plan, op) : 0;
    t.stores += op->kind == RT_OP_STORE ? copied(plan, op) : 0;
    t.read += op->bytes_read;
    t.written += op->bytes_written;
    t.flops += op->flops;
  }
  return t;
}
