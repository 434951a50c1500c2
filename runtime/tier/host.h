// The host slab (DESIGN section 7): one exact mapping for the states that stream, with huge pages where the system has
// them, on the device's NUMA node, every page touched before the first step. Whoever pins it for a device does so after
// open and undoes it before close.
#ifndef STEPRT_TIER_HOST_H
#define STEPRT_TIER_HOST_H

#include "core/team.h"

#include <stdbool.h>

struct rt_slab_request {
  uint64_t bytes; // 0 is legal
  uint64_t limit; // options.host_memory; 0: none
  int32_t node;   // NUMA node; -1: wherever the system likes
  // Whether its pages will be locked in a way that RLIMIT_MEMLOCK counts, as io_uring's buffers are. NVIDIA's driver
  // pins pages without counting them (open-gpu-kernel-modules, kernel-open/nvidia/os-mlock.c): then it is no limit.
  bool lock_counts;
  // Not mapped in children of fork: a child's copy-on-write would move the parent's pages away from a device.
  bool not_for_children;
  struct rt_team *team; // touches the pages; NULL: one of all cores, for the duration
  const char *root;     // where proc/ and sys/ are looked for; NULL or "": the system's
  void (*note)(void *ctx, const char *text); // fallbacks (L5); may be NULL
  void *note_ctx;
};

struct rt_slab {
  void *at; // page-aligned, zeros; NULL where bytes is 0
  uint64_t bytes;
  uint64_t mapped; // bytes, up to a whole page
};

// The least of what limits leave: the caller's, control groups, the machine, locked memory where that counts. OK, or
// NO_MEMORY with the limit, need, what is left and what is missing in `why`. Allocates nothing.
steprt_status rt_slab_check(const struct rt_slab_request *r, char *why, size_t n);

// Checks, maps, binds and touches. On failure *out is empty and `why` says why: NO_MEMORY.
steprt_status rt_slab_open(const struct rt_slab_request *r, struct rt_slab *out,
                           char *why, size_t n);
void rt_slab_close(struct rt_slab *s); // accepts an empty one

#endif
