// Any bytes as plan.json: refused with a reason, or a plan that passes the checks again, whose ranges lie within its
// memory and whose text reads back as itself.
#include "fuzz/fuzz.h"
#include "plan/plan_json.h"

#include <stdlib.h>
#include <string.h>

static void check(bool ok) {
  if (!ok) {
    abort();
  }
}

static bool check_range(void *ctx, struct rt_at at, uint64_t bytes, bool is_write) {
  const struct rt_plan *p = ctx;
  uint64_t size = at.space == RT_AT_STATE   ? p->state_bytes
                  : at.space == RT_AT_HOST  ? p->host_bytes
                  : at.space == RT_AT_ARENA ? p->arena_bytes
                  : at.space == RT_AT_STEP  ? p->step_bytes
                                            : 0;
  if (at.space == RT_AT_PARAM || at.space == RT_AT_GRAD) {
    const struct rt_plan_param *v = &p->param[at.index];
    check(at.index < p->n_params && !(is_write && at.space == RT_AT_GRAD));
    size = v->numel * rt_storage_bytes(at.space == RT_AT_GRAD ? v->grad : v->storage);
  }
  check(at.offset <= size && bytes <= size - at.offset);
  return true;
}

static void check_plan(struct rt_plan *p) {
  char why[480];
  uint64_t n, m;
  check(rt_plan_check(p, NULL, why, sizeof why) == STEPRT_OK);
  for (uint32_t i = 0; i < p->n_init; i++) {
    rt_op_ranges(p, &p->init[i], check_range, p);
  }
  for (uint32_t i = 0; i < p->n_ops; i++) {
    rt_op_ranges(p, &p->op[i], check_range, p);
  }
  char *text = rt_plan_to_json(p, &n);
  check(text != NULL);
  struct rt_plan *again = NULL;
  check(rt_plan_from_json(text, n, &again, why, sizeof why) == STEPRT_OK);
  char *same = rt_plan_to_json(again, &m);
  check(same != NULL && n == m && memcmp(text, same, n) == 0);
  rt_plan_free(again);
  free(text);
  free(same);
}

// No fuzzer finds a digest: the reader gives the one that it expected, and the text is tried again with it.
static struct rt_plan *read_plan(char *text, size_t n) {
  static const char said[] = "digest is ", says[] = ", the text says ";
  struct rt_plan *plan;
  for (int attempt = 0;; attempt++) {
    char why[480] = "";
    steprt_status s = rt_plan_from_json(text, n, &plan, why, sizeof why);
    const char *is = strstr(why, said), *was = strstr(why, says);
    check(s == STEPRT_OK || (s == STEPRT_BAD_INPUT && *why != '\0' && plan == NULL));
    char *at = is != NULL && was != NULL && attempt < 3
                   ? strstr(text, was + sizeof says - 1)
                   : NULL;
    if (at == NULL) {
      return plan;
    }
    memcpy(at, is + sizeof said - 1, 64);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  check(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  struct rt_plan *plan = read_plan(text, size);
  if (plan != NULL) {
    check_plan(plan);
  }
  rt_plan_free(plan);
  free(text);
  return 0;
}
