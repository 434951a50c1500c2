// Views of a parameter: `split`, `flatten`, `transposed`, applied from left to right to its global shape.
#include "front/sema_rule.h"

static bool splits(const struct view *v) {
  return v->kind == VIEW_SPLIT_ROWS || v->kind == VIEW_SPLIT_COLS;
}

bool use_splits(const struct use *u) {
  for (uint32_t i = 0; u != NULL && i < u->n_views; i++) {
    if (splits(&u->view[i])) {
      return true;
    }
  }
  return false;
}

struct cutter {
  struct arena *arena;
  struct view_parts *out;
  const struct view *view;
};

static bool fail(struct cutter *c, struct str why) {
  c->out->why = why;
  c->out->bad = c->view;
  return false;
}

static unsigned long long ull(uint64_t x) {
  return (unsigned long long)x;
}

static struct shape with_dim(struct shape s, uint32_t at, uint64_t n) {
  s.dim[at] = n;
  return s;
}

// The sum of the sizes of a cut; saturates far above every dimension.
static uint64_t total_of(const struct view *v) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < v->n_sizes; i++) {
    sum = v->size[i] < UINT64_MAX - sum ? sum + v->size[i] : UINT64_MAX;
  }
  return sum;
}

static bool wrong_total(struct cutter *c, uint64_t have, uint64_t want) {
  const char *what = c->view->kind == VIEW_SPLIT_ROWS ? "rows" : "cols";
  return fail(c,
              str_fmt(c->arena, "it covers %llu of %llu %s", ull(have), ull(want), what));
}

// A list cuts contiguous blocks; groups gather the k-th piece of every group into part k.
static bool split_sizes(struct cutter *c, const struct shape *s, uint32_t at) {
  const struct view *v = c->view;
  uint64_t groups = v->cut == CUT_GROUPS ? v->n : 1, total = total_of(v);
  if (groups != 0 && total > UINT64_MAX / groups) {
    total = UINT64_MAX / groups;
  }
  if (total * groups != s->dim[at]) {
    return wrong_total(c, total * groups, s->dim[at]);
  }
  for (uint32_t i = 0; i < v->n_sizes; i++) {
    VEC_PUSH(c->arena, c->out->part, with_dim(*s, at, groups * v->size[i]));
  }
  return true;
}

enum { MAX_PARTS = 1 << 20 };

static bool split_each(struct cutter *c, const struct shape *s, uint32_t at) {
  uint64_t n = c->view->n, parts = n == 0 ? 0 : s->dim[at] / n;
  if (n == 0 || parts * n != s->dim[at]) {
    return wrong_total(c, parts * n, s->dim[at]);
  }
  if (parts > MAX_PARTS - c->out->part.n) {
    return fail(c, str_fmt(c->arena, "more than %d parts", MAX_PARTS));
  }
  if (parts == 0) { // of no element
    VEC_PUSH(c->arena, c->out->part, *s);
  }
  for (uint64_t i = 0; i < parts; i++) {
    VEC_PUSH(c->arena, c->out->part, with_dim(*s, at, n));
  }
  return true;
}

static bool split(struct cutter *c, const struct shape *s) {
  if (s->rank < 2) {
    return fail(c, str_fmt(c->arena, "rank %u has no rows and cols", s->rank));
  }
  uint32_t at = c->view->kind == VIEW_SPLIT_ROWS ? s->rank - 2 : s->rank - 1;
  return c->view->cut == CUT_EACH ? split_each(c, s, at) : split_sizes(c, s, at);
}

// flatten n: the first n dimensions are the rows, the rest the columns.
static bool flatten(struct cutter *c, const struct shape *s) {
  uint64_t n = c->view->n;
  if (n == 0 || n >= s->rank) {
    return fail(c, str_fmt(c->arena, "rank %u has no %llu leading dimensions to keep",
                           s->rank, ull(n)));
  }
  struct shape flat = {.rank = 2, .dim = {1, 1}};
  for (uint32_t i = 0; i < s->rank; i++) {
    flat.dim[i < n ? 0 : 1] *= s->dim[i];
  }
  VEC_PUSH(c->arena, c->out->part, flat);
  return true;
}

static bool transpose(struct cutter *c, const struct shape *s) {
  if (s->rank < 2) {
    return fail(c, str_fmt(c->arena, "rank %u has no rows and cols", s->rank));
  }
  struct shape t = *s;
  t.dim[s->rank - 2] = s->dim[s->rank - 1];
  t.dim[s->rank - 1] = s->dim[s->rank - 2];
  VEC_PUSH(c->arena, c->out->part, t);
  return true;
}

static bool apply(struct cutter *c, const struct shape *s) {
  switch (c->view->kind) {
  case VIEW_SPLIT_ROWS:
  case VIEW_SPLIT_COLS: return split(c, s);
  case VIEW_FLATTEN: return flatten(c, s);
  case VIEW_TRANSPOSED: return transpose(c, s);
  case VIEW_BLOCKWISE: // the rule is judged on the whole matrix; shards are the plan's
    VEC_PUSH(c->arena, c->out->part, *s);
    return true;
  }
  return false;
}

struct view_parts views_apply(struct arena *a, const struct use *u,
                              const struct shape *shape) {
  struct view_parts now = {0};
  VEC_PUSH(a, now.part, *shape);
  for (uint32_t k = 0; u != NULL && k < u->n_views; k++) {
    struct view_parts next = {0};
    struct cutter c = {a, &next, &u->view[k]};
    for (uint32_t i = 0; i < now.part.n; i++) {
      if (!apply(&c, &now.part.v[i])) {
        next.part.n = 0;
        return next;
      }
    }
    now = next;
  }
  return now;
}
