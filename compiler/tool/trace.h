// A measured step as a Chrome trace, for chrome://tracing and Perfetto: one thread per lane, one slice per operation.
// Format: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#ifndef STEPC_TOOL_TRACE_H
#define STEPC_TOOL_TRACE_H

#include "base/str.h"

#include "plan/program.h" // runtime/
#include "steprt.h"

// The records of steprt_trace, in the order of issue.
struct str trace_text(struct arena *a, const struct rt_plan *plan,
                      const struct steprt_trace_record *record, uint64_t n);

#endif
