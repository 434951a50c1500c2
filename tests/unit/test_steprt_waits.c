// Waits and what orders calls: a caller ahead of its lanes, an early begin, questions inside a step, streams of another
// device, fork.
#include "core/handle.h"
#include "support/tiny_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t sizes[TINY_PARAMS] = {30000, 777, 64, 9000};

static const struct tiny_plan_options streams = {.host = true, .piece = 4096};

static steprt_status begin(struct tiny_run *r) {
  const struct steprt_step step = {.size = sizeof step,
                                   .grads = (const void *const *)r->grad};
  return steprt_begin(r->rt, &step);
}

static void step_without_wait(struct tiny_run *r) {
  cr_assert_eq(begin(r), STEPRT_OK, "%s", steprt_error(r->rt));
  cr_assert_eq(steprt_run(r->rt, NULL), STEPRT_OK, "%s", steprt_error(r->rt));
  cr_assert_eq(steprt_end(r->rt), STEPRT_OK, "%s", steprt_error(r->rt));
}

// ---- waits that are counted

Test(steprt_waits, begin_reads_the_verdict_of_the_step_before) {
  struct tiny_run a, b;
  struct steprt_counters c = {.size = sizeof c};
  tiny_run_planned(&a, sizes, 2, 32, &streams);
  tiny_run_new(&b, sizes, 2, 32);
  float *grad = a.grad[0], kept = grad[5];
  for (int i = 0; i < 6; i++) {
    grad[5] = i % 2 ? NAN : kept;
    step_without_wait(&a);
    cr_assert_eq(steprt_grads_done(a.rt, NULL), STEPRT_OK);
    if (i % 2 == 0) {
      tiny_run_step(&b);
    }
  }
  cr_assert_eq(steprt_wait_all(a.rt), STEPRT_OK);
  tiny_run_compare(&a, &b);
  cr_assert_eq(steprt_counters(a.rt, &c), STEPRT_OK);
  cr_assert_eq(c.verdict_waits, 5);
  cr_assert_eq(c.waits, 6); // grads_done blocks here
  cr_assert_eq(steprt_counters(b.rt, &c), STEPRT_OK);
  cr_assert_eq(c.verdict_waits, 0); // wait_all had seen it
  tiny_run_free(&a);
  tiny_run_free(&b);
}

// Who asks for a count inside a step that may be skipped waits, and is counted (L2).
Test(steprt_waits, a_question_that_waits_is_counted) {
  struct tiny_run r;
  struct steprt_counters c = {.size = sizeof c};
  tiny_run_planned(&r, sizes, 2, 44, &streams);
  step_without_wait(&r);
  cr_assert_eq(steprt_count(r.rt, 0), 1);
  cr_assert_eq(steprt_host_state(r.rt, 0, 0), 0.9); // known by now
  cr_assert_eq(steprt_wait_all(r.rt), STEPRT_OK);
  cr_assert_eq(steprt_count(r.rt, 0), 1);
  cr_assert_eq(steprt_counters(r.rt, &c), STEPRT_OK);
  cr_assert_eq(c.waits, 1);
  tiny_run_free(&r);
}

// ---- a caller ahead of its lanes

static rt_map_fn update_fn;

static void slow_update(void *const *ptr, const float *scalar, uint64_t begin,
                        uint64_t end) {
  usleep(300);
  update_fn(ptr, scalar, begin, end);
}

// What a step has brought to the device is not overwritten by the steps that follow, however far they are ahead.
Test(steprt_waits, a_caller_far_ahead_waits_and_is_counted) {
  struct tiny_run slow, plain;
  struct steprt_counters c = {.size = sizeof c};
  tiny_run_planned(&slow, sizes, 2, 40, &streams);
  tiny_run_new(&plain, sizes, 2, 40);
  slow.tiny.program.skips_nonfinite = plain.tiny.program.skips_nonfinite = false;
  update_fn = slow.tiny.kernel[TINY_UPDATE].fn;
  slow.tiny.kernel[TINY_UPDATE].fn = slow_update;
  for (int i = 0; i < 12; i++) {
    steprt_set_hyper(slow.rt, TINY_LR, 0.1 + 0.05 * i);
    steprt_set_hyper(plain.rt, TINY_LR, 0.1 + 0.05 * i);
    step_without_wait(&slow);
    tiny_run_step(&plain);
    cr_assert_eq(steprt_counters(slow.rt, &c), STEPRT_OK);
    cr_assert(i >= RT_STAGES || c.waits == 0);
  }
  cr_assert_gt(c.waits, 0);
  cr_assert_eq(steprt_wait_all(slow.rt), STEPRT_OK);
  tiny_run_compare(&slow, &plain);
  tiny_run_free(&slow);
  tiny_run_free(&plain);
}

// ---- streams

static char other_stream;

