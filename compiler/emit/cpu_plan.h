// The step of a job as data for libsteprt, and the kernels that it needs.
#ifndef STEPC_EMIT_CPU_PLAN_H
#define STEPC_EMIT_CPU_PLAN_H

#include "emit/cpu_host.h"
#include "emit/cpu_kernel.h"

struct cpu_plan {
  struct arena *arena;
  const struct job_ir *j;
  struct cpu_kernels kernels;
  struct rt_kernel *kernel; // of `program`; `fn` is filled in once there is code
  struct steprt_program program;
  VEC(struct str) note; // fallbacks, in words
};

// Everything lives on the arena. `*ice` when the job cannot be translated (an internal error).
struct cpu_plan *cpu_plan_build(struct arena *a, const struct job_ir *j, struct str *ice);

// Inside: one plan under construction.
struct
    planner_map { // a map phase of a rule, alike for all its parameters: they have one shape
  const struct phases *phases;
  uint32_t phase, kernel;
  struct cpu_slot *slot;
};
struct planner {
  struct cpu_plan *plan;
  const struct job_ir *j;
  struct arena *arena;
  struct str *ice;
  VEC(struct rt_buffer) buffer;
  VEC(struct rt_op) op, init;
  VEC(struct rt_iteration) iteration;
  struct rt_param *param;
  uint32_t **out_of;             // by rule, by IR index: 1 + scalar of the rule
  struct planner_map **map;      // by rule, by phase
  struct planner_map **init_map; // by rule, by state: initial states
};
void cpu_plan_ops(struct planner *p); // cpu_waves.c

#endif
