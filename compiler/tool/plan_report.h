// One screen about a plan, whatever the number of its parameters; and the same numbers as JSON.
#ifndef STEPC_TOOL_PLAN_REPORT_H
#define STEPC_TOOL_PLAN_REPORT_H

#include "plan/prove.h"
#include "tool/plan_totals.h"

struct plan_view {
  const struct rt_plan *plan;
  struct str title;          // "gpt on tiny"; empty where only the plan is known
  struct str mesh;           // "fsdp 8, ep 8"; empty without axes
  const struct proof *proof; // NULL: not proven here
};

struct str plan_report_text(struct arena *a, const struct plan_view *v);
struct str plan_report_json(struct arena *a, const struct plan_view *v);

// Parts that other reports share.
struct str plan_proof_text(struct arena *a, const struct proof *proof); // lines
// Notes of one or several plans, a line for those alike but for names and numbers, with their count.
void plan_notes_put(struct buf *b, const struct rt_plan *const *plan, uint32_t n);

#endif
