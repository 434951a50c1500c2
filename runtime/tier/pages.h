// Where the pages of a mapping lie: how many are huge, and on which NUMA node. Raw system calls, no libnuma.
#ifndef STEPRT_TIER_PAGES_H
#define STEPRT_TIER_PAGES_H

#include <stdbool.h>
#include <stdint.h>

// Pages of [at, at + bytes) that are touched from now on come from `node` where it has room. 0 or an errno.
int rt_pages_bind(void *at, uint64_t bytes, int32_t node);
// Of up to 64 touched pages spread over the range, how many lie on `node`. False where the kernel does not tell.
bool rt_pages_on_node(void *at, uint64_t bytes, int32_t node, uint32_t *on,
                      uint32_t *seen);
// Bytes in transparent huge pages. False where the kernel does not tell.
bool rt_pages_huge(const void *at, uint64_t bytes, uint64_t *huge);
// The same, of a text like /proc/self/smaps.
bool rt_pages_huge_in(const char *smaps, const void *at, uint64_t bytes, uint64_t *huge);

#endif
