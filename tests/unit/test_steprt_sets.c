// Sets of units: any partition of a step into sets gives the bits of the plain one, wherever states rest; what a set
// may not be is refused and costs nothing.
#include "core/handle.h"
#include "random.h"
#include "support/tiny_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const uint64_t sizes[TINY_PARAMS] = {30000, 777, 64, 9000};

static const struct tiny_plan_options plans[] = {
    {0},
    {.pair = true},
    {.host = true},
    {.host = true, .together = 2},
    {.host = true, .together = 3, .slots = 4},
    {.host = true, .piece = 4096},
    {.host = true, .piece = 8192, .slots = 8, .pair = true},
    {.host = true, .overlap = true, .piece = 4096, .first_ahead = 2, .ahead = 1},
    {.overlap = true},
};
enum { N_PLANS = sizeof plans / sizeof *plans };

static steprt_status begin(struct tiny_run *r) {
  const struct steprt_step step = {.size = sizeof step,
                                   .grads = (const void *const *)r->grad};
  return steprt_begin(r->rt, &step);
}

// What changes between steps: hypers, a gradient left out, one that is not finite.
struct kept {
  void *grad;
  float value;
};
static struct kept set_step(struct tiny_run *r, int step) {
  struct kept k = {r->grad[1], ((float *)r->grad[0])[11]};
  steprt_set_hyper(r->rt, TINY_LR, 0.1 + 0.01 * step);
  steprt_set_hyper(r->rt, TINY_CLIP, step % 2 ? 0.7 : 1e30);
  r->grad[1] = step == 2 ? NULL : k.grad;
  ((float *)r->grad[0])[11] = step == 3 ? NAN : k.value;
  return k;
}
static void unset_step(struct tiny_run *r, struct kept k) {
  r->grad[1] = k.grad;
  ((float *)r->grad[0])[11] = k.value;
}

// All units in random sets, by unit or by parameter, in random order; the rest with NULL at times.
static void run_in_sets(struct tiny_run *r, uint64_t *seed) {
  uint32_t unit_of[TINY_PARAMS], order[TINY_PARAMS], params[TINY_PARAMS];
  uint32_t n = steprt_units(r->rt, unit_of);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t j = (uint32_t)random_below(seed, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  for (uint32_t at = 0; at < n;) {
    if (random_below(seed, 5) == 0) {
      cr_assert_eq(steprt_run(r->rt, NULL), STEPRT_OK, "%s", steprt_error(r->rt));
      return;
    }
    struct steprt_set set = {.size = sizeof set, .units = order + at};
    uint32_t units = 1 + (uint32_t)random_below(seed, n - at);
    set.n = units;
    if (random_below(seed, 2)) {
      set = (struct steprt_set){.size = sizeof set, .params = params};
      for (uint32_t u = at; u < at + units; u++) {
        for (uint32_t i = 0; i < TINY_PARAMS; i++) {
          params[set.n] = i;
          set.n += unit_of[i] == order[u];
        }
      }
    }
    cr_assert_eq(steprt_run(r->rt, &set), STEPRT_OK, "%s", steprt_error(r->rt));
    at += units;
  }
}

Test(steprt_sets, any_partition_gives_the_bits_of_the_plain_step) {
  enum { STEPS = 6 };
  uint64_t seed = 5;
  static struct tiny_run plain, r;
  tiny_run_new(&plain, sizes, 1, 21);
  for (int step = 0; step < STEPS; step++) {
    struct kept k = set_step(&plain, step);
    tiny_run_step(&plain);
    unset_step(&plain, k);
  }
  for (int round = 0; round < 2 * N_PLANS; round++) {
    tiny_run_planned(&r, sizes, 1 + (uint32_t)round % 3, 21, &plans[round % N_PLANS]);
    for (int step = 0; step < STEPS; step++) {
      struct kept k = set_step(&r, step);
      cr_assert_eq(begin(&r), STEPRT_OK, "%s", steprt_error(r.rt));
      run_in_sets(&r, &seed);
      cr_assert_eq(steprt_end(r.rt), STEPRT_OK, "%s", steprt_error(r.rt));
      if (step == 3 || random_below(&seed, 2)) { // gradients are about to change
        cr_assert_eq(steprt_wait_all(r.rt), STEPRT_OK, "%s", steprt_error(r.rt));
      }
      cr_assert_eq(steprt_wait_order(r.rt, random_below(&seed, 5), NULL), STEPRT_OK);
      if (step == 2) {
        cr_assert_eq(steprt_grads_done(r.rt, NULL), STEPRT_OK);
      }
      unset_step(&r, k);
    }
    tiny_run_compare(&plain, &r);
    tiny_run_free(&r);
  }
  tiny_run_free(&plain);
}

// ---- refusals

static void expect_refused(struct tiny_run *r, struct steprt_set set, steprt_status s,
                           const char *text) {
  set.size = sizeof set;
  cr_assert_eq(steprt_run(r->rt, &set), s, "%s", text);
  cr_assert_str_eq(steprt_error(r->rt), text);
}

Test(steprt_sets, what_is_no_union_of_whole_units_is_refused) {
  struct tiny_run r, plain;
  tiny_run_new(&plain, sizes, 1, 22);
  tiny_run_planned(&r, sizes, 1, 22, &(struct tiny_plan_options){.pair = true});
  tiny_run_step(&plain);
  cr_assert_eq(begin(&r), STEPRT_OK);
  const uint32_t half[] = {1}, frozen[] = {0, TINY_FROZEN}, unknown[] = {0, 9},
                 twice[] = {0, 0}, second[] = {1}, good[] = {3, 1};
  expect_refused(&r, (struct steprt_set){.params = half, .n = 1}, STEPRT_BAD_ARGUMENT,
                 "run: parameter 'v' updates together with 'h', which is not in the set");
  expect_refused(&r, (struct steprt_set){.params = frozen, .n = 2}, STEPRT_BAD_ARGUMENT,
                 "run: parameter 'frozen' has no rule");
  expect_refused(&r, (struct steprt_set){.params = unknown, .n = 2}, STEPRT_BAD_ARGUMENT,
                 "run: there is no parameter 9, only 4");
  expect_refused(&r, (struct steprt_set){.units = unknown, .n = 2}, STEPRT_BAD_ARGUMENT,
                 "run: there is no unit 9, only 2");
  expect_refused(&r, (struct steprt_set){.units = twice, .n = 2}, STEPRT_BAD_ARGUMENT,
                 "run: unit 0 ('w') is named twice");
  expect_refused(&r, (struct steprt_set){.params = twice, .n = 2}, STEPRT_BAD_ARGUMENT,
                 "run: parameter 'w' is named twice");
  expect_refused(&r, (struct steprt_set){.n = 1}, STEPRT_BAD_ARGUMENT,
                 "run: a set has units or parameters, one of the two");
  expect_refused(&r, (struct steprt_set){.units = twice, .params = twice, .n = 1},
                 STEPRT_BAD_ARGUMENT,
                 "run: a set has units or parameters, one of the two");
  cr_assert_eq(steprt_run(r.rt, &(struct steprt_set){.size = 3}), STEPRT_BAD_ARGUMENT);
  struct steprt_set set = {.size = sizeof set, .params = good, .n = 2};
  cr_assert_eq(steprt_run(r.rt, &set), STEPRT_OK, "%s", steprt_error(r.rt));
  expect_refused(&r, (struct steprt_set){.units = second, .n = 1}, STEPRT_BAD_STATE,
                 "run: unit 1 ('v') has run in this step");
  cr_assert_eq(steprt_end(r.rt), STEPRT_BAD_STATE);
  cr_assert_str_eq(steprt_error(r.rt), "end: unit 0 ('w') has not run; 1 are left out");
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_OK); // the step stayed open
  cr_assert_eq(steprt_end(r.rt), STEPRT_OK);
  cr_assert_eq(steprt_wait_all(r.rt), STEPRT_OK);
  tiny_run_compare(&plain, &r);
  tiny_run_free(&plain);
  tiny_run_free(&r);
}

