// A set of units runs, of each chunk that it touches, the operations in order; of each operation the rows (copies)
// that belong to it, as few runs of neighbours as there are.
#include "core/issue.h"

steprt_status rt_checked(struct steprt *rt, steprt_status s) {
  if (s && !rt->failed) {
    rt->failed = true;
    if (!*rt->error) {
      rt_fail(rt, "%s", steprt_status_text(s));
    }
  }
  return s ? STEPRT_FAILED : STEPRT_OK;
}

steprt_status rt_check_stream(struct steprt *rt, void *stream) {
  return rt->class->check ? rt->class->check(rt->device, NULL, stream) : STEPRT_OK;
}

static steprt_status issue(struct steprt *rt, uint32_t op, uint32_t first, uint32_t n,
                           bool whole) {
  const struct rt_entry e = {op, first, n, whole};
  return rt_checked(rt, rt->class->issue(rt->device, &e, rt->stage));
}

steprt_status rt_issue_begin(struct steprt *rt) {
  for (uint32_t i = 0; i < rt->plan->n_begin; i++) {
    RT_TRY(issue(rt, i, rt->plan->op[i].first, rt->plan->op[i].n, false));
  }
  return STEPRT_OK;
}

static bool is_selected(const struct steprt *rt, const struct rt_op *op, uint32_t i) {
  bool copies = op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
  uint32_t unit = copies ? rt->plan->copy[i].unit : rt->plan->row[i].unit;
  return rt->unit_mode[unit] == RT_UNIT_SELECTED;
}

// An operation of which nothing is selected still waits and signals.
static steprt_status issue_part(struct steprt *rt, uint32_t id) {
  const struct rt_op *op = &rt->plan->op[id];
  uint32_t end = op->first + op->n, parts = 0;
  for (uint32_t i = op->first, from; i < end; i++) {
    for (from = i; i < end && is_selected(rt, op, i); i++) {
    }
    if (i > from) {
      RT_TRY(issue(rt, id, from, i - from, false));
      parts++;
    }
  }
  bool orders = op->n_waits > 0 || op->signal != RT_NO_ID;
  return parts == 0 && orders ? issue(rt, id, op->first, 0, false) : STEPRT_OK;
}

static uint32_t n_selected(const struct steprt *rt, const struct rt_chunk *c) {
  uint32_t n = 0;
  for (uint32_t u = c->first_unit; u < c->first_unit + c->n_units; u++) {
    n += rt->unit_mode[u] == RT_UNIT_SELECTED;
  }
  return n;
}

static steprt_status issue_chunk(struct steprt *rt, uint32_t id) {
  const struct rt_chunk *c = &rt->plan->chunk[id];
  uint32_t n = n_selected(rt, c);
  if (n == 0) {
    return STEPRT_OK;
  }
  rt->chunk_issued[id] = ++rt->n_issued;
  for (uint32_t i = c->first_op; i < c->first_op + c->n_ops; i++) {
    const struct rt_op *op = &rt->plan->op[i];
    RT_TRY(n == c->n_units ? issue(rt, i, op->first, op->n, true) : issue_part(rt, i));
  }
  return STEPRT_OK;
}

steprt_status rt_issue_chunks(struct steprt *rt, uint32_t first, uint32_t end) {
  for (uint32_t c = first; c < end; c++) {
    RT_TRY(issue_chunk(rt, c));
  }
  return STEPRT_OK;
}

steprt_status rt_issue_until(struct steprt *rt, uint64_t end) {
  uint32_t first = rt->next_chunk, n = rt->plan->n_chunks;
  uint32_t last = end < n ? (uint32_t)end : n;
  if (last <= first) {
    return STEPRT_OK;
  }
  rt->next_chunk = last;
  return rt_issue_chunks(rt, first, last);
}

steprt_status rt_issue_rest(struct steprt *rt) {
  return rt_issue_until(rt, rt->plan->n_chunks);
}
