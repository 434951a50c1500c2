// What `stepc run` prints: the rules chosen, then times beside a memory copy.
#ifndef STEPC_TOOL_RUN_REPORT_H
#define STEPC_TOOL_RUN_REPORT_H

#include "tool/session.h"

struct run_numbers {
  uint64_t steps, skipped;
  double *seconds, *map, *matrix; // per step
  uint64_t bytes;                 // moved by the last step
  double grad_norm, clip_factor;  // of the last step
  double copy; // seconds of a memory copy of as many bytes; 0: not measured
  uint32_t threads;
};

// One line on the job, and the table of rules: label, optimizer, tensors, elements, bytes of state, reason.
struct str run_rules_text(struct arena *a, const struct driver *d, struct str target,
                          uint32_t threads);
struct str run_times_text(struct arena *a, const struct run_numbers *n, bool clips);
// `digests`: the lines of --digest; empty where it was not given.
struct str run_json(struct arena *a, const struct driver *d, struct str target,
                    const struct run_numbers *n, struct str digests);

#endif
