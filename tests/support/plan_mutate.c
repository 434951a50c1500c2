#include "support/plan_mutate.h"

#include <string.h>

const char *const mutation_names[N_MUTATIONS] = {
    [MUTATE_WAIT] = "wait left out",
    [MUTATE_INIT_WAIT] = "wait of init left out",
    [MUTATE_EVENT] = "wait for another event",
    [MUTATE_SIGNAL] = "signal left out",
    [MUTATE_LANE] = "operation on another lane",
    [MUTATE_OP] = "operation missing",
    [MUTATE_ROW] = "row missing",
    [MUTATE_ROW_TWICE] = "row twice",
    [MUTATE_ROWS] = "addresses of two rows swapped",
    [MUTATE_ADDRESS] = "address shifted",
    [MUTATE_COPY] = "copy missing",
    [MUTATE_COPY_TWICE] = "copy twice",
    [MUTATE_SLOT] = "copy shifted in its slot",
    [MUTATE_HOST] = "copy shifted in the slab",
    [MUTATE_SHORT] = "copy cut short",
};

// Part `item` of one operation.
struct place {
  uint32_t op, item;
};

// ---- places

static bool has_rows(const struct rt_op *o) {
  return o->kind == RT_OP_MAP || o->kind == RT_OP_ORTHO || o->kind == RT_OP_REDUCE;
}

static uint32_t n_pointers(const struct rt_plan *p, const struct rt_op *o) {
  return o->kind == RT_OP_REDUCE  ? 1
         : o->kind == RT_OP_ORTHO ? 2
                                  : p->kernel[o->kernel].n_ptrs;
}

// Waiting for a slot that nothing has used yet passes at once.
static uint32_t count_init_waits(const struct rt_plan *p, uint32_t op) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->init[op].n_waits; k++) {
    bool is_signalled = false;
    for (uint32_t i = 0; i < op; i++) {
      is_signalled =
          is_signalled || p->init[i].signal == p->wait[p->init[op].first_wait + k];
    }
    n += is_signalled ? 1 : 0;
  }
  return n;
}

// Its slot is used by this chunk only.
static bool is_alone(const struct rt_plan *p, const struct rt_op *o) {
  for (uint32_t i = 0; i < p->n_chunks; i++) {
    if (i != o->chunk && p->chunk[i].slot == p->chunk[o->chunk].slot) {
      return false;
    }
  }
  return true;
}

static uint32_t count_places(const struct rt_plan *p, enum mutation m, uint32_t op) {
  const struct rt_op *o = &p->op[op];
  uint32_t rows = has_rows(o) ? o->n : 0;
  uint32_t copies = o->kind == RT_OP_LOAD || o->kind == RT_OP_STORE ? o->n : 0;
  switch (m) {
  case MUTATE_WAIT:
  case MUTATE_EVENT: return o->n_waits;
  case MUTATE_INIT_WAIT: return count_init_waits(p, op);
  case MUTATE_SIGNAL: return o->signal != RT_NO_ID;
  case MUTATE_LANE: return copies != 0 && is_alone(p, o) ? 0 : RT_N_LANES - 1;
  case MUTATE_OP: return 1;
  case MUTATE_ROW:
  case MUTATE_ROW_TWICE: return rows;
  case MUTATE_ROWS: return rows == 0 ? 0 : rows - 1;
  case MUTATE_ADDRESS: return rows == 0 ? 0 : rows * n_pointers(p, o);
  case MUTATE_COPY:
  case MUTATE_COPY_TWICE:
  case MUTATE_SLOT:
  case MUTATE_HOST:
  case MUTATE_SHORT: return copies;
  case N_MUTATIONS: break;
  }
  return 0;
}

uint32_t plan_mutants(const struct rt_plan *plan, enum mutation m) {
  uint32_t n = 0, n_ops = m == MUTATE_INIT_WAIT ? plan->n_init : plan->n_ops;
  for (uint32_t i = 0; i < n_ops; i++) {
    n += count_places(plan, m, i);
  }
  return n;
}

static struct place find_place(const struct rt_plan *p, enum mutation m, uint32_t k) {
  uint32_t op = 0;
  for (uint32_t n; k >= (n = count_places(p, m, op)); op++) {
    k -= n;
  }
  return (struct place){op, k};
}

// ---- changes

#define COPY_OF(a, T, from, n, more)                                                     \
  ((T *)memcpy(ARENA_ARRAY(a, T, (size_t)(n) + (more)), (from), (n) * sizeof(T)))

// The waits of an operation in a place of their own, wait k left out or for another event.
static void change_wait(struct arena *a, struct rt_plan *p, struct rt_op *o, uint32_t k,
                        bool drop) {
  uint32_t *wait = COPY_OF(a, uint32_t, p->wait, p->n_waits, o->n_waits);
  uint32_t n = p->n_waits;
  for (uint32_t i = 0; i < o->n_waits; i++) {
    if (i != k || !drop) {
      wait[n++] = (wait[o->first_wait + i] + (i == k ? 1 : 0)) % p->n_events;
    }
  }
  o->first_wait = p->n_waits;
  o->n_waits = n - p->n_waits;
  p->wait = wait;
  p->n_waits = n;
}

