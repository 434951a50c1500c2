// What the proof rests on: two blocks one after the other decide the order in every history. Random plans, held against
// the definition of happens-before.
#include "plan/prove.h"
#include "random.h"

#include <criterion/criterion.h>

// A plan of copies whose lanes, events and bytes are random: the order of its accesses is what is asked.
enum { R_CHUNKS = 4, R_OPS = 3, R_EVENTS = 6, R_WAITS = 2 };
struct random_plan {
  struct rt_plan plan;
  struct rt_op op[R_CHUNKS * R_OPS];
  struct rt_chunk chunk[R_CHUNKS];
  struct rt_copy copy[R_CHUNKS * R_OPS];
  struct rt_event event[R_EVENTS];
  uint32_t wait[R_CHUNKS * R_OPS * R_WAITS];
  struct rt_unit unit;
};

// Mostly `usual`, else anything below n.
static uint32_t mostly(uint64_t *r, uint32_t usual, uint32_t n) {
  return random_below(r, 16) != 0 ? usual : (uint32_t)random_below(r, n);
}

// Load, change, store of two slots in turn, as a planner would, with some things otherwise. Event 3 s + k is signalled
// on lane k.
static void random_plan_fill(struct random_plan *x, uint64_t *r) {
  for (uint32_t i = 0; i < R_CHUNKS * R_OPS; i++) {
    uint32_t chunk = i / R_OPS, k = i % R_OPS, slot = mostly(r, chunk % 2, 2);
    struct rt_op *o = &x->op[i];
    *o = (struct rt_op){.kind = k == 2 ? RT_OP_STORE : RT_OP_LOAD,
                        .lane = mostly(r, k, 3),
                        .chunk = chunk,
                        .first = i,
                        .n = 1,
                        .first_wait = i * R_WAITS,
                        .n_waits = mostly(r, 1, R_WAITS + 1),
                        .signal = mostly(r, 3 * slot + k, R_EVENTS)};
    o->signal = o->signal % 3 == o->lane ? o->signal : RT_NO_ID;
    x->wait[i * R_WAITS] = mostly(r, 3 * slot + (k + 2) % 3, R_EVENTS);
    x->wait[i * R_WAITS + 1] = (uint32_t)random_below(r, R_EVENTS);
    x->copy[i] = (struct rt_copy){.host = 128 * (uint64_t)mostly(r, 2 * chunk + k % 2, 8),
                                  .arena = 128 * (uint64_t)mostly(r, slot, 4),
                                  .bytes = 128};
    x->chunk[chunk] =
        (struct rt_chunk){.first_op = chunk * R_OPS, .n_ops = R_OPS, .n_units = 1};
  }
}

static struct random_plan *random_plan_new(struct arena *a, uint64_t *r) {
  struct random_plan *x = ARENA_NEW(a, struct random_plan);
  random_plan_fill(x, r);
  x->unit.n_chunks = R_CHUNKS;
  x->plan = (struct rt_plan){.configuration.world = 1,
                             .op = x->op,
                             .n_ops = R_CHUNKS * R_OPS,
                             .chunk = x->chunk,
                             .n_chunks = R_CHUNKS,
                             .copy = x->copy,
                             .n_copies = R_CHUNKS * R_OPS,
                             .event = x->event,
                             .n_events = R_EVENTS,
                             .wait = x->wait,
                             .n_waits = R_CHUNKS * R_OPS * R_WAITS,
                             .unit = &x->unit,
                             .n_units = 1,
                             .n_slots = 3,
                             .slot_bytes = 128,
                             .arena_bytes = 512};
  return x;
}

// Operations issued, each with what it knows: a set of the ones before it, from the definition.
enum { MAX_ISSUED = 60 };
struct issued {
  uint32_t op[MAX_ISSUED];
  uint64_t before[MAX_ISSUED];
  uint32_t n;
};