Test(steprt_sets, an_empty_set_runs_nothing) {
  struct tiny_run r;
  tiny_run_new(&r, sizes, 1, 23);
  cr_assert_eq(begin(&r), STEPRT_OK);
  cr_assert_eq(steprt_run(r.rt, &(struct steprt_set){.size = sizeof(struct steprt_set)}),
               STEPRT_OK);
  cr_assert_eq(steprt_end(r.rt), STEPRT_BAD_STATE);
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_end(r.rt), STEPRT_OK);
  tiny_run_free(&r);
}

// ---- overlap

static uint64_t enqueued(const struct tiny_run *r) {
  uint64_t n = 0;
  for (uint32_t c = 0; c < r->rt->plan->n_chunks; c++) {
    n += r->rt->chunk_issued[c] > 0;
  }
  return n;
}

Test(steprt_sets, under_overlap_chunks_are_enqueued_as_they_are_needed) {
  struct tiny_run r, plain;
  tiny_run_new(&plain, sizes, 1, 24);
  // w in 8 chunks, v in one, h in 3; a parameter's order is its index
  tiny_run_planned(
      &r, sizes, 2, 24,
      &(struct tiny_plan_options){
          .host = true, .piece = 4096, .overlap = true, .first_ahead = 3, .ahead = 2});
  tiny_run_step(&plain);
  tiny_run_step(&plain);
  cr_assert_eq(begin(&r), STEPRT_OK);
  cr_assert_eq(steprt_wait_order(r.rt, 9, NULL), STEPRT_OK);
  cr_assert_eq(enqueued(&r), 0);
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_OK);
  cr_assert_eq(enqueued(&r), 3);
  cr_assert_eq(steprt_end(r.rt), STEPRT_OK);
  cr_assert_eq(steprt_wait_order(r.rt, 0, NULL), STEPRT_OK);
  cr_assert_eq(enqueued(&r), 8 + 2);
  cr_assert_eq(steprt_wait_order(r.rt, 1, NULL), STEPRT_OK);
  cr_assert_eq(enqueued(&r), 9 + 2);
  struct steprt_counters c = {.size = sizeof c};
  cr_assert_eq(steprt_counters(r.rt, &c), STEPRT_OK);
  cr_assert(c.order_waits == 2 && c.waits == 0);
  cr_assert_eq(begin(&r), STEPRT_OK); // enqueues the rest of the step before
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_end(r.rt), STEPRT_OK);
  cr_assert_eq(steprt_wait_all(r.rt), STEPRT_OK);
  cr_assert_eq(enqueued(&r), 12);
  tiny_run_compare(&plain, &r);
  tiny_run_free(&plain);
  tiny_run_free(&r);
}
