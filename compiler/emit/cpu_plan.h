// The step of a job as data for libsteprt, and the kernels that it needs.
#ifndef STEPC_EMIT_CPU_PLAN_H
#define STEPC_EMIT_CPU_PLAN_H

#include "emit/cpu_host.h"
#include "emit/kernel.h"

// Temps of at least so many elements are written past the caches. Until a temp is written again, its parameter's and
// its neighbour's phases move about eight arrays of its size: 32 MiB in f32, a common last level, so that a plain
// store would first fetch each line from memory. Smaller ones stay cached.
enum { CPU_STREAM_NUMEL = 1 << 20 };

struct cpu_plan {
  struct arena *arena;
  const struct job_ir *j;
  struct kernels kernels;
  struct rt_kernel *kernel; // of `program`; `fn` is filled in once there is code
  struct steprt_program program;
  VEC(struct str) note; // fallbacks, in words
};

// Everything lives on the arena. `*ice` when the job cannot be translated (an internal error).
// `stream_numel`: see struct kernels.
struct cpu_plan *cpu_plan_build(struct arena *a, const struct job_ir *j,
                                uint64_t stream_numel, struct str *ice);

// Inside: one plan under construction.
struct planner {
  struct cpu_plan *plan;
  const struct job_ir *j;
  struct arena *arena;
  struct str *ice;
  VEC(struct rt_iteration) iteration;
  struct rt_param *param;
  struct rt_rule *rule;
  uint32_t **out_of;         // by rule, by IR index: 1 + scalar of the rule
  struct rule_kernels *maps; // by rule
};
// Phases, states and temporaries of a rule; its kernels must be known.
void cpu_set_phases(struct planner *p, uint32_t rule,
                    struct rt_rule *out); // cpu_phases.c

#endif
