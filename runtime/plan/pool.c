// A bump allocator over blocks from calloc.
#include "plan/pool.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 10 };

struct rt_pool_block {
  struct rt_pool_block *next;
  _Alignas(max_align_t) char data[];
};

void *rt_pool_alloc(struct rt_pool *p, uint64_t n, size_t size) {
  const size_t align = _Alignof(max_align_t);
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX / 2) {
    return NULL;
  }
  bytes = (bytes + align - 1) / align * align;
  if (p->block == NULL || p->cap - p->used < bytes) {
    size_t cap = bytes > BLOCK ? bytes : BLOCK;
    struct rt_pool_block *b = calloc(1, sizeof *b + cap);
    if (b == NULL) {
      return NULL;
    }
    b->next = p->block;
    p->block = b;
    p->used = 0;
    p->cap = cap;
  }
  void *at = p->block->data + p->used;
  p->used += bytes;
  return at;
}

char *rt_pool_copy(struct rt_pool *p, const char *s, size_t n) {
  char *copy = rt_pool_alloc(p, (uint64_t)n + 1, 1);
  if (copy != NULL) {
    memcpy(copy, s, n);
  }
  return copy;
}

void rt_pool_free(struct rt_pool *p) {
  while (p->block != NULL) {
    struct rt_pool_block *b = p->block;
    p->block = b->next;
    free(b);
  }
  *p = (struct rt_pool){0};
}
