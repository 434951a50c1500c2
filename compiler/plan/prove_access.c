// The bytes that operations touch, row by row and copy by copy: rt_op_ranges of an operation cut down to one of them.
#include "plan/prove_int.h"

enum {
  MAX_OWN = 8
}; // ranges that an operation touches for itself: scalars, verdict, workspace

struct collector {
  struct prover *p;
  uint32_t op, item;
  struct access own[MAX_OWN];
  uint32_t n_own;
  bool seen[MAX_OWN]; // of `own`, by the current item
};

static bool same(const struct access *a, const struct access *b) {
  return a->lo == b->lo && a->hi == b->hi && a->space == b->space &&
         a->index == b->index && a->write == b->write;
}

// Whether this is one of the operation's own ranges, which come with every item again.
static bool is_own(struct collector *c, const struct access *x) {
  for (uint32_t i = 0; i < c->n_own; i++) {
    if (!c->seen[i] && same(&c->own[i], x)) {
      return c->seen[i] = true;
    }
  }
  return false;
}

static bool collect(void *ctx, struct rt_at at, uint64_t bytes, bool is_write) {
  struct collector *c = ctx;
  struct access x = {.lo = at.offset,
                     .hi = at.offset + bytes,
                     .space = at.space,
                     .index = at.index,
                     .op = c->op,
                     .item = c->item,
                     .write = is_write};
  if (c->p->is_init && at.space == RT_AT_STEP) {
    return true; // a copy of the operation stands in no list: ranges are those of a step
  }
  if (c->item == RT_NO_ID) {
    if (c->n_own < MAX_OWN) {
      c->own[c->n_own++] = x;
    }
  } else if (is_own(c, &x)) {
    return true;
  }
  VEC_PUSH(c->p->arena, c->p->access, x);
  return true;
}

static void collect_op(struct prover *p, uint32_t i) {
  struct rt_op one = p->op[i];
  struct rt_plan plan =
      *p->plan; // which list an operation is of, it tells from where it stands
  plan.init = &one;
  plan.n_init = p->is_init ? 1 : 0;
  struct collector c = {.p = p, .op = i, .item = RT_NO_ID};
  one.n = 0;
  rt_op_ranges(&plan, &one, collect, &c);
  one.n = 1;
  for (uint32_t k = 0; k < p->op[i].n; k++) {
    one.first = c.item = p->op[i].first + k;
    for (uint32_t s = 0; s < c.n_own; s++) {
      c.seen[s] = false;
    }
    rt_op_ranges(&plan, &one, collect, &c);
  }
}

void prove_accesses(struct prover *p) {
  p->access_of = ARENA_ARRAY(p->arena, uint32_t, (size_t)p->n_ops + 1);
  for (uint32_t i = 0; i < p->n_ops; i++) {
    p->access_of[i] = p->access.n;
    collect_op(p, i);
  }
  p->access_of[p->n_ops] = p->access.n;
}
