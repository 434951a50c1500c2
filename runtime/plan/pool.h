// Memory of one thing that was read: many small pieces, freed together.
#ifndef STEPRT_PLAN_POOL_H
#define STEPRT_PLAN_POOL_H

#include <stddef.h>
#include <stdint.h>

struct rt_pool { // starts as {0}
  struct rt_pool_block *block;
  size_t used, cap; // of the newest block
};

// `n` things of `size` bytes, zeroed, aligned for any; 0 of them give an address too. NULL: out of memory.
void *rt_pool_alloc(struct rt_pool *p, uint64_t n, size_t size);
char *rt_pool_copy(struct rt_pool *p, const char *s, size_t n); // NUL-terminated
void rt_pool_free(struct rt_pool *p);

#endif
