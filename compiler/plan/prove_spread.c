// Order of accesses outside the arena: parameters, gradients, resident states and the host slab. There chunks share
// next to nothing, so all accesses are sorted by address and only those that overlap are compared.
#include "plan/prove_int.h"

#include "plan/names.h" // runtime/

#include <stdlib.h>

static int by_address(const void *a, const void *b) {
  const struct access *x = *(const struct access *const *)a,
                      *y = *(const struct access *const *)b;
  if (x->space != y->space) {
    return x->space < y->space ? -1 : 1;
  }
  if (x->index != y->index) {
    return x->index < y->index ? -1 : 1;
  }
  return (x->lo > y->lo) - (x->lo < y->lo);
}

// Two copies of one operation, or two rows of one launch: they run side by side.
static void test_launch(struct prover *p, const struct access *a,
                        const struct access *b) {
  if (a->item != b->item) {
    (void)PROVE_FAULT(
        p, PROOF_UNORDERED, a->op, a->op,
        "%s %s %s [%llu, %llu) for two of its %s at once", prove_op_text(p, a->op),
        a->write && b->write ? "writes" : "reads and writes", rt_space_names[a->space],
        (unsigned long long)b->lo, (unsigned long long)(a->hi < b->hi ? a->hi : b->hi),
        p->op[a->op].kind == RT_OP_MAP || p->op[a->op].kind == RT_OP_ORTHO ? "rows"
                                                                           : "copies");
  }
}

// Issued in this order. `alone`: both in one issue of their block.
static void test_order(struct prover *p, const struct access *a, const struct access *b,
                       bool alone) {
  uint32_t x = p->block_of[a->op], y = p->block_of[b->op];
  const struct clock *before = prove_clocks(p, alone ? RT_NO_ID : x, y);
  uint32_t k = p->segment_of[b->op] - p->block.v[y].first_segment;
  if (!prove_is_before(&p->segment.v[p->segment_of[a->op]], &before[k])) {
    prove_unordered(p, a, b);
  }
}

static void test_pair(struct prover *p, const struct access *a, const struct access *b) {
  if (!a->write && !b->write) {
    return;
  }
  if (a->op == b->op) {
    test_launch(p, a, b);
    return;
  }
  if (p->op[a->op].lane == p->op[b->op].lane) {
    return;
  }
  bool one_block = p->block_of[a->op] == p->block_of[b->op];
  if (one_block || p->is_init) {
    bool in_order = a->op < b->op;
    test_order(p, in_order ? a : b, in_order ? b : a, one_block);
  }
  if (p->is_init) { // issued once
    return;
  }
  test_order(p, a, b, false);
  test_order(p, b, a, false);
}

void prove_spread(struct prover *p) {
  const struct access **sorted =
      ARENA_ARRAY(p->arena, const struct access *, p->access.n);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->access.n; i++) {
    const struct access *a = &p->access.v[i];
    if (a->space != RT_AT_ARENA && a->space != RT_AT_STEP) {
      sorted[n++] = a;
    }
  }
  qsort(sorted, n, sizeof(const struct access *), by_address);
  for (uint32_t i = 0; i < n; i++) {
    const struct access *a = sorted[i];
    for (uint32_t k = i + 1; k < n && !prove_full(p->proof); k++) {
      const struct access *b = sorted[k];
      if (a->space != b->space || a->index != b->index || b->lo >= a->hi) {
        break;
      }
      test_pair(p, a, b);
    }
  }
}
