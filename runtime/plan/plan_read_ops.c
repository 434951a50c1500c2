// plan.json, read: operations with their rows, addresses, copies and waits.
#include "plan/plan_read.h"

#include "plan/names.h"
#include "plan/plan_write.h"

#include <string.h>

// What an operation of each kind may say.
#define COMMON "op kind lane chunk after signal read written flops "
static const char *const members[RT_N_OP_KINDS] = {
    [RT_OP_UPLOAD] = COMMON,
    [RT_OP_REDUCE] = COMMON "kernel rows work",
    [RT_OP_MERGE] = COMMON "work",
    [RT_OP_EXCHANGE] = COMMON,
    [RT_OP_VERDICT] = COMMON "work",
    [RT_OP_LOAD] = COMMON "copies",
    [RT_OP_MAP] = COMMON "kernel rows",
    [RT_OP_ORTHO] =
        COMMON "iteration matrix_rows matrix_cols in_bytes out_bytes rows work",
    [RT_OP_STORE] = COMMON "copies",
};

// The tables while they are filled; the plan's counts are how far.
struct filling {
  struct plan_reader *p;
  struct rt_row *row;
  struct rt_at *at;
  struct rt_copy *copy;
  uint32_t *wait;
};

enum { ROW_NUMBERS = 4, COPY_NUMBERS = 4 };

static bool read_numbers(struct rt_reader *r, const struct json *v,
                         const char *const *names, uint32_t n, uint64_t *out) {
  for (uint32_t i = 0; i < n; i++) {
    if (!rt_reader_u64(r, json_item(v, i), names[i], UINT64_MAX, &out[i])) {
      return false;
    }
  }
  return true;
}

// [param, first, numel, phase, address, ...]
static bool read_row(struct filling *f, const struct json *v, uint32_t n_ptrs) {
  static const char *const names[] = {"param", "first", "numel", "phase"};
  struct rt_plan *plan = f->p->plan;
  struct rt_reader *r = &f->p->r;
  uint64_t x[ROW_NUMBERS];
  if (json_kind(v) != JSON_ARRAY || json_size(v) != ROW_NUMBERS + n_ptrs) {
    return rt_reader_fail(
        r, v, "a row is [param, first, numel, phase] and here %u addresses", n_ptrs);
  }
  if (!read_numbers(r, v, names, ROW_NUMBERS, x)) {
    return false;
  }
  if (x[0] >= plan->n_params || x[3] > UINT32_MAX) {
    return rt_reader_fail(r, v, "`%s` %llu does not exist",
                          x[3] > UINT32_MAX ? "phase" : "param",
                          (unsigned long long)(x[3] > UINT32_MAX ? x[3] : x[0]));
  }
  f->row[plan->n_rows++] = (struct rt_row){.param = (uint32_t)x[0],
                                           .unit = plan->param[x[0]].unit,
                                           .first = x[1],
                                           .numel = x[2],
                                           .phase = (uint32_t)x[3],
                                           .at = plan->n_at};
  for (uint32_t i = 0; i < n_ptrs; i++) {
    struct rt_at *at = &f->at[plan->n_at];
    if (!rt_plan_read_at(r, json_item(v, ROW_NUMBERS + i), "address", at)) {
      return false;
    }
    plan->n_at++;
    at->index = at->space == RT_AT_PARAM || at->space == RT_AT_GRAD ? (uint32_t)x[0] : 0;
  }
  return true;
}

// [unit, host, arena, bytes]
static bool read_copy(struct filling *f, const struct json *v) {
  static const char *const names[] = {"unit", "host", "arena", "bytes"};
  uint64_t x[COPY_NUMBERS];
  struct rt_reader *r = &f->p->r;
  if (json_kind(v) != JSON_ARRAY || json_size(v) != COPY_NUMBERS) {
    return rt_reader_fail(r, v, "a copy is [unit, host, arena, bytes]");
  }
  if (!read_numbers(r, v, names, COPY_NUMBERS, x)) {
    return false;
  }
  if (x[0] >= f->p->plan->n_units) {
    return rt_reader_fail(r, v, "unit %llu does not exist", (unsigned long long)x[0]);
  }
  f->copy[f->p->plan->n_copies++] = (struct rt_copy){
      .unit = (uint32_t)x[0], .host = x[1], .arena = x[2], .bytes = x[3]};
  return true;
}

