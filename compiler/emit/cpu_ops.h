// One operation of the step at a time: its buffers, its scalars.
#ifndef STEPC_EMIT_CPU_OPS_H
#define STEPC_EMIT_CPU_OPS_H

#include "emit/cpu_plan.h"

// Where a temp is used in its parameter's waves, and so which buffers it may share.
enum temp_role {
  TEMP_FRONT, // written in the first, no longer read in the last: free again when the next parameter begins
  TEMP_INNER, // written after the first
  TEMP_CROSS, // from the first to the last, where the next parameter writes its own: two sets, in turns
  TEMP_CROSS_ODD,
  N_TEMP_ROLES
};
// By role and storage, in order of use within a parameter.
struct temp_pool {
  VEC(uint32_t) buffer[N_TEMP_ROLES][ST_BF16 + 1];
};

struct waves {
  struct planner *p;
  struct temp_pool pool;
  bool odd; // the parameter at hand is the second of a pair
};

// A map phase of one parameter.
struct rt_wave_op cpu_op_map(struct waves *w, uint32_t param, const struct kernel_map *m);
// A matrix phase, one orthogonalize.
struct rt_wave_op cpu_op_ortho(struct waves *w, uint32_t param, const struct phases *ph,
                               uint32_t phase);

// The iteration of the program that stands for it, added where it is new.
uint32_t cpu_find_iteration(struct planner *p, const struct ir_iteration *it);
struct ir_ref cpu_ortho_of(const struct phases *ph, const struct phase *phase);
// Phases, states and temporaries of a rule; its kernels must be known.
void cpu_set_phases(struct planner *p, uint32_t rule,
                    struct rt_rule *out); // cpu_phases.c

#endif