static void issue_chunk(struct issued *h, const struct rt_plan *p, uint32_t chunk) {
  for (uint32_t i = p->chunk[chunk].first_op;
       i < p->chunk[chunk].first_op + p->chunk[chunk].n_ops; i++) {
    const struct rt_op *o = &p->op[i];
    uint64_t before = 0;
    for (uint32_t k = 0; k < h->n; k++) {
      bool is_after = p->op[h->op[k]].lane == o->lane;
      for (uint32_t w = 0; w < o->n_waits; w++) { // the latest that signals it
        uint32_t event = p->wait[o->first_wait + w], latest = RT_NO_ID;
        for (uint32_t s = 0; s < h->n; s++) {
          latest = p->op[h->op[s]].signal == event ? s : latest;
        }
        is_after = is_after || latest == k;
      }
      before |= is_after ? h->before[k] | (uint64_t)1 << k : 0;
    }
    h->op[h->n] = i;
    h->before[h->n++] = before;
  }
}

static bool overlap(uint64_t a, uint64_t n, uint64_t b, uint64_t m) {
  return a < b + m && b < a + n;
}

static bool conflict(const struct rt_plan *p, uint32_t i, uint32_t k) {
  const struct rt_copy *a = &p->copy[p->op[i].first], *b = &p->copy[p->op[k].first];
  bool a_loads = p->op[i].kind == RT_OP_LOAD, b_loads = p->op[k].kind == RT_OP_LOAD;
  return ((a_loads || b_loads) && overlap(a->arena, a->bytes, b->arena, b->bytes)) ||
         ((!a_loads || !b_loads) && overlap(a->host, a->bytes, b->host, b->bytes));
}

static bool is_ordered(const struct issued *h, const struct rt_plan *p) {
  for (uint32_t k = 0; k < h->n; k++) {
    for (uint32_t i = 0; i < k; i++) {
      if ((h->before[k] >> i & 1) == 0 && conflict(p, h->op[i], h->op[k])) {
        return false;
      }
    }
  }
  return true;
}

static bool all_pairs_ordered(const struct rt_plan *p) {
  bool ok = true;
  for (uint32_t x = 0; x < R_CHUNKS; x++) {
    for (uint32_t y = 0; y < R_CHUNKS; y++) {
      struct issued h = {.n = 0};
      issue_chunk(&h, p, x);
      issue_chunk(&h, p, y);
      ok = ok && is_ordered(&h, p);
    }
  }
  return ok;
}

static bool some_history_ordered(const struct rt_plan *p, uint64_t *r) {
  struct issued h = {.n = 0};
  while (h.n + R_OPS <= MAX_ISSUED) {
    issue_chunk(&h, p, (uint32_t)random_below(r, R_CHUNKS));
  }
  return is_ordered(&h, p);
}

// The proof says what the definition says of pairs, and then every long history is in order too.
enum { N_PLANS = 4000 };

Test(prove_histories, pairs_decide_every_history) {
  struct arena *a = arena_new(0);
  uint64_t r = 1;
  uint32_t n_ordered = 0;
  for (uint32_t i = 0; i < N_PLANS; i++) {
    struct arena_mark mark = arena_mark(a);
    const struct rt_plan *p = &random_plan_new(a, &r)->plan;
    struct proof *proof = plan_prove(a, &p, 1);
    bool ordered = proof->n_faults == 0 || proof->fault[0].kind != PROOF_UNORDERED;
    cr_assert_eq(ordered, all_pairs_ordered(p), "plan %u", i);
    for (uint32_t k = 0; k < 20 && ordered; k++) {
      cr_assert(some_history_ordered(p, &r), "plan %u", i);
    }
    n_ordered += ordered ? 1 : 0;
    arena_rewind(a, mark);
  }
  cr_expect(n_ordered > N_PLANS / 20 && n_ordered < N_PLANS - N_PLANS / 20,
            "%u of the plans were in order", n_ordered);
  arena_free(a);
}
