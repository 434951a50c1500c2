// A spec and a model as texts, taken to a plan without machine code.
#ifndef TESTS_PLAN_JOB_H
#define TESTS_PLAN_JOB_H

#include "api/driver.h"

struct plan_job {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct front front;
  struct str spec; // the text
  struct driver_input input;
  struct driver driver; // driver.plan: NULL when it was refused
};

// `spec`: a whole text, or a path below the root of the repository; `model`: JSON, or a path. `cuda`: for sm_90a.
void plan_job_open(struct plan_job *j, const char *spec, const char *model, bool cuda);
// Plans, again if it must be. NULL: refused, see plan_job_said.
struct rt_plan *plan_job_plan(struct plan_job *j, const struct plan_options *o);
const char *plan_job_said(struct plan_job *j); // and forgets
void plan_job_close(struct plan_job *j);

#endif
