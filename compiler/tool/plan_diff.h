// Two plans compared, in words.
#ifndef STEPC_TOOL_PLAN_DIFF_H
#define STEPC_TOOL_PLAN_DIFF_H

#include "base/str.h"

#include "plan/program.h" // runtime/

// One line per difference, long lists cut with a count; empty when the two are the same plan (equal digests).
struct str plan_diff(struct arena *a, const struct rt_plan *old,
                     const struct rt_plan *now);

#endif
