// Sums over a plan, for reports; they follow from the rest of it.
#ifndef STEPRT_PLAN_TOTALS_H
#define STEPRT_PLAN_TOTALS_H

#include "plan/plan.h"

struct rt_plan_totals {
  uint64_t params, updated;      // in the table; of those, with a rule
  uint64_t elements;             // of updated ones, on this rank
  uint64_t resident, streamed;   // bytes of states on the device; of those that stream
  uint64_t loads, stores;        // bytes per step
  uint64_t read, written, flops; // of all operations of a step
};
// Sums are modulo 2^64.
struct rt_plan_totals rt_plan_totals(const struct rt_plan *plan);

#endif
