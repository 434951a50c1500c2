// Chrome traces. Metadata comes first, times are microseconds.
#include "tool/trace.h"

#include "tool/plan_words.h"

#include "plan/names.h" // runtime/

static void put_thread(struct buf *b, uint32_t lane) {
  buf_printf(b,
             ",\n {\"ph\": \"M\", \"pid\": 0, \"tid\": %u, \"name\": \"thread_name\", "
             "\"args\": {\"name\": \"%s\"}}",
             lane, rt_lane_names[lane]);
  buf_printf(b,
             ",\n {\"ph\": \"M\", \"pid\": 0, \"tid\": %u, \"name\": "
             "\"thread_sort_index\", \"args\": {\"sort_index\": %u}}",
             lane, lane);
}

static void put_metadata(struct buf *b, const struct rt_plan *plan,
                         const struct steprt_trace_record *record, uint64_t n) {
  bool used[RT_N_LANES] = {false};
  for (uint64_t i = 0; i < n; i++) {
    used[record[i].lane] = true;
  }
  buf_printf(b,
             " {\"ph\": \"M\", \"pid\": 0, \"tid\": 0, \"name\": \"process_name\", "
             "\"args\": {\"name\": \"rank %u\"}}",
             plan->configuration.rank);
  for (uint32_t lane = 0; lane < RT_N_LANES; lane++) {
    if (used[lane]) {
      put_thread(b, lane);
    }
  }
}

// "adamw__0", "load"; what the slice says.
static struct str slice_name(const struct rt_plan *plan, const struct rt_op *op) {
  return str_of(op->kind == RT_OP_MAP ? plan->kernel[op->kernel].name
                                      : rt_op_names[op->kind]);
}

static void put_slice(struct buf *b, const struct rt_plan *plan,
                      const struct steprt_trace_record *r) {
  const struct rt_op *op = &plan->op[r->op];
  buf_printf(b,
             ",\n {\"ph\": \"X\", \"pid\": 0, \"tid\": %u, \"cat\": \"%s\", \"name\": ",
             r->lane, rt_op_names[op->kind]);
  buf_json(b, slice_name(plan, op));
  buf_printf(b, ", \"ts\": %.3f, \"dur\": %.3f, \"args\": {\"op\": %u", r->begin * 1e6,
             (r->end - r->begin) * 1e6, r->op);
  if (op->chunk != RT_NO_ID) {
    buf_printf(b, ", \"chunk\": %u", op->chunk);
  }
  buf_printf(b, ", \"bytes\": %llu}}", (unsigned long long)r->bytes);
}

struct str trace_text(struct arena *a, const struct rt_plan *plan,
                      const struct steprt_trace_record *record, uint64_t n) {
  struct buf b = buf_new(a);
  buf_puts(&b, "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"target\": ");
  buf_json(&b, str_of(plan->configuration.target));
  buf_printf(&b, ", \"plan\": \"%s\"}, \"traceEvents\": [\n", plan->digest);
  put_metadata(&b, plan, record, n);
  for (uint64_t i = 0; i < n; i++) {
    put_slice(&b, plan, &record[i]);
  }
  buf_puts(&b, "\n]}\n");
  return buf_done(&b);
}
