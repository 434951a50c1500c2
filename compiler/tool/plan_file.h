// Plans as files.
#ifndef STEPC_TOOL_PLAN_FILE_H
#define STEPC_TOOL_PLAN_FILE_H

#include "tool/tool.h"

#include "plan/plan_json.h" // runtime/

// Reads and checks a plan; rt_plan_free. NULL: what is wrong was said, and *code is the exit code.
struct rt_plan *plan_file_read(struct tool *t, const char *path, enum exit_code *code);
// As plan.json on the arena; empty: memory is out, said.
struct str plan_file_text(struct tool *t, const struct rt_plan *p);

#endif
