// Blocks in a list; a block starts with its own list node.
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64, PAGE = 4096 };
static const uint64_t HUGE_PAGE = 1 << 21;

struct rt_block {
  struct rt_block *next;
  void *mapping; // NULL: from the heap
  uint64_t mapped;
};
_Static_assert(sizeof(struct rt_block) <= ALIGN,
               "a block's data starts one line after it");

// Mapped one huge page larger than asked for, so that the block can start on one.
static struct rt_block *map_block(uint64_t bytes) {
  uint64_t mapped = bytes + HUGE_PAGE;
  void *at =
      mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    return NULL;
  }
  madvise(at, mapped, MADV_HUGEPAGE); // a wish: without huge pages only speed is lost
  uint64_t skip = HUGE_PAGE - (uintptr_t)at % HUGE_PAGE;
  struct rt_block *b = (struct rt_block *)((char *)at + skip % HUGE_PAGE);
  b->mapping = at;
  b->mapped = mapped;
  return b;
}

static struct rt_block *heap_block(uint64_t bytes) {
  struct rt_block *b = aligned_alloc(ALIGN, bytes);
  if (b) {
    memset(b, 0, bytes);
  }
  return b;
}

void *rt_memory_alloc(struct rt_memory *m, uint64_t n, uint64_t size) {
  uint64_t bytes;
  if (m->silent) {
    m->refused++;
    return NULL;
  }
  if (__builtin_mul_overflow(n, size, &bytes) ||
      bytes > (uint64_t)PTRDIFF_MAX - 2 * (uint64_t)HUGE_PAGE) {
    return NULL;
  }
  bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
  struct rt_block *b = bytes < HUGE_PAGE ? heap_block(bytes) : map_block(bytes);
  if (!b) {
    return NULL;
  }
  b->next = m->blocks;
  m->blocks = b;
  return (char *)b + ALIGN;
}

void rt_memory_free(struct rt_memory *m) {
  for (struct rt_block *b = m->blocks, *next; b; b = next) {
    next = b->next;
    if (b->mapping) {
      munmap(b->mapping, b->mapped);
    } else {
      free(b);
    }
  }
  *m = (struct rt_memory){0};
}

struct touch {
  char *data;
  uint64_t bytes;
};

static void touch_piece(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct touch *t = ctx;
  uint64_t end = (item + 1) * HUGE_PAGE < t->bytes ? (item + 1) * HUGE_PAGE : t->bytes;
  for (uint64_t at = item * HUGE_PAGE; at < end; at += PAGE) {
    ((volatile char *)t->data)[at] = 0;
  }
}

void rt_memory_touch(struct rt_team *team, void *data, uint64_t bytes) {
  struct touch t = {data, bytes};
  rt_team_run(team, (bytes + HUGE_PAGE - 1) / HUGE_PAGE, touch_piece, &t);
}
