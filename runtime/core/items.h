// Cuts lists of tensors into items of work for a team, decided from their sizes alone.
#ifndef STEPRT_CORE_ITEMS_H
#define STEPRT_CORE_ITEMS_H

#include <stdint.h>

// Elements of an item, multiples of 4096: at most a tenth of a millisecond at memory speed, so that the threads end
// together, and long enough to make claiming it free; a tensor is cut into 32 where that lies in between.
enum { RT_ITEM_LEAST = 1 << 14, RT_ITEM_MOST = 1 << 16 };

// Several whole tensors [first, first + n), or (n = 1) the elements [begin, end) of one. Tensors of less than
// RT_ITEM_LEAST share one: a model has hundreds of them.
struct rt_item {
  uint32_t first, n;
  uint64_t begin, end;
};

typedef uint64_t (*rt_numel_fn)(const void *ctx, uint32_t i);

// Items over the tensors [first, first + n); `out` NULL: only counts them. Tensors of 0 elements may stand in an item.
uint64_t rt_items_cut(rt_numel_fn numel, const void *ctx, uint32_t first, uint32_t n,
                      struct rt_item *out);

#endif
