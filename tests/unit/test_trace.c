// Chrome traces: what Perfetto asks of them.
#include "support/sample_plan.h"
#include "tool/trace.h"

#include "file/json.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct json *member(const struct json *event, const char *key) {
  return json_get(event, key);
}

static bool phase_is(const struct json *event, const char *phase) {
  size_t n;
  return strcmp(json_string(member(event, "ph"), &n), phase) == 0;
}

// Adds up the slices of one lane and checks that each begins after the last ended.
static double lane_bytes(const struct json *events, uint32_t lane) {
  double sum = 0, end = 0;
  for (uint32_t i = 0; i < json_size(events); i++) {
    const struct json *e = json_item(events, i);
    if (!phase_is(e, "X") || json_number(member(e, "tid")) != lane) {
      continue;
    }
    double ts = json_number(member(e, "ts")), dur = json_number(member(e, "dur"));
    cr_expect(ts >= end - 1e-6 && dur >= 0, "slice %u", i);
    end = ts + dur;
    sum += json_number(json_get(member(e, "args"), "bytes"));
  }
  return sum;
}

Test(trace, is_what_viewers_take) {
  static const struct steprt_trace_record records[] = {
      {0, RT_LANE_COMPUTE, 0, 1e-6, 128},      {3, RT_LANE_LOAD, 0.5e-6, 3e-6, 8192},
      {4, RT_LANE_COMPUTE, 3e-6, 4e-6, 28672}, {5, RT_LANE_STORE, 4e-6, 6e-6, 8192},
      {6, RT_LANE_LOAD, 3e-6, 3.5e-6, 2048},   {8, RT_LANE_COMPUTE, 4e-6, 4e-6, 2048}};
  struct arena *a = arena_new(0);
  struct rt_plan plan = sample_plan();
  struct rt_kernel_info odd = {.name = "a\"b\n\x1b"};
  plan.kernel = &odd;
  plan.configuration.rank = 3;
  struct str text = trace_text(a, &plan, records, sizeof records / sizeof *records);
  struct json_error err;
  struct json_doc *d = json_parse(text.p, text.n, &err);
  cr_assert(d != NULL, "%u:%u: %s\n%s", err.line, err.col, err.text, text.p);
  const struct json *events = json_get(json_root(d), "traceEvents");
  cr_assert_eq(json_size(events), 1 + 2 * 3 + 6);
  bool metadata = true;
  for (uint32_t i = 0; i < json_size(events); i++) {
    bool is_m = phase_is(json_item(events, i), "M");
    cr_expect(metadata || !is_m, "metadata after event %u", i);
    metadata = is_m;
  }
  cr_expect_eq(lane_bytes(events, RT_LANE_LOAD), 10240);
  cr_expect_eq(lane_bytes(events, RT_LANE_COMPUTE), 30848);
  cr_expect_eq(lane_bytes(events, RT_LANE_STORE), 8192);
  cr_expect(strstr(text.p, "\x1b") == NULL);
  json_free(d);
  arena_free(a);
}

Test(trace, without_records_is_still_json) {
  struct arena *a = arena_new(0);
  struct rt_plan plan = sample_plan();
  struct json_error err;
  struct str text = trace_text(a, &plan, NULL, 0);
  struct json_doc *d = json_parse(text.p, text.n, &err);
  cr_expect(d != NULL, "%s", text.p);
  json_free(d);
  arena_free(a);
}
