// plan.json, written: operations with their rows and copies.
#include "plan/plan_write.h"

#include "plan/fields.h"
#include "plan/names.h"

void rt_plan_write_at(struct rt_text *t, struct rt_at at) {
  rt_text_put(t, "\"");
  rt_text_put(t, at.space < RT_N_SPACES ? rt_space_names[at.space] : "unknown");
  rt_text_put(t, " ");
  rt_text_u64(t, at.offset);
  rt_text_put(t, "\"");
}

uint32_t rt_op_pointers(const struct rt_plan *plan, const struct rt_op *op) {
  return op->kind == RT_OP_MAP      ? plan->kernel[op->kernel].n_ptrs
         : op->kind == RT_OP_ORTHO  ? 2
         : op->kind == RT_OP_REDUCE ? 1
                                    : 0;
}

static void write_row(struct rt_text *t, const struct rt_plan *plan,
                      const struct rt_row *row, uint32_t n_ptrs) {
  const uint64_t numbers[] = {row->param, row->first, row->numel, row->phase};
  rt_text_line(t);
  rt_text_put(t, "[");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    rt_text_comma(t);
    rt_text_u64(t, numbers[i]);
  }
  for (uint32_t p = 0; p < n_ptrs; p++) {
    rt_text_comma(t);
    rt_plan_write_at(t, plan->at[row->at + p]);
  }
  rt_text_put(t, "]");
}

static void write_copy(struct rt_text *t, const struct rt_copy *c) {
  const uint64_t numbers[] = {c->unit, c->host, c->arena, c->bytes};
  rt_text_line(t);
  rt_text_put(t, "[");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    rt_text_comma(t);
    rt_text_u64(t, numbers[i]);
  }
  rt_text_put(t, "]");
}

static void write_pieces(struct rt_text *t, const struct rt_plan *plan,
                         const struct rt_op *op) {
  bool copies = op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
  if (op->n == 0) {
    return;
  }
  uint32_t n_ptrs = rt_op_pointers(plan, op);
  rt_text_key(t, copies ? "copies" : "rows");
  rt_text_put(t, "[");
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    if (copies) {
      write_copy(t, &plan->copy[i]);
    } else {
      write_row(t, plan, &plan->row[i], n_ptrs);
    }
  }
  rt_text_put(t, "]");
}

static void write_events(struct rt_text *t, const struct rt_plan *plan,
                         const struct rt_op *op) {
  char buf[RT_EVENT_TEXT];
  if (op->n_waits > 0) {
    rt_text_key(t, "after");
    rt_text_put(t, "[");
    for (uint32_t i = op->first_wait; i < op->first_wait + op->n_waits; i++) {
      rt_text_comma(t);
      rt_text_string(t, rt_event_text(&plan->event[plan->wait[i]], buf));
    }
    rt_text_put(t, "]");
  }
  if (op->signal != RT_NO_ID) {
    rt_text_member_string(t, "signal", rt_event_text(&plan->event[op->signal], buf));
  }
}

static void write_op(struct rt_text *t, const struct rt_plan *plan,
                     const struct rt_op *op) {
  rt_text_member_string(t, "kind", op->kind < RT_N_OP_KINDS ? rt_op_names[op->kind] : "");
  rt_text_member_string(t, "lane", op->lane < RT_N_LANES ? rt_lane_names[op->lane] : "");
  if (op->chunk != RT_NO_ID) {
    rt_text_member_u64(t, "chunk", op->chunk);
  }
  if (op->kind == RT_OP_MAP || (op->kind == RT_OP_REDUCE && op->kernel != RT_NO_ID)) {
    rt_text_member_u64(t, "kernel", op->kernel);
  } else if (op->kind == RT_OP_ORTHO) {
    rt_fields_write(t, &rt_matrix_fields, op);
  }
  write_events(t, plan, op);
  if (op->work_bytes > 0) {
    rt_text_key(t, "work");
    rt_text_put(t, "[");
    rt_plan_write_at(t, op->work);
    rt_text_comma(t);
    rt_text_u64(t, op->work_bytes);
    rt_text_put(t, "]");
  }
  rt_fields_write(t, &rt_estimate_fields, op);
  write_pieces(t, plan, op);
}

void rt_plan_write_ops(struct rt_text *t, const struct rt_plan *plan, const char *key,
                       const struct rt_op *op, uint32_t n) {
  rt_text_line(t);
  rt_text_string(t, key);
  rt_text_put(t, ": [");
  for (uint32_t i = 0; i < n; i++) {
    rt_text_line(t);
    rt_text_put(t, "{");
    rt_text_member_u64(t, "op", i);
    write_op(t, plan, &op[i]);
    rt_text_put(t, "}");
  }
  rt_text_put(t, "]");
}
