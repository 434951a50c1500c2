// Reports on a plan that was made by hand: tests/data/report/NAME.txt.
#include "support/golden.h"
#include "support/sample_plan.h"
#include "tool/plan_diff.h"
#include "tool/plan_floor.h"
#include "tool/plan_ranks.h"
#include "tool/show.h"

#include "file/json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct arena *arena;
static void make(void) {
  arena = arena_new(0);
}
static void drop(void) {
  arena_free(arena);
}
TestSuite(plan_report, .init = make, .fini = drop);

static void golden(const char *name, struct str got) {
  struct str wrong =
      golden_compare(arena, str_fmt(arena, "tests/data/report/%s.txt", name).p, got);
  cr_expect(wrong.n == 0, "%s: %.*s", name, STR_FMT(wrong));
}

static void check(struct str got, const char *want) {
  cr_expect(str_is(got, want), "got\n%.*s\nwant\n%s", STR_FMT(got), want);
}

static const struct proof_fault fault = {.kind = PROOF_UNORDERED,
                                         .text = {"operation 4 races operation 6", 29}};
static const struct proof holds = {.operations = 12, .accesses = 40, .pairs = 9};

Test(plan_report, one_screen) {
  struct rt_plan p = sample_plan();
  struct proof fails = holds;
  struct proof_fault f = fault;
  fails.fault = &f;
  fails.n_faults = 1;
  struct plan_view v = {&p, STR("gpt on sample"), STR("dp 2"), &holds};
  golden("plan", plan_report_text(arena, &v));
  struct plan_view bare = {.plan = &p, .proof = &fails};
  golden("faults", plan_report_text(arena, &bare));
}

Test(plan_report, an_empty_plan_has_a_report) {
  struct rt_plan p = {.configuration = {.target = "cpu", .offload = "none", .world = 1},
                      .digest = "d"};
  struct plan_view v = {.plan = &p};
  golden("empty", plan_report_text(arena, &v));
}

Test(plan_report, json_is_json_and_has_the_sums) {
  struct rt_plan p = sample_plan();
  struct plan_view v = {&p, STR("gpt on \"sample\""), STR("dp 2"), &holds};
  struct str text = plan_report_json(arena, &v);
  struct json_error err;
  struct json_doc *d = json_parse(text.p, text.n, &err);
  cr_assert(d != NULL, "%u:%u: %s\n%s", err.line, err.col, err.text, text.p);
  const struct json *root = json_root(d);
  cr_expect_eq(json_number(json_get(root, "loaded_bytes")), 10240);
  cr_expect_eq(json_size(json_get(root, "lines")), 3);
  cr_expect_eq(json_size(json_get(root, "kernels")), 3);
  cr_expect_eq(json_size(json_get(root, "notes")), 3);
  const struct json *map = json_get(json_get(root, "operations"), "map");
  cr_expect_eq(json_number(json_get(map, "number")), 4);
  cr_expect(json_bool(json_get(json_get(root, "proof"), "holds")));
  json_free(d);
}

// By hand: 10,240 B each way through 87 GiB/s; 47,714 B of kernels at 4.26 TB/s; 245,760 operations at 650 TFLOP/s.
Test(plan_report, the_floor_is_bytes_over_rates) {
  struct rt_plan p = sample_plan();
  struct plan_floor f = plan_floor_of(plan_total(arena, &p));
  cr_expect_float_eq(f.copies, 20480.0 / (87.0 * (1 << 30)), 1e-15);
  cr_expect_float_eq(f.products, 245760 / 650e12, 1e-15);
  cr_expect_eq(f.step, f.copies);
  cr_expect_str_eq(f.bound, "copies");
  p.configuration.target = "cpu:x86-64-v3";
  f = plan_floor_of(plan_total(arena, &p));
  cr_expect_float_eq(f.step, f.kernels + f.products, 1e-15);
  cr_expect_str_eq(f.bound, "matrix products");
}

