// The planner: from a program and a model to the plan of one rank (DESIGN section 6). Knows parameters, ranks, bytes
// and time; cannot change arithmetic.
#ifndef STEPC_PLAN_PLANNER_H
#define STEPC_PLAN_PLANNER_H

#include "front/sema.h"
#include "plan/plan_json.h" // runtime/

struct plan_options {
  struct str offload; // "" or "none", "host", "host:0.6"
  // 0: a sixty-fourth of the streamed bytes, between 64 MiB and 1 GiB
  uint64_t chunk_bytes;
  uint32_t slots; // 0: 4
  bool overlap;
  uint64_t gpu_memory, host_memory; // budgets in bytes; 0: none
  uint32_t rank;
  // all that streams is one chunk: loaded, updated, stored. Beside `offload` and `rank` alone
  bool serial;
};

// The sealed plan of one rank, on f->arena. NULL when it is refused (E08xx in f->diags) or on an internal error (`*ice`).
struct rt_plan *plan_make(struct front *f, const struct job *job,
                          const struct steprt_program *program,
                          const struct plan_options *o, struct str *ice);

#endif
