// Host scalars as code for libsteprt (runtime/core/host.def).
#ifndef STEPC_EMIT_CPU_HOST_H
#define STEPC_EMIT_CPU_HOST_H

#include "ir/job_ir.h"
#include "plan/program.h" // runtime/

struct host_code {
  VEC(struct rt_host_ins) ins; // the value is the last instruction's register
  uint32_t n_regs;
};

// An expression over hypers: the clip bound, a hyper bound to recipe hypers. An operation that the runtime does
// not have is named in `*ice`.
struct host_code cpu_host_expr(struct arena *a, const struct texpr *e, struct str *ice);

// The host part of a rule. `out_of` (by IR index) receives 1 + the rule's scalar for each value that crosses to
// the device.
struct host_code cpu_host_rule(struct arena *a, const struct ir *ir, uint32_t *out_of,
                               uint32_t *n_scalars, struct str *ice);
// The slot of each host state among the rule's host states; UINT32_MAX for device states.
uint32_t cpu_host_slot(const struct ir *ir, uint32_t state);

#endif
