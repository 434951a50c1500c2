// Happens-before in the history of two blocks: a vector clock per lane and per event.
#include "plan/prove_int.h"

struct history {
  struct clock
      lane[RT_N_LANES];       // what the last segment issued on it knew, itself included
  uint32_t count[RT_N_LANES]; // of the block that is counted, issued so far
};

static void join(struct clock *into, const struct clock *from) {
  for (int i = 0; i < RT_N_LANES; i++) {
    into->n[i] = into->n[i] < from->n[i] ? from->n[i] : into->n[i];
  }
}

// Issues a block; `counted`: its segments are what clocks count. Where `before` is given it gets their clocks.
static void issue(struct prover *p, struct history *h, const struct block *b,
                  bool counted, struct clock *before) {
  for (uint32_t i = 0; i < b->n_segments; i++) {
    const struct segment *s = &p->segment.v[b->first_segment + i];
    struct clock now = h->lane[s->lane];
    for (uint32_t k = 0; k < s->n_waits; k++) {
      if (p->stamp[s->wait[k]] == p->now) { // else nothing was signalled: it passes
        join(&now, &p->signalled[s->wait[k]]);
      }
    }
    if (before != NULL) {
      before[i] = now;
    }
    if (counted) {
      now.n[s->lane] = ++h->count[s->lane];
    }
    h->lane[s->lane] = now;
    if (s->signal != RT_NO_ID) {
      p->signalled[s->signal] = now;
      p->stamp[s->signal] = p->now;
    }
  }
}

static void make_room(struct prover *p) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < p->block.n; i++) {
    most = most < p->block.v[i].n_segments ? p->block.v[i].n_segments : most;
  }
  p->before = ARENA_ARRAY(p->arena, struct clock, most);
  p->signalled = ARENA_ARRAY(p->arena, struct clock, p->plan->n_events);
  p->stamp = ARENA_ARRAY(p->arena, uint32_t, p->plan->n_events);
}

const struct clock *prove_clocks(struct prover *p, uint32_t x, uint32_t y) {
  struct history h = {0};
  if (p->before == NULL) {
    make_room(p);
  }
  p->now++;
  if (x != RT_NO_ID) {
    issue(p, &h, &p->block.v[x], true, NULL);
  }
  issue(p, &h, &p->block.v[y], x == RT_NO_ID, p->before);
  return p->before;
}
