// The options of `stepc plan` that emit, run and verify take too.
#ifndef STEPC_TOOL_PLAN_OPTIONS_H
#define STEPC_TOOL_PLAN_OPTIONS_H

#include "plan/planner.h"
#include "tool/tool.h"

// EXIT_USAGE: what is no number or size was said; what makes no sense is refused by the planner. Texts stay where the
// command line has them.
enum exit_code plan_options_read(struct tool *t, struct plan_options *out);
// Was any of them given? NULL, or the name of one.
const char *plan_options_given(const struct tool *t);
#endif
