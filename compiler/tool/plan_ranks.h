// The plans of all ranks, compared: the least and the most over ranks, and whether they agree.
#ifndef STEPC_TOOL_PLAN_RANKS_H
#define STEPC_TOOL_PLAN_RANKS_H

#include "tool/plan_report.h"

// `v` is of rank 0, its proof of all. One screen, whatever the number of ranks.
struct str plan_ranks_text(struct arena *a, const struct plan_view *v,
                           const struct rt_plan *const *plan, uint32_t n);
struct str plan_ranks_json(struct arena *a, const struct plan_view *v,
                           const struct rt_plan *const *plan, uint32_t n);

#endif
