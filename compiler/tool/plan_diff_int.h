// Inside the comparison of two plans.
#ifndef STEPC_TOOL_PLAN_DIFF_INT_H
#define STEPC_TOOL_PLAN_DIFF_INT_H

#include "base/str.h"

#include "plan/program.h" // runtime/

struct diff {
  struct arena *a;
  const struct rt_plan *old, *now;
  struct buf b; // lines found so far
};

static inline const char *diff_name(const struct diff *d, const char *name) {
  return str_escape(d->a, str_of(name)).p;
}

void diff_params(struct diff *d);
void diff_kernels(struct diff *d);
void diff_notes(struct diff *d);

#endif