// Rows or copies; an operation without any has no list.
static bool read_pieces(struct filling *f, const struct json *v, struct rt_op *op) {
  bool copies = op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
  const char *key = copies ? "copies" : "rows";
  op->first = copies ? f->p->plan->n_copies : f->p->plan->n_rows;
  if (json_get(v, key) == NULL) {
    return true;
  }
  const struct json *list = rt_reader_get(&f->p->r, v, key, JSON_ARRAY);
  if (list == NULL) {
    return false;
  }
  op->n = json_size(list);
  if (op->n == 0) {
    return rt_reader_fail(&f->p->r, list, "`%s` is empty: leave it out", key);
  }
  uint32_t n_ptrs = rt_op_pointers(f->p->plan, op);
  for (uint32_t i = 0; i < op->n; i++) {
    const struct json *item = json_item(list, i);
    if (!(copies ? read_copy(f, item) : read_row(f, item, n_ptrs))) {
      return false;
    }
  }
  return true;
}

static bool read_event(struct plan_reader *p, const struct json *v, uint32_t *out) {
  struct rt_event e;
  if (!rt_plan_read_event(p, v, &e)) {
    return false;
  }
  *out = *rt_plan_event_of(p, &e) - 1;
  return *out != RT_NO_ID || rt_reader_fail(&p->r, v, "this event is not among `events`");
}

static bool read_events(struct filling *f, const struct json *v, struct rt_op *op) {
  struct rt_plan *plan = f->p->plan;
  const struct json *signal = json_get(v, "signal");
  op->first_wait = plan->n_waits;
  op->signal = RT_NO_ID;
  if (signal != NULL && !read_event(f->p, signal, &op->signal)) {
    return false;
  }
  if (json_get(v, "after") == NULL) {
    return true;
  }
  const struct json *list = rt_reader_get(&f->p->r, v, "after", JSON_ARRAY);
  if (list == NULL) {
    return false;
  }
  op->n_waits = json_size(list);
  for (uint32_t i = 0; i < op->n_waits; i++) {
    if (!read_event(f->p, json_item(list, i), &f->wait[plan->n_waits++])) {
      return false;
    }
  }
  return op->n_waits > 0 ||
         rt_reader_fail(&f->p->r, list, "`after` is empty: leave it out");
}

static bool read_kernel(struct filling *f, const struct json *v, struct rt_op *op) {
  struct rt_reader *r = &f->p->r;
  const struct json *kernel = json_get(v, "kernel");
  op->kernel = RT_NO_ID;
  if (op->kind == RT_OP_ORTHO) {
    return rt_fields_take(r, v, &rt_matrix_fields, op);
  }
  if (kernel == NULL) {
    return op->kind != RT_OP_MAP || rt_reader_fail(r, v, "no `kernel`");
  }
  return rt_reader_u32(r, kernel, "kernel", &op->kernel) &&
         (op->kernel < f->p->plan->n_kernels ||
          rt_reader_fail(r, kernel, "`kernel` %u does not exist", op->kernel));
}

static bool read_work(struct filling *f, const struct json *v, struct rt_op *op) {
  struct rt_reader *r = &f->p->r;
  if (json_get(v, "work") == NULL) {
    return true;
  }
  const struct json *work = rt_reader_get(r, v, "work", JSON_ARRAY);
  if (work == NULL) {
    return false;
  }
  if (json_size(work) != 2) {
    return rt_reader_fail(r, work, "`work` is [address, bytes]");
  }
  return rt_plan_read_at(r, json_item(work, 0), "work", &op->work) &&
         rt_reader_u64(r, json_item(work, 1), "work", UINT64_MAX, &op->work_bytes) &&
         (op->work_bytes > 0 ||
          rt_reader_fail(r, work, "`work` has no bytes: leave it out"));
}

