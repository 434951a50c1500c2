// From the options of emit, run and verify to a compiled job.
#ifndef STEPC_TOOL_JOB_H
#define STEPC_TOOL_JOB_H

#include "api/driver.h"
#include "tool/tool.h"

struct pass_time {
  struct str name;
  double seconds;
  uint32_t runs, changes;
};

struct job_setup {
  struct driver_input in;
  const char *print_after; // NULL: none
  bool print_matched;
  VEC(struct pass_time) passes;
  struct tool *tool;
};

// Fills `s` from the options; `s` must stay where it is while the driver runs (the pass log points to it).
enum exit_code job_setup(struct tool *t, struct job_setup *s);
// What runs it: "cpu:znver4", "cuda:sm_90a".
struct str job_target_name(struct arena *a, const struct driver_input *in,
                           const struct steprt_program *program);
// What a stage that returned false means: an internal error, or the recorded messages.
enum exit_code job_failed(struct tool *t, const struct driver *d);
// After the passes ran: --print-after must have met its pass; --time-passes prints its table.
enum exit_code job_finish_passes(struct tool *t, struct job_setup *s,
                                 const struct driver *d);

#endif
