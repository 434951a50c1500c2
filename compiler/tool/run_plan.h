// The plan that `stepc run` runs, and what it did.
#ifndef STEPC_TOOL_RUN_PLAN_H
#define STEPC_TOOL_RUN_PLAN_H

#include "api/driver.h"
#include "tool/tool.h"

#include "steprt.h" // runtime/

// One process runs one rank: a model of several is refused.
enum exit_code run_plan_world(struct tool *t, const struct model *m);
// --plan leaves nothing to the options of a plan.
enum exit_code run_plan_options(struct tool *t);
// Puts the plan of --plan FILE in the place of the program's; it must be of this program, and is proven here. *read is
// to be freed by rt_plan_free; NULL without --plan.
enum exit_code run_plan_read(struct tool *t, struct driver *d, struct rt_plan **read);
// What streams in a step, a line each; empty where nothing does.
struct str run_plan_text(struct arena *a, const struct rt_plan *p);
// A line on each counter of the silent step that is not 0; empty where all are.
struct str run_counters_text(struct arena *a, const struct steprt_counters *c);
// Writes the trace of the last step to --trace FILE.
enum exit_code run_trace_write(struct tool *t, struct steprt *rt,
                               const struct rt_plan *p);

#endif
