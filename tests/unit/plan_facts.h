// What holds for every plan, checked against a walk over its elements and bytes that shares no code with the planner.
#ifndef TESTS_PLAN_FACTS_H
#define TESTS_PLAN_FACTS_H

#include "plan_job.h"

// Fails the test where the plan of one rank breaks one; `what` says which plan it is.
void plan_facts_check(const struct plan_job *j, const struct rt_plan *p,
                      const char *what);

#endif
