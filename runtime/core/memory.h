// All memory of a handle: made at open and bind, freed together, never made inside a step (L2).
#ifndef STEPRT_CORE_MEMORY_H
#define STEPRT_CORE_MEMORY_H

#include "core/team.h"

#include <stdbool.h>

struct rt_memory {
  struct rt_block *blocks;
  bool silent;      // inside a step
  uint64_t refused; // asked for while silent: a law broken
};

// `n` things of `size` bytes, zeroed, 64-byte aligned; at 2 MiB and beyond mapped privately, with huge pages where
// the system has them. NULL when out of memory, on overflow or inside a step. 0 bytes give a pointer too.
void *rt_memory_alloc(struct rt_memory *m, uint64_t n, uint64_t size);
void rt_memory_free(struct rt_memory *m); // everything
// Writes to every page with all threads, so that pages are spread over their nodes and no step faults one in.
// The content must still be 0.
void rt_memory_touch(struct rt_team *team, void *data, uint64_t bytes);

#endif
