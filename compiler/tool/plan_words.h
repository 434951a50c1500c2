// The parts of a plan in words, for reports.
#ifndef STEPC_TOOL_PLAN_WORDS_H
#define STEPC_TOOL_PLAN_WORDS_H

#include "base/str.h"

#include "plan/program.h" // runtime/

struct str plan_event_words(struct arena *a, const struct rt_event *e); // "slot 2 loaded"
struct str plan_at_words(struct arena *a, const struct rt_plan *p,
                         struct rt_at at); // "slot 2 + 512"
// "16 x 48", "scalar"; of what this rank holds.
struct str plan_shape_words(struct arena *a, const struct rt_plan_param *p);
// What an operation does: "map muon_0 over 3 pieces".
struct str plan_op_words(struct arena *a, const struct rt_plan *p,
                         const struct rt_op *op);
const char *plan_plural(uint64_t n); // "s", or "" for one

#endif
