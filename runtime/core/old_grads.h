// One pass over all gradients of a step: the clip norm and the verdict of `skip nonfinite`.
#ifndef STEPRT_CORE_GRADS_H
#define STEPRT_CORE_GRADS_H

#include "core/handle.h"

struct rt_grads {
  double norm;    // L2 over all elements, rounded once before the root
  bool nonfinite; // any NaN or Inf
  uint64_t bytes; // read
};
// Of the gradients of parameters that take part; their addresses stand in rt->base.
struct rt_grads rt_grads_measure(struct steprt *rt);

#endif
