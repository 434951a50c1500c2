// Cuts the bytes that a block touches in the arena and in STEP into cells.
#include "plan/prove_int.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// Where accesses begin and end, sorted, each once.
static uint64_t *find_cuts(struct prover *p, const struct block *b, uint32_t *n) {
  uint32_t from = p->access_of[b->first], to = p->access_of[b->first + b->n];
  uint64_t *cut = ARENA_ARRAY(p->arena, uint64_t, 2 * (size_t)(to - from)), last = 0;
  *n = 0;
  for (uint32_t i = from; i < to; i++) {
    const struct access *a = &p->access.v[i];
    uint64_t lo = prove_cell_at(a, a->lo);
    if (prove_in_cells(a) && (*n == 0 || lo != last)) { // reads and writes come in pairs
      cut[(*n)++] = last = lo;
      cut[(*n)++] = prove_cell_at(a, a->hi);
    } else if (prove_in_cells(a) && cut[*n - 1] != prove_cell_at(a, a->hi)) {
      cut[(*n)++] = prove_cell_at(a, a->hi);
    }
  }
  qsort(cut, *n, sizeof *cut, by_value);
  uint32_t out = 0;
  for (uint32_t i = 0; i < *n; i++) {
    if (out == 0 || cut[out - 1] != cut[i]) {
      cut[out++] = cut[i];
    }
  }
  *n = out;
  return cut;
}

struct cells prove_cells(struct prover *p, const struct block *b) {
  uint32_t n;
  const uint64_t *cut = find_cuts(p, b, &n);
  struct cells out = {.v = ARENA_ARRAY(p->arena, struct cell, n),
                      .n = n == 0 ? 0 : n - 1};
  for (uint32_t i = 0; i < n; i++) {
    out.v[i] = (struct cell){.at = cut[i], .op = RT_NO_ID, .read_op = RT_NO_ID};
  }
  return out;
}

struct cell *prove_cell(const struct cells *c, const struct access *a) {
  uint64_t at = prove_cell_at(a, a->lo);
  uint32_t lo = 0, hi = c->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (c->v[mid].at < at) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return &c->v[lo];
}