static steprt_status check_stream(struct rt_device *d, const void *const *grads,
                                  void *stream) {
  (void)d;
  (void)grads;
  return stream == &other_stream ? STEPRT_BAD_ARGUMENT : STEPRT_OK;
}

// A stream of another device is refused by each call that takes one, before anything is enqueued; the step goes on.
Test(steprt_waits, a_foreign_stream_costs_nothing) {
  struct tiny_run r, plain;
  struct rt_device_class class = rt_device_cpu;
  class.check = check_stream;
  tiny_run_new(&plain, sizes, 1, 42);
  tiny_run_planned(&r, sizes, 2, 42, &streams);
  steprt_destroy(r.rt);
  cr_assert_eq(rt_open_with_class(&r.tiny.program, NULL, &class, &r.rt), STEPRT_OK);
  cr_assert_eq(steprt_bind(r.rt, r.param), STEPRT_OK);
  struct steprt_step step = {sizeof step, (const void *const *)r.grad, &other_stream};
  cr_assert_eq(steprt_begin(r.rt, &step), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(begin(&r), STEPRT_OK);
  const uint32_t units[] = {0, 1};
  struct steprt_set set = {
      .size = sizeof set, .units = units, .n = 2, .stream = &other_stream};
  cr_assert_eq(steprt_run(r.rt, &set), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_wait_order(r.rt, 0, &other_stream), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_grads_done(r.rt, &other_stream), STEPRT_BAD_ARGUMENT);
  set.stream = NULL;
  cr_assert_eq(steprt_run(r.rt, &set), STEPRT_OK, "%s", steprt_error(r.rt));
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_end(r.rt), STEPRT_OK);
  cr_assert_eq(steprt_wait_all(r.rt), STEPRT_OK);
  tiny_run_step(&plain);
  tiny_run_compare(&r, &plain);
  tiny_run_free(&r);
  tiny_run_free(&plain);
}

// A begin that comes early enqueues the rest of the step before; until units run again wait_order waits for that one.
Test(steprt_waits, wait_order_after_an_early_begin) {
  static const struct tiny_plan_options overlap = {
      .host = true, .piece = 4096, .overlap = true, .first_ahead = 3, .ahead = 2};
  struct tiny_run r, plain;
  tiny_run_new(&plain, sizes, 1, 43);
  tiny_run_planned(&r, sizes, 2, 43, &overlap);
  update_fn = r.tiny.kernel[TINY_UPDATE].fn;
  r.tiny.kernel[TINY_UPDATE].fn = slow_update;
  step_without_wait(&r);
  cr_assert_eq(begin(&r), STEPRT_OK);
  cr_assert_eq(steprt_wait_order(r.rt, 9, NULL), STEPRT_OK);
  tiny_run_step(&plain);
  for (uint32_t i = 0; i < TINY_PARAMS; i++) {
    cr_assert_arr_eq(r.param[i], plain.param[i], sizes[i] * sizeof(float), "%u", i);
  }
  tiny_run_free(&r);
  tiny_run_free(&plain);
}

// ---- fork

// A child has no lanes: its thread does everything, with the same bits.
Test(steprt_waits, a_child_of_fork_steps_alone) {
  struct tiny_run r;
  tiny_run_planned(&r, sizes, 3, 38, &streams);
  tiny_run_step(&r);
  pid_t child = fork();
  if (child == 0) {
    tiny_run_step(&r);
    uint64_t hash = tiny_run_hash(&r);
    tiny_run_free(&r);
    _exit((int)(hash % 251));
  }
  int status;
  cr_assert_eq(waitpid(child, &status, 0), child);
  tiny_run_step(&r);
  cr_assert(WIFEXITED(status));
  cr_assert_eq(WEXITSTATUS(status), (int)(tiny_run_hash(&r) % 251));
  tiny_run_free(&r);
}

// Nobody would finish that step in the child: every call says so.
Test(steprt_waits, a_child_of_a_fork_inside_a_step_is_told) {
  static const char text[] = "this process was forked in the middle of a step";
  for (int ended = 0; ended < 2; ended++) {
    struct tiny_run r;
    tiny_run_planned(&r, sizes, 2, 41, &streams);
    update_fn = r.tiny.kernel[TINY_UPDATE].fn;
    r.tiny.kernel[TINY_UPDATE].fn = slow_update;
    cr_assert_eq(begin(&r), STEPRT_OK);
    cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_OK);
    cr_assert(!ended || !steprt_end(r.rt));
    pid_t child = fork();
    if (child == 0) {
      steprt_status s = ended ? begin(&r) : steprt_wait_all(r.rt);
      bool told = s == STEPRT_FAILED && strcmp(steprt_error(r.rt), text) == 0;
      steprt_destroy(r.rt);
      _exit(told ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_assert_eq(steprt_wait_all(r.rt), STEPRT_OK);
    tiny_run_free(&r);
  }
}
