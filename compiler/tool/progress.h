// A progress bar on standard error, where that is a terminal.
#ifndef STEPC_TOOL_PROGRESS_H
#define STEPC_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
  bool on;
  uint64_t total;
  double started, drawn;
};

struct progress progress_begin(uint64_t total);
void progress_show(struct progress *p, uint64_t done); // redraws a few times a second
void progress_end(struct progress *p);                 // wipes it

#endif
