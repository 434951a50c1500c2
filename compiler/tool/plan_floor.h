// The least that a step of a plan can take, by bytes and operations over the rates of rates.def. No simulation: waits,
// launches and the ends of the pipeline are left out.
#ifndef STEPC_TOOL_PLAN_FLOOR_H
#define STEPC_TOOL_PLAN_FLOOR_H

#include "tool/plan_totals.h"

struct plan_floor { // seconds
  double copies;    // the longest of up, down and both ways
  double kernels, products;
  double step;       // the longer of copies and of what the compute lane does
  const char *bound; // what that is: "copies"
  const char *rates; // whose: "an H200 and its host"
};
struct plan_floor plan_floor_of(const struct plan_totals *t);

#endif
