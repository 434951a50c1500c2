// A whole job in IR: every rule lowered, optimised, verified and cut into phases.
#ifndef STEPC_IR_JOB_IR_H
#define STEPC_IR_JOB_IR_H

#include "ir/phases.h"

struct job_ir {
  const struct job *job;
  struct ir **ir;         // job->n_rules
  struct phases **phases; // job->n_rules
};

// NULL after an internal error; `*ice` then holds the pass and the verifier's words.
struct job_ir *job_lower(struct arena *a, const struct job *job, struct pass_log log,
                         struct str *ice);

#endif
