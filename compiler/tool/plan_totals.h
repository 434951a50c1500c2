// What a plan amounts to: its lists added up by use line, kind of operation and kernel.
#ifndef STEPC_TOOL_PLAN_TOTALS_H
#define STEPC_TOOL_PLAN_TOTALS_H

#include "base/str.h"

#include "plan/program.h" // runtime/

// A `use` line. Elements and bytes are those of this rank.
struct plan_line {
  const char *label, *rule, *reason;
  uint64_t params, elements, state_bytes, host_bytes;
  uint32_t units;
};

struct plan_kind {
  uint64_t ops, pieces; // pieces: rows or copies
  uint64_t bytes_read, bytes_written, flops;
};

struct plan_launches {
  uint64_t ops, pieces, elements, bytes;
  bool *by_line; // one per line: do its parameters use this kernel?
};

struct plan_totals {
  struct arena *arena;
  const struct rt_plan *plan;
  VEC(struct plan_line) line;
  uint32_t *line_of; // per parameter; RT_NO_ID: it has no rule
  uint64_t elements; // of parameters with a rule
  uint32_t without_rule;
  uint32_t absent; // parameters with a rule of which this rank holds nothing
  struct plan_kind kind[RT_N_OP_KINDS], all;
  struct plan_launches *kernel; // by kernel of the plan; iterations are not among them
  uint64_t loaded, stored;      // bytes of a step between host and device
  uint32_t streamed;            // chunks that load and store
  uint64_t largest, smallest;   // bytes of those; 0 where there are none
};

// Everything lives on the arena.
struct plan_totals *plan_total(struct arena *a, const struct rt_plan *plan);

#endif
