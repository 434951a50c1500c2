// plan.json: a round trip to the byte, edited texts, mistakes named one by one.
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

Test(plan_json, the_hand_made_plan_is_good) {
  struct hand h;
  char why[480] = "";
  hand_make(&h);
  cr_assert_eq(rt_plan_check(&h.plan, NULL, why, sizeof why), STEPRT_OK, "%s", why);
  cr_assert_eq(rt_plan_check(&h.plan, &h.program, why, sizeof why), STEPRT_OK, "%s", why);
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
