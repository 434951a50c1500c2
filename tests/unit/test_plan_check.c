// rt_plan_check: plans that are wrong in one place, each named; plans of the planner, all right.
#include "plan/plan_json.h"
#include "plan_job.h"
#include "random.h"
#include "support/hand_plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char *const plan_texts[] = {
#define SPOIL(statement, text) text,
#include "bad_plans.def"
#undef SPOIL
};
static const char *const match_texts[] = {
#define SPOIL(statement, text) text,
#include "bad_matches.def"
#undef SPOIL
};

static struct rt_at at(uint32_t space, uint64_t offset) {
  return (struct rt_at){space, 0, offset};
}
// Of the first row of an operation.
static struct rt_at *address(struct hand *h, const struct rt_op *op, uint32_t i) {
  return &h->at[h->row[op->first].at + i];
}

static void spoil_plan(struct hand *h, int which) {
  int row = 0;
#define SPOIL(statement, text)                                                           \
  if (row++ == which) {                                                                  \
    statement;                                                                           \
  }
#include "bad_plans.def"
}

static void spoil_match(struct hand *h, int which) {
  int row = 0;
#include "bad_matches.def"
#undef SPOIL
}

Test(plan_check, the_hand_made_plans_are_good) {
  struct hand h;
  char why[480] = "";
  hand_make(&h);
  cr_assert_eq(rt_plan_check(&h.plan, NULL, why, sizeof why), STEPRT_OK, "%s", why);
  cr_assert_eq(rt_plan_check(&h.plan, &h.program, why, sizeof why), STEPRT_OK, "%s", why);
  hand_make_cuda(&h);
  cr_assert_eq(rt_plan_check(&h.plan, &h.program, why, sizeof why), STEPRT_OK, "%s", why);
}

Test(plan_check, each_mistake_of_a_plan_is_named) {
  for (int i = 0; i < (int)(sizeof plan_texts / sizeof *plan_texts); i++) {
    struct hand h;
    char why[480] = "";
    hand_make(&h);
    spoil_plan(&h, i);
    cr_expect_eq(rt_plan_check(&h.plan, NULL, why, sizeof why), STEPRT_BAD_PROGRAM);
    cr_expect_str_eq(why, plan_texts[i], "row %d: %s", i, why);
  }
}

Test(plan_check, each_mistake_between_plan_and_program_is_named) {
  for (int i = 0; i < (int)(sizeof match_texts / sizeof *match_texts); i++) {
    struct hand h;
    char why[480] = "";
    hand_make(&h);
    spoil_match(&h, i);
    cr_expect_eq(rt_plan_check(&h.plan, &h.program, why, sizeof why), STEPRT_BAD_PROGRAM);
    cr_expect_str_eq(why, match_texts[i], "row %d: %s", i, why);
  }
}

// ---- any words in the tables of numbers: passed or refused, never read beyond

static void spoil_anything(struct hand *h, uint64_t *seed) {
  static const uint32_t values[] = {0,     1,      2,          3,          7,
                                    32768, 0x1000, 0x7fffffff, 0x80000000, UINT32_MAX};
  const struct {
    void *table;
    size_t bytes;
  } tables[] = {{h->unit_param, sizeof h->unit_param},
                {h->unit, sizeof h->unit},
                {h->chunk, sizeof h->chunk},
                {h->op, sizeof h->op},
                {h->init_op, sizeof h->init_op},
                {h->event, sizeof h->event},
                {h->wait, sizeof h->wait},
                {h->row, sizeof h->row},
                {h->at, sizeof h->at},
                {h->copy, sizeof h->copy}};
  size_t t = random_below(seed, sizeof tables / sizeof *tables);
  uint32_t *word = tables[t].table;
  word += random_below(seed, tables[t].bytes / sizeof *word);
  *word = random_below(seed, 2)
              ? values[random_below(seed, sizeof values / sizeof *values)]
              : *word + (uint32_t)random_below(seed, 3) - 1;
}

Test(plan_check, random_spoils_are_passed_or_refused) {
  uint64_t seed = 1;
  int passed = 0, refused = 0;
  for (int i = 0; i < 6000; i++) {
    struct hand h;
    char why[480] = "";
    hand_make(&h);
    for (uint64_t n = 1 + random_below(&seed, 2); n > 0; n--) {
      spoil_anything(&h, &seed);
    }
    steprt_status s = rt_plan_check(&h.plan, &h.program, why, sizeof why);
    cr_assert(s == STEPRT_OK || (s == STEPRT_BAD_PROGRAM && *why != '\0'), "%d: %d", i,
              s);
    passed += s == STEPRT_OK;
    refused += s != STEPRT_OK;
  }
  cr_assert(passed > 100 && refused > 3000, "%d %d", passed, refused);
}

// ---- the planner's

struct planned {
  const char *spec, *model, *offload;
  bool cuda;
  uint64_t chunk_bytes;
};

static void check_round_trip(const struct rt_plan *plan,
                             const struct steprt_program *program, const char *what) {
  char why[480] = "";
  uint64_t n, m;
  struct rt_plan *again;
  cr_assert_eq(rt_plan_check(plan, program, why, sizeof why), STEPRT_OK, "%s: %s", what,
               why);
  char *text = rt_plan_to_json(plan, &n);
  cr_assert_eq(rt_plan_from_json(text, n, &again, why, sizeof why), STEPRT_OK, "%s: %s",
               what, why);
  char *same = rt_plan_to_json(again, &m);
  cr_assert(n == m && memcmp(text, same, n) == 0, "%s", what);
  cr_assert_eq(rt_plan_check(again, program, why, sizeof why), STEPRT_OK, "%s: %s", what,
               why);
  free(text);
  free(same);
  rt_plan_free(again);
}

Test(plan_check, plans_of_the_planner_pass_and_round_trip) {
  static const struct planned cases[] = {
      {"specs/adamw.opt", "tests/models/tiny.json", "none", false, 0},
      {"specs/gpt.opt", "tests/models/tiny.json", "host", false, 4096},
      {"specs/gpt.opt", "tests/models/tiny-bf16.json", "host:0.5", true, 16384},
      {"specs/gpt.opt", "tests/models/gpt2-124m.json", "host", false, 0},
      {"specs/gpt.opt", "tests/models/qwen3-30b-a3b-rank.json", "host", true, 0},
      {"specs/gpt.opt", "tests/models/qwen3-30b-a3b-index.json", "host", true, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct planned *c = &cases[i];
    struct plan_job j;
    plan_job_open(&j, c->spec, c->model, c->cuda);
    const struct plan_options o = {.offload = str_of(c->offload),
                                   .chunk_bytes = c->chunk_bytes};
    const struct rt_plan *plan = plan_job_plan(&j, &o);
    cr_assert_not_null(plan, "%s", plan_job_said(&j));
    check_round_trip(plan, j.driver.step, c->model);
    plan_job_close(&j);
  }
}
