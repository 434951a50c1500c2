// Plans, programs and bundles when memory runs out at any one place: a status with a reason. What
// would be left behind is the leak checker's to find.
#include "plan/bundle.h"
#include "plan/plan_json.h"
#include "plan/program_json.h"
#include "support/fault_alloc.h"
#include "support/hand_plan.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct hand hand;
static char *text;
static uint64_t n;

static steprt_status read_plan(char *why, size_t n_why) {
  struct rt_plan *plan;
  steprt_status s = rt_plan_from_json(text, n, &plan, why, n_why);
  if (s == STEPRT_OK) {
    s = rt_plan_check(plan, &hand.program, why, n_why);
  }
  rt_plan_free(plan);
  return s;
}

static steprt_status read_program(char *why, size_t n_why) {
  struct steprt_program *program;
  steprt_status s = rt_program_from_json(text, n, &program, NULL, why, n_why);
  rt_program_free(program);
  return s;
}

static steprt_status write_both(char *why, size_t n_why) {
  uint64_t length;
  char *plan = rt_plan_to_json(&hand.plan, &length);
  char *program = rt_program_to_json(&hand.program, &length);
  bool ok = plan != NULL && program != NULL && rt_plan_seal(&hand.plan, &hand.program);
  free(plan);
  free(program);
  (void)snprintf(why, n_why, "out of memory");
  return ok ? STEPRT_OK : STEPRT_NO_MEMORY;
}

// Fails each allocation in turn until none is left to fail.
static void starve(steprt_status (*call)(char *why, size_t n_why)) {
  steprt_status s = STEPRT_NO_MEMORY;
  int failed = 0;
  for (uint64_t at = 1; s != STEPRT_OK; at++, failed++) {
    char why[480] = "";
    fault_alloc_reset(at);
    s = call(why, sizeof why);
    fault_alloc_reset(0);
    cr_assert(s == STEPRT_OK || s == STEPRT_NO_MEMORY, "allocation %d: %d %s", (int)at, s,
              why);
    cr_assert(s == STEPRT_OK || *why != '\0');
  }
  cr_assert_gt(failed, 0);
}

Test(plan_memory, a_plan_is_read_or_there_is_no_memory) {
  hand_make(&hand);
  text = rt_plan_to_json(&hand.plan, &n);
  starve(read_plan);
  free(text);
}

Test(plan_memory, a_program_is_read_or_there_is_no_memory) {
  hand_make_cuda(&hand);
  text = rt_program_to_json(&hand.program, &n);
  starve(read_program);
  free(text);
}

Test(plan_memory, both_are_written_or_there_is_no_memory) {
  hand_make_cuda(&hand);
  starve(write_both);
}
