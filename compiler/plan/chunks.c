// Chunks: unions of whole units, cut before the target would be passed (DESIGN section 6). The same on all ranks.
//
// At both ends chunks are smaller: no more than what was issued before, and than half of what is left, but an eighth
// of the target at least. So the first load and the last store, which nothing hides, are short.
//
// A larger unit is a chunk alone, but for an element-wise one: it is cut between its rows, or inside a row after
// every 4096 elements. What rank-invariant grain g holds of a shard is the shard's own grain g; short shards end
// early. A serial step has one chunk for all that streams.
#include "plan/plan_int.h"

struct cutter {
  struct plan_builder *b;
  uint64_t done, left; // bytes of closed chunks, and of all that follows
  uint64_t fill;       // bytes of the open chunk
  bool is_open;
};

static uint64_t limit_of(const struct cutter *c) {
  uint64_t target = c->b->o.chunk_bytes, least = target / 8 + (target < 8);
  uint64_t ramp = c->done < c->left / 2 ? c->done : c->left / 2;
  if (c->b->o.serial) {
    return UINT64_MAX;
  }
  if (c->b->o.overlap) {
    return target;
  }
  return ramp < least ? least : ramp < target ? ramp : target;
}

static void close_chunk(struct cutter *c) {
  if (c->is_open) {
    c->done += c->fill;
    c->left -= c->fill;
    c->fill = 0;
    c->is_open = false;
  }
}

static void put(struct cutter *c, struct piece p, uint64_t bytes, bool streams) {
  struct plan_builder *b = c->b;
  if (!c->is_open) {
    struct chunk chunk = {.first = b->piece.n, .streams = streams};
    VEC_PUSH(b->arena, b->chunk, chunk);
    c->is_open = true;
  }
  VEC_PUSH(b->arena, b->piece, p);
  b->chunk.v[b->chunk.n - 1].n++;
  c->fill += bytes;
}

// One more than there may be is enough to be refused.
static bool has_room(const struct plan_builder *b) {
  return b->chunk.n <= PLAN_MAX_CHUNKS;
}

// Pieces of whole grains, each as large as the limit at its place allows.
static void put_cut(struct cutter *c, uint32_t unit, bool streams) {
  const struct unit *u = &c->b->ordered.v[unit];
  uint64_t left = u->bytes;
  for (uint64_t from = 0; from < u->grains && has_room(c->b);) {
    uint64_t n = limit_of(c) / u->grain_bytes;
    n = n == 0 ? 1 : n < u->grains - from ? n : u->grains - from;
    uint64_t bytes = n * u->grain_bytes;
    bytes = from + n == u->grains || bytes > left ? left : bytes;
    struct piece p = {.unit = unit, .from = from, .to = from + n, .is_cut = true};
    if (from == 0 && n == u->grains) {
      p.is_cut = false;
    }
    put(c, p, bytes, streams);
    left -= bytes;
    from += n;
    if (from < u->grains) {
      close_chunk(c);
    }
  }
}

static void put_unit(struct cutter *c, uint32_t unit) {
  const struct unit *u = &c->b->ordered.v[unit];
  bool streams = !u->resident;
  if (c->fill + u->bytes > limit_of(c) && c->fill != 0) {
    close_chunk(c);
  }
  if (u->bytes > limit_of(c) && u->grains > 1 && u->bytes != 0) {
    put_cut(c, unit, streams);
  } else {
    put(c, (struct piece){.unit = unit, .from = 0, .to = u->grains}, u->bytes, streams);
  }
}

// Resident units are one chunk, so that their launches merge; under overlap they are cut like the others.
static void put_resident(struct cutter *c, uint32_t unit) {
  if (c->b->o.overlap) {
    put_unit(c, unit);
  } else {
    put(c, (struct piece){.unit = unit, .to = c->b->ordered.v[unit].grains}, 0, false);
  }
}

void plan_chunks(struct plan_builder *b) {
  struct cutter c = {.b = b};
  b->piece.n = 0;
  b->chunk.n = 0;
  uint32_t i = 0;
  for (; i < b->ordered.n && b->ordered.v[i].resident; i++) {
    put_resident(&c, i);
  }
  c = (struct cutter){.b = b};
  for (uint32_t k = i; k < b->ordered.n; k++) {
    c.left += b->ordered.v[k].bytes;
  }
  for (; i < b->ordered.n && has_room(b); i++) {
    put_unit(&c, i);
  }
}
