// What lies between ranks: exchanges are the same ones in the same order with the same sizes, they cannot wait for each
// other in a circle, and the ranks agree on what they must.
//
// Within a rank nothing waits in a circle: every edge of happens-before leads forward in issue order (theorem, 1). An
// exchange ends on all ranks at once, the k-th of a lane on one rank with the k-th of that lane on the others; so what an
// exchange must wait for on any rank it waits for on all. With exchanges on one lane that makes no circle either; with
// several lanes it does where two ranks issue them the other way round. Two steps are looked at: what a step can wait for lies in
// itself and in the one before.
#include "plan/prove_int.h"

#include "plan/names.h" // runtime/

#include <string.h>

// How many exchanges of each lane are done.
struct progress {
  uint32_t n[RT_N_LANES];
};
struct exchange {
  uint32_t op, lane, place; // place: exchanges of its lane before it
  uint64_t bytes[2];        // that it reads, writes
  struct progress needs;    // before it starts
};
struct exchanges { // of two steps, lane by lane
  const struct rt_plan *plan;
  struct exchange *v;
  uint32_t n;
};

// ---- exchanges of a rank

static bool add_bytes(void *ctx, struct rt_at at, uint64_t bytes, bool is_write) {
  (void)at;
  ((struct exchange *)ctx)->bytes[is_write] += bytes;
  return true;
}

static void need(struct progress *into, const struct progress *from) {
  for (int i = 0; i < RT_N_LANES; i++) {
    into->n[i] = into->n[i] < from->n[i] ? from->n[i] : into->n[i];
  }
}

static uint32_t count_exchanges(const struct rt_plan *plan) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < plan->n_ops; i++) {
    n += plan->op[i].kind == RT_OP_EXCHANGE ? 1 : 0;
  }
  return n;
}

// Issues one step: clocks as in prove_clocks.c, but they count exchanges.
static void issue_step(struct exchanges *e, struct progress lane[RT_N_LANES],
                       struct progress *signalled) {
  const struct rt_plan *plan = e->plan;
  for (uint32_t i = 0; i < plan->n_ops; i++) {
    const struct rt_op *o = &plan->op[i];
    struct progress *now = &lane[o->lane];
    for (uint32_t k = 0; k < o->n_waits; k++) { // zero where nothing was signalled
      need(now, &signalled[plan->wait[o->first_wait + k]]);
    }
    if (o->kind == RT_OP_EXCHANGE) {
      struct exchange *x = &e->v[e->n++];
      *x = (struct exchange){.op = i, .lane = o->lane, .place = now->n[o->lane]++};
      x->needs = *now;
      x->needs.n[o->lane] = x->place;
      rt_op_ranges(plan, o, add_bytes, x);
    }
    if (o->signal != RT_NO_ID) {
      signalled[o->signal] = *now;
    }
  }
}

static struct exchanges list_exchanges(struct arena *a, const struct rt_plan *plan) {
  struct exchanges issued = {.plan = plan}, out = {.plan = plan};
  uint32_t n = 2 * count_exchanges(plan);
  struct progress lane[RT_N_LANES] = {0};
  struct progress *signalled = ARENA_ARRAY(a, struct progress, plan->n_events);
  issued.v = ARENA_ARRAY(a, struct exchange, n);
  out.v = ARENA_ARRAY(a, struct exchange, n);
  for (int step = 0; step < 2 && n != 0; step++) {
    issue_step(&issued, lane, signalled);
  }
  for (uint32_t l = 0; l < RT_N_LANES; l++) {
    for (uint32_t i = 0; i < issued.n; i++) {
      if (issued.v[i].lane == l) {
        out.v[out.n++] = issued.v[i];
      }
    }
  }
  return out;
}

// ---- between ranks

static bool is_alike(const struct exchanges *e, const struct exchange *x,
                     const struct exchanges *first, const struct exchange *y) {
  return x->lane == y->lane && x->bytes[0] == y->bytes[0] && x->bytes[1] == y->bytes[1] &&
         e->plan->op[x->op].chunk == first->plan->op[y->op].chunk;
}

static const char *exchange_text(struct arena *a, const struct exchanges *e,
                                 const struct exchange *x) {
  uint32_t chunk = e->plan->op[x->op].chunk;
  struct buf b = buf_new(a);
  buf_printf(&b, "lane %s, ", rt_lane_names[x->lane]);
  if (chunk != RT_NO_ID) {
    buf_printf(&b, "chunk %u, ", chunk);
  }
  buf_printf(&b, "%llu bytes out, %llu in", (unsigned long long)x->bytes[0],
             (unsigned long long)x->bytes[1]);
  return buf_done(&b).p;
}