static void drop_op(struct rt_plan *p, struct rt_op *op, uint32_t k, struct arena *a) {
  struct rt_chunk *chunk = COPY_OF(a, struct rt_chunk, p->chunk, p->n_chunks, 0);
  memmove(op + k, op + k + 1, (p->n_ops - k - 1) * sizeof *op);
  p->n_ops--;
  p->n_begin -= k < p->n_begin ? 1 : 0;
  for (uint32_t i = 0; i < p->n_chunks; i++) {
    if (k < chunk[i].first_op) {
      chunk[i].first_op--;
    } else if (k - chunk[i].first_op < chunk[i].n_ops) {
      chunk[i].n_ops--;
    }
  }
  p->chunk = chunk;
}

// The rows of an operation in a place of their own, row k of them `times` times; returns where it is.
static struct rt_row *change_row(struct arena *a, struct rt_plan *p, struct rt_op *o,
                                 uint32_t k, uint32_t times) {
  struct rt_row *row = COPY_OF(a, struct rt_row, p->row, p->n_rows, o->n + 1);
  uint32_t n = p->n_rows, from = o->first, count = o->n, at = 0;
  o->first = n;
  for (uint32_t i = 0; i < count; i++) {
    at = i == k ? n : at;
    for (uint32_t t = 0; t < (i == k ? times : 1); t++) {
      row[n++] = row[from + i];
    }
  }
  o->n = n - p->n_rows;
  p->row = row;
  p->n_rows = n;
  return &row[at];
}

static struct rt_copy *change_copy(struct arena *a, struct rt_plan *p, struct rt_op *o,
                                   uint32_t k, uint32_t times) {
  struct rt_copy *copy = COPY_OF(a, struct rt_copy, p->copy, p->n_copies, o->n + 1);
  uint32_t n = p->n_copies, from = o->first, count = o->n, at = 0;
  o->first = n;
  for (uint32_t i = 0; i < count; i++) {
    at = i == k ? n : at;
    for (uint32_t t = 0; t < (i == k ? times : 1); t++) {
      copy[n++] = copy[from + i];
    }
  }
  o->n = n - p->n_copies;
  p->copy = copy;
  p->n_copies = n;
  return &copy[at];
}

static void shift_address(struct arena *a, struct rt_plan *p, struct rt_op *o,
                          uint32_t k) {
  uint32_t n = n_pointers(p, o), pointer = k % n;
  struct rt_at *at = COPY_OF(a, struct rt_at, p->at, p->n_at, n);
  struct rt_row *row = change_row(a, p, o, k / n, 1);
  memcpy(at + p->n_at, at + row->at, n * sizeof *at);
  row->at = p->n_at;
  at[p->n_at + pointer].offset +=
      o->kind == RT_OP_MAP     ? p->kernel[o->kernel].access[pointer].bytes
      : o->kind == RT_OP_ORTHO ? (pointer == 0 ? o->in_bytes : o->out_bytes)
                               : 4;
  p->at = at;
  p->n_at += n;
}

static void change(struct arena *a, struct rt_plan *p, enum mutation m, struct rt_op *op,
                   struct place at) {
  struct rt_op *o = &op[at.op];
  struct rt_row *row;
  struct rt_copy *copy;
  uint32_t swap;
  switch (m) {
  case MUTATE_WAIT:
  case MUTATE_INIT_WAIT:
  case MUTATE_EVENT: change_wait(a, p, o, at.item, m != MUTATE_EVENT); break;
  case MUTATE_SIGNAL: o->signal = RT_NO_ID; break;
  case MUTATE_LANE: o->lane = (o->lane + 1 + at.item) % RT_N_LANES; break;
  case MUTATE_OP: drop_op(p, op, at.op, a); break;
  case MUTATE_ROW: (void)change_row(a, p, o, at.item, 0); break;
  case MUTATE_ROW_TWICE: (void)change_row(a, p, o, at.item, 2); break;
  case MUTATE_ROWS:
    row = change_row(a, p, o, at.item, 1);
    swap = row[0].at;
    row[0].at = row[1].at;
    row[1].at = swap;
    break;
  case MUTATE_ADDRESS: shift_address(a, p, o, at.item); break;
  case MUTATE_COPY: (void)change_copy(a, p, o, at.item, 0); break;
  case MUTATE_COPY_TWICE: (void)change_copy(a, p, o, at.item, 2); break;
  case MUTATE_SLOT: change_copy(a, p, o, at.item, 1)->arena += 256; break;
  case MUTATE_HOST: change_copy(a, p, o, at.item, 1)->host += 256; break;
  case MUTATE_SHORT:
    copy = change_copy(a, p, o, at.item, 1);
    copy->host += 4;
    copy->arena += 4;
    copy->bytes -= 4;
    break;
  case N_MUTATIONS: break;
  }
}

struct rt_plan *plan_mutant(struct arena *a, const struct rt_plan *plan, enum mutation m,
                            uint32_t k) {
  struct rt_plan *p = COPY_OF(a, struct rt_plan, plan, 1, 0);
  bool is_init = m == MUTATE_INIT_WAIT;
  struct rt_op *op = is_init ? COPY_OF(a, struct rt_op, plan->init, plan->n_init, 0)
                             : COPY_OF(a, struct rt_op, plan->op, plan->n_ops, 0);
  *(is_init ? &p->init : &p->op) = op;
  change(a, p, m, op, find_place(plan, m, k));
  return p;
}
