// Tensors of a full item and more are cut; smaller neighbours share an item.
#include "core/items.h"

#include <stddef.h>

struct cutter {
  struct rt_item *out;
  uint64_t n;
  struct rt_item batch;
  uint64_t batch_numel;
};

static void emit(struct cutter *c, struct rt_item item) {
  if (c->out)
    c->out[c->n] = item;
  c->n++;
}

static void flush(struct cutter *c, uint32_t next) {
  if (c->batch_numel > 0)
    emit(c, c->batch);
  c->batch = (struct rt_item){.first = next};
  c->batch_numel = 0;
}

uint64_t rt_items_cut(rt_numel_fn numel, const void *ctx, uint32_t first, uint32_t n,
                      struct rt_item *out) {
  struct cutter c = {.out = out, .batch = {.first = first}};
  for (uint32_t i = first; i < first + n; i++) {
    uint64_t size = numel(ctx, i);
    if (c.batch_numel + size > RT_ITEM_NUMEL)
      flush(&c, i);
    if (size > RT_ITEM_NUMEL) {
      for (uint64_t at = 0; at < size; at += RT_ITEM_NUMEL)
        emit(&c, (struct rt_item){i, 1, at,
                                  size - at < RT_ITEM_NUMEL ? size : at + RT_ITEM_NUMEL});
      flush(&c, i + 1);
      continue;
    }
    c.batch.n++;
    c.batch.end = size; // matters for a batch of one
    c.batch_numel += size;
  }
  flush(&c, first + n);
  return c.n;
}
