// Every rule of a job: lowered, optimised, verified, cut.
#include "ir/job_ir.h"

struct job_ir *job_lower(struct arena *a, const struct job *job, struct pass_log log,
                         struct str *ice) {
  struct job_ir *j = ARENA_NEW(a, struct job_ir);
  j->job = job;
  j->ir = ARENA_ARRAY(a, struct ir *, job->n_rules);
  j->phases = ARENA_ARRAY(a, struct phases *, job->n_rules);
  for (uint32_t i = 0; i < job->n_rules; i++) {
    j->ir[i] = ir_lower(a, job, job->rule[i]);
    *ice = ir_optimize(j->ir[i], log);
    if (ice->n > 0) {
      return NULL;
    }
    j->phases[i] = phases_cut(a, j->ir[i]);
  }
  return j;
}