Test(plan_report, one_thing) {
  struct rt_plan p = sample_plan();
  golden("param", show_param(arena, &p, 1));
  golden("param_replica", show_param(arena, &p, 3));
  golden("param_frozen", show_param(arena, &p, 4));
  golden("unit", show_unit(arena, &p, 0));
  golden("kernel", show_kernel(arena, &p, 1));
}

Test(plan_report, names_are_found_or_guessed) {
  struct rt_plan p = sample_plan();
  cr_expect_eq(show_find_param(&p, STR("h.1.w")), 2);
  cr_expect_eq(show_find_param(&p, STR("h.1")), RT_NO_ID);
  cr_expect_eq(show_find_kernel(&p, STR("muon__1")), 2);
  check(show_near(arena, &p, false, STR("h.3.v")), "; did you mean `h.0.w`?");
  check(show_near(arena, &p, true, STR("adamv__0")), "; did you mean `adamw__0`?");
  check(show_near(arena, &p, false, STR("model.layers.0")), "");
}

Test(plan_report, equal_plans_do_not_differ) {
  struct rt_plan p = sample_plan();
  check(plan_diff(arena, &p, &p), "");
}

Test(plan_report, differences_in_words) {
  struct rt_plan old = sample_plan(), now = sample_plan();
  struct rt_plan_param param[5];
  struct rt_kernel_info kernel[3];
  memcpy(param, old.param, sizeof param);
  memcpy(kernel, old.kernel, sizeof kernel);
  struct rt_state_home state[6];
  memcpy(state, old.state, sizeof state);
  state[0].at.space = RT_AT_STATE;
  param[0].unit = 2;
  param[2].name = "h.2.w\x1b";
  param[3].rule = "sgd";
  param[3].dim[0] = 32;
  kernel[0].spilled = 8;
  kernel[1].name = "other";
  const char *note[] = {old.note[0], old.note[1], "another"};
  now.param = param;
  now.kernel = kernel;
  now.state = state;
  now.note = note;
  now.configuration.offload = "host";
  now.arena_bytes += 4096;
  now.digest[0] = 'c';
  golden("diff", plan_diff(arena, &old, &now));
  struct rt_plan order = sample_plan();
  order.digest[0] = 'c';
  golden("diff_order", plan_diff(arena, &old, &order));
}

Test(plan_report, long_differences_are_counted) {
  enum { MANY = 50 };
  struct rt_plan old = {.digest = "a"}, now = {.digest = "b", .n_params = MANY};
  struct rt_plan_param *param = ARENA_ARRAY(arena, struct rt_plan_param, MANY);
  for (uint32_t i = 0; i < MANY; i++) {
    param[i] = (struct rt_plan_param){.name = str_fmt(arena, "p%02u", i).p,
                                      .label = "",
                                      .rule = "",
                                      .reason = "",
                                      .unit = RT_NO_ID};
  }
  now.param = param;
  old.configuration.target = now.configuration.target = "cpu";
  old.configuration.offload = now.configuration.offload = "none";
  struct str text = plan_diff(arena, &old, &now);
  cr_expect(strstr(text.p, "`p19` is new\nand 30 more parameters are new\n") != NULL,
            "%s", text.p);
  cr_expect(strstr(text.p, "`p20`") == NULL);
}

Test(plan_report, ranks_least_and_most) {
  struct rt_plan zero = sample_plan(), one = sample_plan();
  one.arena_bytes = 65536;
  one.configuration.rank = 1;
  const struct rt_plan *plan[] = {&zero, &one};
  struct plan_view v = {&zero, STR("gpt on sample"), STR("dp 2"), &holds};
  golden("ranks", plan_ranks_text(arena, &v, plan, 2));
  one.agreed[0] = 'x';
  golden("ranks_disagree", plan_ranks_text(arena, &v, plan, 2));
  struct json_error err;
  struct str text = plan_ranks_json(arena, &v, plan, 2);
  struct json_doc *d = json_parse(text.p, text.n, &err);
  cr_assert(d != NULL, "%s\n%s", err.text, text.p);
  cr_expect(!json_bool(json_get(json_root(d), "agree")));
  json_free(d);
}
