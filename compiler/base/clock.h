// Wall-clock seconds.
#ifndef STEPC_BASE_CLOCK_H
#define STEPC_BASE_CLOCK_H

#include <time.h>

static inline double clock_now(void) {
  struct timespec ts;
  (void)clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

#endif
