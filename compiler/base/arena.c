// Arenas: a list of blocks, bump allocation, one longjmp when memory is out.
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#  include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    include <sanitizer/asan_interface.h>
#  endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#  define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#  define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { FIRST_BLOCK = 64 << 10, MAX_BLOCK = 8 << 20 };

struct block {
  struct block *prev;
  size_t cap, used;
  _Alignas(64) unsigned char bytes[];
};

struct arena {
  struct block *top;
  size_t total, limit;
  jmp_buf *oom;
};

static struct block *block_new(struct block *prev, size_t cap) {
  // malloc knows nothing of the 64 bytes that `bytes` is aligned to; aligned_alloc takes whole multiples of them.
  size_t size = cap > SIZE_MAX / 2 ? 0 : (sizeof(struct block) + cap + 63) & ~(size_t)63;
  struct block *b = size == 0 ? NULL : aligned_alloc(64, size);
  if (b == NULL) {
    return NULL;
  }
  *b = (struct block){.prev = prev, .cap = cap};
  ASAN_POISON_MEMORY_REGION(b->bytes, cap);
  return b;
}

static void block_free(struct block *b) {
  ASAN_UNPOISON_MEMORY_REGION(b->bytes, b->cap);
  free(b);
}

struct arena *arena_new(size_t limit) {
  struct arena *a = calloc(1, sizeof *a);
  if (a != NULL) {
    a->limit = limit;
  }
  return a;
}

void arena_free(struct arena *a) {
  if (a == NULL) {
    return;
  }
  for (struct block *b = a->top; b != NULL;) {
    struct block *prev = b->prev;
    block_free(b);
    b = prev;
  }
  free(a);
}

void arena_reset(struct arena *a) {
  while (a->top != NULL && a->top->prev != NULL) {
    struct block *prev = a->top->prev;
    block_free(a->top);
    a->top = prev;
  }
  if (a->top != NULL) {
    a->top->used = 0;
    ASAN_POISON_MEMORY_REGION(a->top->bytes, a->top->cap);
  }
  a->total = 0;
}

struct arena_mark arena_mark(const struct arena *a) {
  return (struct arena_mark){a->top, a->top == NULL ? 0 : a->top->used, a->total};
}

void arena_rewind(struct arena *a, struct arena_mark m) {
  if (m.block == NULL) {
    arena_reset(a);
    return;
  }
  while (a->top != m.block) {
    struct block *prev = a->top->prev;
    block_free(a->top);
    a->top = prev;
  }
  ASAN_POISON_MEMORY_REGION(a->top->bytes + m.used, a->top->used - m.used);
  a->top->used = m.used;
  a->total = m.total;
}

size_t arena_bytes(const struct arena *a) {
  return a->total;
}

void arena_guard(struct arena *a, jmp_buf *oom) {
  a->oom = oom;
}

jmp_buf *arena_guarded(const struct arena *a) {
  return a->oom;
}

// An arena without a guard is a bug of ours; there is nowhere to return to.
static _Noreturn void out_of_memory(struct arena *a) {
  if (a->oom == NULL) {
    abort();
  }
  longjmp(*a->oom, 1);
}

// Memory as it comes.
static void *take(struct arena *a, size_t size, size_t align) {
  if (size > SIZE_MAX / 2 || (a->limit != 0 && size > a->limit - a->total)) {
    out_of_memory(a);
  }
  struct block *b = a->top;
  size_t at = b == NULL ? 0 : (b->used + align - 1) & ~(align - 1);
  if (b == NULL || at > b->cap || size > b->cap - at) {
    size_t cap = b == NULL                ? FIRST_BLOCK
                 : b->cap * 2 < MAX_BLOCK ? b->cap * 2
                                          : MAX_BLOCK;
    if (cap < size) {
      cap = size;
    }
    b = block_new(a->top, cap);
    if (b == NULL) {
      out_of_memory(a);
    }
    a->top = b;
    at = 0;
  }
  b->used = at + size;
  a->total += size;
  ASAN_UNPOISON_MEMORY_REGION(b->bytes + at, size);
  return b->bytes + at;
}

void *arena_alloc(struct arena *a, size_t size, size_t align) {
  return memset(take(a, size, align), 0, size);
}

void *arena_array(struct arena *a, size_t n, size_t size, size_t align) {
  if (size != 0 && n > SIZE_MAX / 2 / size) {
    out_of_memory(a);
  }
  return arena_alloc(a, n * size, align);
}

void *vec_grow(struct arena *a, const void *old, uint32_t n, uint32_t *cap, size_t size) {
  if (*cap > UINT32_MAX / 2) {
    out_of_memory(a);
  }
  uint32_t grown = *cap == 0 ? 8 : *cap * 2;
  if (size != 0 && grown > SIZE_MAX / 2 / size) {
    out_of_memory(a);
  }
  void *p =
      take(a, grown * size, _Alignof(max_align_t)); // what is not pushed is not read
  if (n != 0) {
    memcpy(p, old, (size_t)n * size);
  }
  *cap = grown;
  return p;
}
