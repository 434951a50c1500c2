// What operations are made of: waits, rows with their addresses, and the rows that a chunk wants, by kernel or form.
#include "plan/plan_int.h"

#include <stdlib.h>

// ---- parts of operations

struct rt_op op_new(enum rt_op_kind kind, enum rt_lane lane, uint32_t chunk) {
  return (struct rt_op){.kind = (uint32_t)kind,
                        .lane = (uint32_t)lane,
                        .chunk = chunk,
                        .kernel = RT_NO_ID,
                        .signal = RT_NO_ID};
}

void op_wait(struct plan_builder *b, struct rt_op *op, uint32_t event) {
  if (op->n_waits++ == 0) {
    op->first_wait = b->wait.n;
  }
  VEC_PUSH(b->arena, b->wait, event);
}

void put_op(struct plan_builder *b, bool is_init, struct rt_op op) {
  if (is_init) {
    VEC_PUSH(b->arena, b->init, op);
  } else {
    VEC_PUSH(b->arena, b->op, op);
  }
}

// Events by slot come first, then those of begin.
uint32_t event_of(enum rt_event_kind kind, uint32_t slot) {
  return slot * 3 + (uint32_t)kind;
}

// ---- rows

static struct rt_at address_of(const struct plan_builder *b, const struct rt_tensor *t,
                               const struct row_place *w) {
  uint64_t bytes = rt_storage_bytes(t->storage);
  switch ((enum rt_tensor_kind)t->kind) {
  case RT_TENSOR_PARAM: return at_space(RT_AT_PARAM, w->param, w->first * bytes);
  case RT_TENSOR_GRAD: return at_space(RT_AT_GRAD, w->param, w->first * bytes);
  case RT_TENSOR_STATE:
    return state_at(b, &b->piece.v[w->piece], w->slot, w->param, t->index, w->first);
  case RT_TENSOR_TEMP: break;
  }
  uint64_t base =
      temps_end(rule_of(b, w->param), t->index, plan_slots_bytes(b), w->temp_n);
  return at_space(RT_AT_ARENA, 0, base + w->temp_first * bytes);
}

void put_row(struct plan_builder *b, const struct rt_phase *phase,
             const struct row_place *w) {
  struct rt_row row = {.param = w->param,
                       .unit = b->piece.v[w->piece].unit,
                       .first = w->first,
                       .numel = w->numel,
                       .phase = w->phase,
                       .at = b->at.n};
  for (uint32_t i = 0; i < phase->n_tensors; i++) {
    struct rt_at at = address_of(b, &phase->tensor[i], w);
    VEC_PUSH(b->arena, b->at, at);
  }
  VEC_PUSH(b->arena, b->row, row);
}

// ---- wants

void want_add(struct plan_builder *b, uint32_t key, struct want w) {
  if (b->group_of[key] == 0) {
    VEC_PUSH(b->arena, b->group_key, key);
    b->group_of[key] = b->group_key.n;
  }
  w.group = b->group_of[key] - 1;
  w.index = b->want.n;
  VEC_PUSH(b->arena, b->want, w);
}

static int compare_wants(const void *a, const void *b) {
  const struct want *x = a, *y = b;
  if (x->group != y->group) {
    return x->group < y->group ? -1 : 1;
  }
  return (x->index > y->index) - (x->index < y->index);
}

void wants_sort(struct plan_builder *b) {
  if (b->group_key.n > 1) {
    qsort(b->want.v, b->want.n, sizeof *b->want.v, compare_wants);
  }
}

void wants_end(struct plan_builder *b) {
  for (uint32_t i = 0; i < b->group_key.n; i++) {
    b->group_of[b->group_key.v[i]] = 0;
  }
  b->group_key.n = 0;
  b->want.n = 0;
}
