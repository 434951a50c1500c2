// Every pair of conflicting accesses to the arena and to STEP has an order: within each block, and for each ordered
// pair of classes of blocks. First for whole slots; bytes are compared only where that is not enough.
#include "plan/prove_int.h"

#include "plan/names.h" // runtime/

static bool may_conflict(const struct segment *a, const struct segment *b) {
  return a->lane != b->lane &&
         ((a->writes & (b->reads | b->writes)) != 0 || (a->reads & b->writes) != 0);
}

static const char *when_text(const struct prover *p, const struct access *a,
                             const struct access *b) {
  uint32_t x = p->op[a->op].chunk, y = p->op[b->op].chunk;
  if (p->is_init) {
    return "";
  }
  if (p->block_of[a->op] == p->block_of[b->op]) {
    return a->op < b->op   ? ""
           : x == RT_NO_ID ? " of the next step"
                           : " of the next step, or of another subset of this one";
  }
  return x == RT_NO_ID   ? ""
         : y == RT_NO_ID ? " of the next step"
                         : " where that chunk comes next";
}

void prove_unordered(struct prover *p, const struct access *a, const struct access *b) {
  uint64_t lo = a->lo > b->lo ? a->lo : b->lo, hi = a->hi < b->hi ? a->hi : b->hi;
  (void)PROVE_FAULT(
      p, PROOF_UNORDERED, b->op, a->op,
      "nothing orders %s, which %s %s [%llu, %llu), before %s%s, which %s it",
      prove_op_text(p, a->op), a->write ? "writes" : "reads", rt_space_names[a->space],
      (unsigned long long)lo, (unsigned long long)hi, prove_op_text(p, b->op),
      when_text(p, a, b), b->write ? "writes" : "reads");
}

// Reports the first bytes that two segments really share, if any.
static void report_shared(struct prover *p, const struct segment *a,
                          const struct segment *b) {
  uint32_t a_end = p->access_of[a->first + a->n], b_end = p->access_of[b->first + b->n];
  for (uint32_t i = p->access_of[a->first]; i < a_end; i++) {
    const struct access *x = &p->access.v[i];
    if (x->space != RT_AT_ARENA && x->space != RT_AT_STEP) {
      continue;
    }
    for (uint32_t k = p->access_of[b->first]; k < b_end; k++) {
      if (prove_conflict(x, &p->access.v[k])) {
        prove_unordered(p, x, &p->access.v[k]);
        return;
      }
    }
  }
}

static void test_block(struct prover *p, uint32_t block) {
  const struct block *b = &p->block.v[block];
  const struct clock *before = prove_clocks(p, RT_NO_ID, block);
  for (uint32_t k = 1; k < b->n_segments; k++) {
    for (uint32_t i = 0; i < k; i++) {
      const struct segment *s = &p->segment.v[b->first_segment + i],
                           *t = &p->segment.v[b->first_segment + k];
      if (may_conflict(s, t) && !prove_is_before(s, &before[k])) {
        report_shared(p, s, t);
      }
    }
  }
}

// Segments i and k of the first blocks of two classes lack an order: so do those of all their blocks.
static void test_members(struct prover *p, const struct class *c, const struct class *d,
                         uint32_t i, uint32_t k) {
  for (uint32_t x = c->first; x != RT_NO_ID; x = p->block.v[x].next) {
    for (uint32_t y = d->first; y != RT_NO_ID; y = p->block.v[y].next) {
      if (prove_full(p->proof)) {
        return;
      }
      if (!p->is_init || x < y) { // `init` is issued once, in order
        report_shared(p, &p->segment.v[p->block.v[x].first_segment + i],
                      &p->segment.v[p->block.v[y].first_segment + k]);
      }
    }
  }
}

static void test_classes(struct prover *p, const struct class *c, const struct class *d) {
  const struct block *x = &p->block.v[c->first], *y = &p->block.v[d->first];
  const struct clock *before = prove_clocks(p, c->first, d->first);
  p->proof->pairs += (uint64_t)c->n * d->n;
  for (uint32_t k = 0; k < y->n_segments; k++) {
    for (uint32_t i = 0; i < x->n_segments; i++) {
      const struct segment *s = &p->segment.v[x->first_segment + i],
                           *t = &p->segment.v[y->first_segment + k];
      if (may_conflict(s, t) && !prove_is_before(s, &before[k])) {
        test_members(p, c, d, i, k);
      }
    }
  }
}

// An event that two lanes signal: waiting for the latest signal says nothing of the other lane's (theorem, 2).
static void test_events(struct prover *p) {
  uint32_t *by = ARENA_ARRAY(p->arena, uint32_t, p->plan->n_events); // 1 + operation
  for (uint32_t i = 0; i < p->n_ops; i++) {
    uint32_t e = p->op[i].signal;
    if (e == RT_NO_ID) {
      continue;
    }
    if (by[e] == 0) {
      by[e] = i + 1;
    } else if (p->op[by[e] - 1].lane != p->op[i].lane) {
      char text[RT_EVENT_TEXT];
      (void)PROVE_FAULT(p, PROOF_UNORDERED, i, by[e] - 1,
                        "%s and %s signal one event, %s, on two lanes",
                        prove_op_text(p, by[e] - 1), prove_op_text(p, i),
                        rt_event_text(&p->plan->event[e], text));
    }
  }
}

void prove_order(struct prover *p) {
  test_events(p);
  for (uint32_t i = 0; i < p->block.n && !prove_full(p->proof); i++) {
    test_block(p, i);
  }
  for (uint32_t i = 0; i < p->class.n; i++) {
    for (uint32_t k = 0; k < p->class.n && !prove_full(p->proof); k++) {
      test_classes(p, &p->class.v[i], &p->class.v[k]);
    }
  }
}
