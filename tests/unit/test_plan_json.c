// plan.json: a round trip to the byte, edited texts, mistakes named one by one.
#include "support/edits.h"
#include "support/golden.h"
#include "support/hand_plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *write_hand(struct hand *h, uint64_t *n) {
  hand_make(h);
  char *text = rt_plan_to_json(&h->plan, n);
  cr_assert_not_null(text);
  return text;
}

Test(plan_json, a_round_trip_gives_the_same_bytes) {
  struct hand h;
  struct rt_plan *plan;
  char why[480] = "";
  uint64_t n, n2;
  char *text = write_hand(&h, &n);
  cr_assert_eq(rt_plan_from_json(text, n, &plan, why, sizeof why), STEPRT_OK, "%s", why);
  char *again = rt_plan_to_json(plan, &n2);
  cr_assert(n == n2 && memcmp(text, again, n) == 0);
  cr_assert_eq(rt_plan_check(plan, &h.program, why, sizeof why), STEPRT_OK, "%s", why);
  cr_assert_str_eq(plan->param[HAND_V].name, h.param[HAND_V].name);
  free(text);
  free(again);
  rt_plan_free(plan);
}

static const struct edit edits[] = {
#define EDIT(from, to, says) {from, to, says},
#include "bad_plan_texts.def"
#undef EDIT
};

Test(plan_json, each_edit_is_named) {
  struct hand h;
  uint64_t n;
  char *text = write_hand(&h, &n);
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    struct rt_plan *plan;
    char why[480] = "", *copy = edited(text, &edits[i]);
    cr_expect_eq(rt_plan_from_json(copy, strlen(copy), &plan, why, sizeof why),
                 STEPRT_BAD_INPUT);
    cr_expect_null(plan);
    cr_expect_str_eq(why, edits[i].says, "row %d: %s", (int)i, why);
    free(copy);
  }
  free(text);
}

// What says the same in another form is the same plan.
Test(plan_json, spaces_and_the_order_of_members_do_not_matter) {
  static const struct edit same[] = {
      {"\"slots\": 3, \"overlap\": false", "\"overlap\":false ,\n  \"slots\":3", ""},
      {"\"buckets\": []\n", "\"buckets\": [ ]", ""}};
  struct hand h;
  uint64_t n;
  char *text = write_hand(&h, &n);
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    struct rt_plan *plan;
    char why[480] = "", *copy = edited(text, &same[i]);
    cr_expect_eq(rt_plan_from_json(copy, strlen(copy), &plan, why, sizeof why), STEPRT_OK,
                 "%s", why);
    rt_plan_free(plan);
    free(copy);
  }
  free(text);
}

// Another value in a good form is another plan: the digest tells.
Test(plan_json, a_changed_plan_is_refused_by_its_digest) {
  static const struct edit changes[] = {{"\"ahead\": 4", "\"ahead\": 5", ""},
                                        {"frozen: no update", "frozen: an update", ""}};
  struct hand h;
  uint64_t n;
  char *text = write_hand(&h, &n);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    struct rt_plan *plan;
    char why[480] = "", *copy = edited(text, &changes[i]);
    cr_expect_eq(rt_plan_from_json(copy, strlen(copy), &plan, why, sizeof why),
                 STEPRT_BAD_INPUT);
    cr_expect_eq(strncmp(why, "the plan was changed: its digest is ", 36), 0, "%s", why);
    free(copy);
  }
  free(text);
}

// What ranks must agree on is the same for both ranks, whatever lies where on each.
Test(plan_json, ranks_agree_and_differ) {
  struct hand h;
  char agreed[65], digest[65];
  hand_make(&h);
  memcpy(agreed, h.plan.agreed, sizeof agreed);
  memcpy(digest, h.plan.digest, sizeof digest);
  h.plan.configuration.rank = 0;
  h.param[HAND_W].start[0] = 0;
  cr_assert(rt_plan_seal(&h.plan, &h.program));
  cr_assert_str_eq(agreed, h.plan.agreed);
  cr_assert_str_neq(digest, h.plan.digest);
  h.plan.configuration.slots = 4;
  cr_assert(rt_plan_seal(&h.plan, &h.program));
  cr_assert_str_neq(agreed, h.plan.agreed);
}

// What a reviewer reads; also a seed of the fuzzer.
Test(plan_json, the_text_is_as_committed) {
  struct hand h;
  uint64_t n;
  hand_make(&h);
  char *text = rt_plan_to_json(&h.plan, &n);
  cr_assert_not_null(text);
  struct arena *a = arena_new(0);
  struct str trouble =
      golden_compare(a, "tests/data/plan/hand.json", (struct str){text, n});
  cr_assert_eq(trouble.n, 0, "%s", trouble.p);
  arena_free(a);
  free(text);
}
