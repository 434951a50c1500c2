// How measured times scatter.
#ifndef STEPC_TOOL_SPREAD_H
#define STEPC_TOOL_SPREAD_H

#include "base/arena.h"

struct spread {
  double median, least, most;
};

// Of n > 0 numbers, which stay as they are.
struct spread spread_of(struct arena *a, const double *x, uint64_t n);

#endif