static bool test_alike(struct arena *a, const struct exchanges *e,
                       const struct exchanges *first, uint32_t rank,
                       struct proof *proof) {
  if (e->n != first->n) {
    (void)prove_fault(proof, PROOF_EXCHANGE, rank, RT_NO_ID, RT_NO_ID,
                      "rank %u has %u exchanges in a step, rank 0 has %u", rank, e->n / 2,
                      first->n / 2);
    return false;
  }
  for (uint32_t i = 0; i < e->n; i++) {
    const struct exchange *x = &e->v[i], *y = &first->v[i];
    if (!is_alike(e, x, first, y)) {
      (void)prove_fault(proof, PROOF_EXCHANGE, rank, x->op, y->op,
                        "exchange %u differs: rank %u has %s; rank 0 has %s", x->place,
                        rank, exchange_text(a, e, x), exchange_text(a, first, y));
      return false;
    }
  }
  return true;
}

static bool is_ready(const struct exchange *x, const struct progress *done) {
  for (int i = 0; i < RT_N_LANES; i++) {
    if (x->needs.n[i] > done->n[i]) {
      return false;
    }
  }
  return true;
}

// All lists are alike. `all` needs what any rank needs; done in any order that is possible, each of them must come.
static void test_deadlock(const struct exchanges *all, struct proof *proof) {
  struct progress done = {0};
  uint32_t left = all->n, before = all->n + 1;
  while (left != 0 && left != before) {
    before = left;
    for (uint32_t i = 0; i < all->n; i++) {
      const struct exchange *x = &all->v[i];
      if (x->place == done.n[x->lane] && is_ready(x, &done)) {
        done.n[x->lane]++;
        left--;
      }
    }
  }
  for (uint32_t i = 0; i < all->n; i++) {
    const struct exchange *x = &all->v[i];
    if (x->place >= done.n[x->lane]) {
      (void)prove_fault(proof, PROOF_DEADLOCK, 0, x->op, RT_NO_ID,
                        "exchange %u of lane %s waits for one that waits for it on "
                        "another rank",
                        x->place, rt_lane_names[x->lane]);
    }
  }
}

static void test_exchanges(struct arena *a, const struct rt_plan *const *plan, uint32_t n,
                           struct proof *proof) {
  struct exchanges first = list_exchanges(a, plan[0]);
  bool alike = true;
  for (uint32_t i = 1; i < n && !prove_full(proof); i++) {
    struct arena_mark mark = arena_mark(a);
    struct exchanges e = list_exchanges(a, plan[i]);
    alike = test_alike(a, &e, &first, i, proof) && alike;
    for (uint32_t k = 0; alike && k < e.n; k++) {
      need(&first.v[k].needs, &e.v[k].needs);
    }
    arena_rewind(a, mark);
  }
  if (alike) {
    test_deadlock(&first, proof);
  }
}

// ---- agreement

static const char *difference(struct arena *a, const struct rt_plan *x,
                              const struct rt_plan *y) {
  if (x->n_units != y->n_units) {
    return str_fmt(a, "%u units and %u", x->n_units, y->n_units).p;
  }
  if (x->n_chunks != y->n_chunks) {
    return str_fmt(a, "%u chunks and %u", x->n_chunks, y->n_chunks).p;
  }
  for (uint32_t i = 0; i < x->n_units; i++) {
    const struct rt_unit *u = &x->unit[i], *v = &y->unit[i];
    if (u->n != v->n || u->bytes != v->bytes || u->first_chunk != v->first_chunk ||
        u->n_chunks != v->n_chunks) {
      return str_fmt(a, "unit %u is the first that differs", i).p;
    }
  }
  return strcmp(x->program_digest, y->program_digest) != 0
             ? "the programs differ"
             : "the configurations or exchanges differ";
}

void prove_ranks(struct arena *a, const struct rt_plan *const *plan, uint32_t n,
                 struct proof *proof) {
  for (uint32_t i = 0; i < n && !prove_full(proof); i++) {
    const struct rt_configuration *c = &plan[i]->configuration;
    if (c->rank != i || c->world != n) {
      (void)prove_fault(proof, PROOF_DISAGREED, i, RT_NO_ID, RT_NO_ID,
                        "plan %u of %u is of rank %u of %u", i, n, c->rank, c->world);
    } else if (strcmp(plan[i]->agreed, plan[0]->agreed) != 0) {
      (void)prove_fault(proof, PROOF_DISAGREED, i, RT_NO_ID, RT_NO_ID,
                        "ranks 0 and %u do not agree: %s", i,
                        difference(a, plan[0], plan[i]));
    }
  }
  test_exchanges(a, plan, n, proof);
}
