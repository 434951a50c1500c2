// The order of units: the same on all ranks.
//
// Resident units come first: they need no load, so they run while the first chunk is loaded. Under overlap the rest
// follows the forward pass, as the units already do. Otherwise a step costs first load + steady part + last store, and
// the last chunk's work lies bare between its load and its store: element-wise units, which compute little, stand at
// both ends (half of their bytes each), matrices between them. Each part keeps the order of the model.
#include "plan/plan_int.h"

#include <stdlib.h>

enum part { PART_RESIDENT, PART_FRONT, PART_MIDDLE, PART_BACK };
struct ranked {
  uint32_t part, unit;
};

static int compare(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->part != y->part) {
    return x->part < y->part ? -1 : 1;
  }
  return (x->unit > y->unit) - (x->unit < y->unit);
}

static uint64_t light_bytes(const struct plan_builder *b) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    const struct unit *u = &b->unit.v[i];
    n += !u->resident && !u->is_matrix ? u->bytes : 0;
  }
  return n;
}

static enum part part_of(const struct plan_builder *b, const struct unit *u,
                         uint64_t *before, uint64_t light) {
  if (u->resident) {
    return PART_RESIDENT;
  }
  if (b->o.overlap || u->is_matrix) {
    return PART_MIDDLE;
  }
  *before += u->bytes;
  return *before <= light / 2 ? PART_FRONT : PART_BACK;
}

void plan_order(struct plan_builder *b) {
  struct ranked *r = ARENA_ARRAY(b->arena, struct ranked, b->unit.n);
  uint64_t light = light_bytes(b), before = 0;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    r[i] = (struct ranked){part_of(b, &b->unit.v[i], &before, light), i};
  }
  qsort(r, b->unit.n, sizeof *r, compare);
  b->ordered.n = 0;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    VEC_PUSH(b->arena, b->ordered, b->unit.v[r[i].unit]);
  }
}
