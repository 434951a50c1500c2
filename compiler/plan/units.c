// Units: the smallest sets that update together (DESIGN section 6). Everything here is the same on all ranks.
//
// An element-wise rule makes each parameter a unit of its own. Matrix rules: consecutive parameters of one form, also
// of different layers, batch until the next one would pass 64 MiB of states or 264 matrices; one parameter at least.
// Parameters that rest on some ranks only batch with those that rest on the same.
#include "plan/plan_int.h"

#include <stdlib.h>

enum { UNIT_MATRICES = 264 };
#define UNIT_BYTES (UINT64_C(64) << 20)

// ---- one parameter

static struct unit unit_of(const struct plan_builder *b, uint32_t param) {
  const struct model_param *m = &b->model->param[param];
  struct unit u = {.n = 1, .form = b->form_of[b->program->param[param].rule]};
  const struct form *f = &b->form.v[u.form];
  struct shard full = shard_full(b->model, m);
  u.bytes = ceil_div(shape_numel(&m->shape) * f->state_bytes, shard_count(b->model, m));
  u.room = states_room(f->rule, f->rule->n_states, full.numel);
  u.share = ceil_div(u.bytes, shard_presence(b->model, m));
  u.order = b->param[param].order;
  u.is_matrix = f->is_matrix && full.numel != 0;
  u.matrices = u.is_matrix ? full.numel / (f->rule->rows * f->rule->cols) : 0;
  u.grains = u.is_matrix ? 1 : shard_grains(&full);
  uint64_t cols = full.rank == 0 ? 1 : full.dim[full.rank - 1];
  u.grain_bytes = (cols < PLAN_GRAIN ? cols : PLAN_GRAIN) * f->state_bytes;
  return u;
}

// ---- the walk

static int by_order(const void *x, const void *y, void *params) {
  const uint32_t *a = x, *b = y;
  const struct rt_plan_param *p = params;
  if (p[*a].order != p[*b].order) {
    return p[*a].order < p[*b].order ? -1 : 1;
  }
  return (*a > *b) - (*a < *b);
}

// Parameters that have a rule: in the order of the model, or of the forward pass.
static uint32_t *walk(struct plan_builder *b, uint32_t *n) {
  uint32_t *param = ARENA_ARRAY(b->arena, uint32_t, b->program->n_params);
  *n = 0;
  for (uint32_t i = 0; i < b->program->n_params; i++) {
    if (b->program->param[i].active) {
      param[(*n)++] = i;
    }
  }
  if (b->o.overlap) {
    qsort_r(param, *n, sizeof *param, by_order, b->param);
  }
  return param;
}

// ---- batches

// Units under construction: parameters in a chain, and the open batches of a form in another.
struct draft {
  uint32_t last;       // parameter
  uint32_t next_batch; // of the same form that rests elsewhere; RT_NO_ID: none
};
struct walker {
  struct plan_builder *b;
  struct draft *draft;   // by unit
  uint32_t *next, *head; // by parameter: the next of its unit; by unit: its first
  uint32_t *open;        // by form: an open batch
};

static bool fits(const struct unit *u, const struct unit *more) {
  return u->bytes + more->bytes <= UNIT_BYTES &&
         u->matrices + more->matrices <= UNIT_MATRICES;
}

static void join(struct unit *u, const struct unit *more) {
  u->n++;
  u->bytes += more->bytes;
  u->room += more->room;
  u->share += more->share;
  u->matrices += more->matrices;
  u->order = more->order < u->order ? more->order : u->order;
}

static bool rest_alike(const struct model_param *p, const struct model_param *q) {
  return str_eq(p->on_axis, q->on_axis) &&
         (p->on_axis.n == 0 || p->on_coord == q->on_coord);
}

// The open batch that a parameter would join, full or not.
static uint32_t find_batch(const struct walker *w, uint32_t form, uint32_t param) {
  const struct model_param *p = w->b->model->param;
  uint32_t u = w->open[form];
  while (u != RT_NO_ID && !rest_alike(&p[w->draft[u].last], &p[param])) {
    u = w->draft[u].next_batch;
  }
  return u;
}

static void add_unit(struct walker *w, struct unit u, uint32_t param) {
  struct draft d = {.last = param, .next_batch = RT_NO_ID};
  w->head[w->b->unit.n] = param;
  w->draft[w->b->unit.n] = d;
  VEC_PUSH(w->b->arena, w->b->unit, u);
}

// Puts a new batch in the place of the full one, or in front of the form's chain.
static void open_batch(struct walker *w, uint32_t form, uint32_t full) {
  uint32_t u = w->b->unit.n - 1, *at = &w->open[form];
  while (full != RT_NO_ID && *at != full) {
    at = &w->draft[*at].next_batch;
  }
  w->draft[u].next_batch = full == RT_NO_ID ? *at : w->draft[full].next_batch;
  *at = u;
}

static void add_param(struct walker *w, uint32_t param) {
  struct unit u = unit_of(w->b, param);
  if (!u.is_matrix) {
    add_unit(w, u, param);
    return;
  }
  uint32_t batch = find_batch(w, u.form, param);
  if (batch != RT_NO_ID && fits(&w->b->unit.v[batch], &u)) {
    join(&w->b->unit.v[batch], &u);
    w->next[w->draft[batch].last] = param;
    w->draft[batch].last = param;
    return;
  }
  add_unit(w, u, param);
  open_batch(w, u.form, batch);
}

// Sub-batches follow from matrices; there may be many more of these than parameters.
static bool are_too_many(struct plan_builder *b) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    const struct unit *u = &b->unit.v[i];
    n += u->is_matrix ? ceil_div(u->matrices, b->form.v[u->form].batch) : 0;
  }
  return plan_too_large(b, PLAN_MAX_BATCHES, "sub-batches of matrices", n);
}

bool plan_units(struct plan_builder *b) {
  uint32_t n, *param = walk(b, &n);
  struct walker w = {.b = b,
                     .next = ARENA_ARRAY(b->arena, uint32_t, b->program->n_params),
                     .head = ARENA_ARRAY(b->arena, uint32_t, n),
                     .draft = ARENA_ARRAY(b->arena, struct draft, n),
                     .open = ARENA_ARRAY(b->arena, uint32_t, b->form.n)};
  for (uint32_t i = 0; i < b->form.n; i++) {
    w.open[i] = RT_NO_ID;
  }
  for (uint32_t i = 0; i < n; i++) {
    add_param(&w, param[i]);
  }
  b->unit_param = ARENA_ARRAY(b->arena, uint32_t, n);
  b->n_unit_params = 0;
  for (uint32_t u = 0; u < b->unit.n; u++) {
    b->unit.v[u].first = b->n_unit_params;
    uint32_t p = w.head[u];
    for (uint32_t i = 0; i < b->unit.v[u].n; i++, p = w.next[p]) {
      b->unit_param[b->n_unit_params++] = p;
    }
  }
  return !are_too_many(b);
}