static bool read_op(struct filling *f, const struct json *v, struct rt_op *op) {
  struct rt_reader *r = &f->p->r;
  const struct json *kind = rt_reader_get(r, v, "kind", JSON_STRING), *lane,
                    *chunk = json_get(v, "chunk");
  op->chunk = RT_NO_ID;
  return kind != NULL &&
         rt_reader_name(r, kind, "kind", rt_op_names, RT_N_OP_KINDS, &op->kind) &&
         rt_reader_object(r, v, NULL, members[op->kind]) &&
         (lane = rt_reader_get(r, v, "lane", JSON_STRING)) != NULL &&
         rt_reader_name(r, lane, "lane", rt_lane_names, RT_N_LANES, &op->lane) &&
         (chunk == NULL || rt_reader_u32(r, chunk, "chunk", &op->chunk)) &&
         rt_fields_take(r, v, &rt_estimate_fields, op) && read_events(f, v, op) &&
         read_kernel(f, v, op) && read_work(f, v, op) && read_pieces(f, v, op);
}

static bool read_list(struct filling *f, const struct json *list, const char *key,
                      struct rt_op *op) {
  const char *what = strcmp(key, "init") == 0 ? "init" : "op";
  for (uint32_t i = 0; i < json_size(list); i++) {
    f->p->r.what = NULL;
    if (!rt_reader_item(&f->p->r, json_item(list, i), "op", i)) {
      return false;
    }
    f->p->r.what = what;
    if (!read_op(f, json_item(list, i), &op[i])) {
      return false;
    }
  }
  return true;
}

// All values of all rows: more than there are addresses.
static uint32_t count_addresses(const struct json *ops) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < json_size(ops); i++) {
    const struct json *v = json_item(ops, i);
    const struct json *rows = json_kind(v) == JSON_OBJECT ? json_get(v, "rows") : NULL;
    for (uint32_t k = 0; rows != NULL && k < json_size(rows); k++) {
      n += json_size(json_item(rows, k));
    }
  }
  return n;
}

static bool make_tables(struct filling *f, const struct json *init,
                        const struct json *ops) {
  struct rt_pool *pool = f->p->r.pool;
  f->row = rt_pool_alloc(pool, rt_plan_count(init, "rows") + rt_plan_count(ops, "rows"),
                         sizeof *f->row);
  f->at =
      rt_pool_alloc(pool, count_addresses(init) + count_addresses(ops), sizeof *f->at);
  f->copy =
      rt_pool_alloc(pool, rt_plan_count(init, "copies") + rt_plan_count(ops, "copies"),
                    sizeof *f->copy);
  f->wait = rt_pool_alloc(
      pool, rt_plan_count(init, "after") + rt_plan_count(ops, "after"), sizeof *f->wait);
  return (f->row != NULL && f->at != NULL && f->copy != NULL && f->wait != NULL) ||
         rt_reader_no_memory(&f->p->r);
}

static uint32_t count_begin(const struct rt_plan *plan) {
  uint32_t n = 0;
  while (n < plan->n_ops && plan->op[n].chunk == RT_NO_ID) {
    n++;
  }
  return n;
}

bool rt_plan_read_ops(struct plan_reader *p, const struct json *root) {
  struct filling f = {.p = p};
  struct rt_plan *plan = p->plan;
  const struct json *init, *ops;
  void *init_items, *op_items;
  if (!rt_reader_list(&p->r, root, "init", sizeof *plan->init, &init, &init_items,
                      &plan->n_init) ||
      !rt_reader_list(&p->r, root, "ops", sizeof *plan->op, &ops, &op_items,
                      &plan->n_ops) ||
      !make_tables(&f, init, ops) || !read_list(&f, init, "init", init_items) ||
      !read_list(&f, ops, "ops", op_items)) {
    return false;
  }
  plan->init = init_items;
  plan->op = op_items;
  plan->row = f.row;
  plan->at = f.at;
  plan->copy = f.copy;
  plan->wait = f.wait;
  plan->n_begin = count_begin(plan);
  return true;
}
