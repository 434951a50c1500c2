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
  if (c->out) {
    c->out[c->n] = item;
  }
  c->n++;
}

static void flush(struct cutter *c, uint32_t next) {
  if (c->batch_numel > 0) {
    emit(c, c->batch);
  }
  c->batch = (struct rt_item){.first = next};
  c->batch_numel = 0;
}

static uint64_t item_numel(uint64_t numel) {
  uint64_t part = numel / 32 / 4096 * 4096;
  return part < RT_ITEM_LEAST ? RT_ITEM_LEAST : part > RT_ITEM_MOST ? RT_ITEM_MOST : part;
}

uint64_t rt_items_cut(rt_numel_fn numel, const void *ctx, uint32_t first, uint32_t n,
                      struct rt_item *out) {
  struct cutter c = {.out = out, .batch = {.first = first}};
  for (uint32_t i = first; i < first + n; i++) {
    uint64_t size = numel(ctx, i), step = item_numel(size);
    if (c.batch_numel + size > RT_ITEM_LEAST) {
      flush(&c, i);
    }
    if (size > RT_ITEM_LEAST) {
      for (uint64_t at = 0; at < size; at += step) {
        emit(&c, (struct rt_item){i, 1, at, size - at < step ? size : at + step});
      }
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
