// Enqueues operations of the plan in the order of its list: of begin, of sets of units, and what lies ahead.
#ifndef STEPRT_CORE_ISSUE_H
#define STEPRT_CORE_ISSUE_H

#include "core/handle.h"

// `s` of a device's call inside a step: anything but OK leaves the handle failed, with the device's text or `s`'s.
steprt_status rt_checked(struct steprt *rt, steprt_status s);

// Refuses a stream that is not of the device, before anything is enqueued.
steprt_status rt_check_stream(struct steprt *rt, void *stream);

// Reads the verdict of the last step, once; blocks until it is known. Takes counts and host states back where the
// step was skipped.
steprt_status rt_settle(struct steprt *rt);

// The operations of begin.
steprt_status rt_issue_begin(struct steprt *rt);
// Those of the units in RT_UNIT_SELECTED, of the chunks [first, end).
steprt_status rt_issue_chunks(struct steprt *rt, uint32_t first, uint32_t end);
// Under overlap: of the chunks up to `end` that are not enqueued yet; and of all.
steprt_status rt_issue_until(struct steprt *rt, uint64_t end);
steprt_status rt_issue_rest(struct steprt *rt);

#endif
