// What a trainer sees beside the values of a step: skipped steps, states, sizes, the trace, failures.
#include "core/handle.h"
#include "support/tiny_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

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

// ---- skipped steps

// Whatever is asked first after a skipped step sees that it was skipped.
Test(steprt_calls, a_skipped_step_is_seen_by_every_question) {
  for (int question = 0; question < 6; question++) {
    struct tiny_run r;
    struct steprt_report report = {.size = sizeof report};
    tiny_run_planned(&r, sizes, 2, 31, question % 2 ? &streams : NULL);
    tiny_run_step(&r);
    ((float *)r.grad[0])[17] = INFINITY;
    step_without_wait(&r);
    switch (question) {
    case 0: cr_assert_eq(steprt_count(r.rt, 0), 1); break;
    case 1: cr_assert_eq(steprt_host_state(r.rt, 0, 0), 0.9); break;
    case 2:
      cr_assert_eq(steprt_report(r.rt, &report), STEPRT_OK);
      cr_assert_eq(report.skipped, 1);
      break;
    case 3: cr_assert_eq(steprt_set_count(r.rt, 1, 41), STEPRT_OK); break;
    case 4: cr_assert_eq(steprt_set_host_state(r.rt, 1, 0, 0.25), STEPRT_OK); break;
    default: cr_assert_eq(steprt_wait_all(r.rt), STEPRT_OK); break;
    }
    cr_assert_eq(steprt_count(r.rt, 0), 1, "%d", question);
    cr_assert_eq(steprt_host_state(r.rt, 0, 0), 0.9, "%d", question);
    cr_assert_eq(steprt_host_state(r.rt, 0, 1), 0.5, "%d", question);
    cr_assert_eq(steprt_count(r.rt, 1), question == 3 ? 41 : 1);
    cr_assert_eq(steprt_host_state(r.rt, 1, 0), question == 4 ? 0.25 : 0.9);
    tiny_run_free(&r);
  }
}

// Refused after a step that may have been skipped: the refusal comes first and takes nothing back or forth.
Test(steprt_calls, a_refused_begin_changes_nothing) {
  struct tiny_run r;
  tiny_run_planned(&r, sizes, 2, 33, &streams);
  step_without_wait(&r);
  steprt_set_hyper(r.rt, TINY_LR, 5);
  cr_assert_eq(begin(&r), STEPRT_RANGE);
  steprt_set_hyper(r.rt, TINY_LR, 0.1);
  cr_assert_eq(steprt_count(r.rt, 0), 1);
  step_without_wait(&r);
  cr_assert_eq(steprt_count(r.rt, 0), 2);
  tiny_run_free(&r);
}

// ---- states

Test(steprt_calls, states_are_copied_wherever_they_lie) {
  struct tiny_run r;
  float *copy = malloc(sizes[0] * sizeof *copy);
  for (int host = 0; host < 2; host++) {
    tiny_run_planned(&r, sizes, 2, 34, host ? &streams : NULL);
    step_without_wait(&r);
    cr_assert_eq(steprt_state_get(r.rt, 0, "m", copy, sizes[0] * 4), STEPRT_OK);
    cr_assert_arr_eq(copy, steprt_state(r.rt, 0, "m", NULL), sizes[0] * 4);
    cr_assert_neq(copy[1], 0);
    copy[1] = 7;
    cr_assert_eq(steprt_state_set(r.rt, 0, "m", copy, sizes[0] * 4), STEPRT_OK);
    cr_assert_eq(((float *)steprt_state(r.rt, 0, "m", NULL))[1], 7);
    tiny_run_free(&r);
  }
  free(copy);
}

Test(steprt_calls, what_is_no_state_is_refused) {
  struct tiny_run r;
  float x[777];
  tiny_run_new(&r, sizes, 1, 35);
  cr_assert_eq(steprt_state_get(r.rt, 1, "u", x, sizeof x), STEPRT_BAD_ARGUMENT);
  cr_assert_str_eq(steprt_error(r.rt), "state_get: parameter 1 has no state 'u'");
  cr_assert_eq(steprt_state_get(r.rt, 1, "m", x, 4), STEPRT_BAD_ARGUMENT);
  cr_assert_str_eq(steprt_error(r.rt), "state_get: 'v/m' has 3108 bytes, not 4");
  cr_assert_eq(steprt_state_set(r.rt, 9, "m", x, sizeof x), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_state_set(r.rt, 1, NULL, x, sizeof x), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_state_set(r.rt, 1, "m", NULL, sizeof x), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_state_get(r.rt, 1, "m", NULL, sizeof x), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(begin(&r), STEPRT_OK);
  cr_assert_eq(steprt_state_get(r.rt, 1, "m", x, sizeof x), STEPRT_BAD_STATE);
  cr_assert_null(steprt_state(r.rt, 1, "m", NULL));
  tiny_run_free(&r);
}

// ---- bind

Test(steprt_calls, parameters_that_overlap_or_have_another_size_are_refused) {
  static struct tiny t;
  struct steprt *rt;
  char *memory = calloc(1, 1 << 12);
  tiny_make(&t, (uint64_t[]){8, 8, 8, 8});
  cr_assert_eq(steprt_open(&t.program, NULL, &rt), STEPRT_OK);
  void *param[] = {memory + 128, memory + 100, NULL, memory + 512};
  uint64_t bytes[] = {32, 32, 99, 28};
  cr_assert_eq(steprt_bind(rt, param), STEPRT_BAD_ARGUMENT);
  cr_assert_str_eq(steprt_error(rt), "parameters 'v' and 'w' share memory");
  param[1] = memory + 96;
  cr_assert_eq(steprt_bind_sized(rt, param, bytes), STEPRT_BAD_ARGUMENT);
  cr_assert_str_eq(steprt_error(rt), "parameter 'h' has 28 bytes, not 32");
  cr_assert_eq(steprt_bind_sized(rt, param, NULL), STEPRT_BAD_ARGUMENT);
  bytes[3] = 32;
  cr_assert_eq(steprt_bind_sized(rt, param, bytes), STEPRT_OK, "%s", steprt_error(rt));
  steprt_destroy(rt);
  free(memory);
}

// A parameter without elements needs no address, and has a size all the same.
Test(steprt_calls, an_empty_parameter_has_a_size) {
  static struct tiny t;
  static float memory[3][8];
  struct steprt *rt;
  void *param[] = {memory[0], NULL, NULL, memory[2]};
  uint64_t bytes[] = {32, 4, 0, 32};
  tiny_make(&t, (uint64_t[]){8, 0, 8, 8});
  cr_assert_eq(steprt_open(&t.program, NULL, &rt), STEPRT_OK, "%s", steprt_error(rt));
  cr_assert_eq(steprt_bind_sized(rt, param, bytes), STEPRT_BAD_ARGUMENT);
  cr_assert_str_eq(steprt_error(rt), "parameter 'v' has 4 bytes, not 0");
  bytes[1] = 0;
  cr_assert_eq(steprt_bind_sized(rt, param, bytes), STEPRT_OK, "%s", steprt_error(rt));
  steprt_destroy(rt);
}

// ---- trace

Test(steprt_calls, the_trace_has_every_operation_of_the_last_step) {
  static struct tiny_run r;
  struct steprt_trace_record record[64];
  struct steprt_options o = {.size = sizeof o, .threads = 2, .trace = 1};
  tiny_run_planned(&r, sizes, 2, 36, &streams);
  steprt_destroy(r.rt);
  cr_assert_eq(steprt_open(&r.tiny.program, &o, &r.rt), STEPRT_OK);
  cr_assert_eq(steprt_bind(r.rt, r.param), STEPRT_OK);
  struct steprt_report report = {.size = sizeof report};
  cr_assert_eq(steprt_trace(r.rt, record, 64), 0); // what bind did is no step
  cr_assert_eq(steprt_report(r.rt, &report), STEPRT_OK);
  cr_assert_eq(report.map_seconds, 0);
  for (int step = 0; step < 3; step++) {
    tiny_run_step(&r);
    const struct rt_plan *plan = r.rt->plan;
    cr_assert_eq(steprt_trace(r.rt, record, 64), plan->n_ops);
    cr_assert_eq(steprt_trace(r.rt, NULL, 0), plan->n_ops);
    for (uint32_t i = 0; i < plan->n_ops; i++) {
      cr_assert_eq(record[i].op, i);
      cr_assert_eq(record[i].lane, plan->op[i].lane);
      cr_assert(record[i].begin >= 0 && record[i].begin <= record[i].end);
      if (plan->op[i].kind == RT_OP_LOAD) {
        cr_assert_eq(record[i].bytes, plan->chunk[plan->op[i].chunk].bytes);
      }
    }
  }
  tiny_run_free(&r);
}

// ---- failures on the device

static int fail_in; // calls of `issue` until one fails

static steprt_status failing_issue(struct rt_device *d, const struct rt_entry *e,
                                   const struct rt_stage *stage) {
  return fail_in-- == 0 ? STEPRT_IO : rt_device_cpu.issue(d, e, stage);
}

Test(steprt_calls, a_failure_inside_a_step_is_final) {
  static struct tiny_run r;
  struct rt_device_class class = rt_device_cpu;
  class.issue = failing_issue;
  tiny_run_planned(&r, sizes, 2, 37, &streams);
  uint32_t n_ops = r.tiny.plan.plan.n_ops;
  for (fail_in = 0; fail_in < (int)n_ops;) {
    int at = fail_in;
    steprt_destroy(r.rt);
    cr_assert_eq(rt_open_with_class(&r.tiny.program, NULL, &class, &r.rt), STEPRT_OK);
    cr_assert_eq(steprt_bind(r.rt, r.param), STEPRT_OK);
    steprt_status s = begin(&r);
    s = s ? s : steprt_run(r.rt, NULL);
    cr_assert_eq(s, STEPRT_FAILED);
    cr_assert_str_eq(steprt_error(r.rt), steprt_status_text(STEPRT_IO));
    struct steprt_report report = {.size = sizeof report};
    cr_assert_eq(begin(&r), STEPRT_FAILED);
    cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_FAILED);
    cr_assert_eq(steprt_end(r.rt), STEPRT_FAILED);
    cr_assert_eq(steprt_wait_all(r.rt), STEPRT_FAILED);
    cr_assert_eq(steprt_report(r.rt, &report), STEPRT_FAILED);
    cr_assert_eq(steprt_state_get(r.rt, 0, "m", &report, 4), STEPRT_FAILED);
    cr_assert_null(steprt_state(r.rt, 0, "m", NULL));
    cr_assert_str_eq(steprt_error(r.rt), steprt_status_text(STEPRT_IO));
    fail_in = at + 1;
  }
  tiny_run_free(&r);
}

// ---- open

Test(steprt_calls, what_this_machine_or_device_cannot_run_is_refused) {
  static struct tiny t;
  struct steprt *rt;
  struct steprt_options o = {.size = sizeof o, .threads = 1, .host_memory = 4096};
  tiny_make(&t, sizes);
  tiny_plan_make(&t.plan, &t.program, &streams);
  cr_assert_eq(steprt_open(&t.program, &o, &rt), STEPRT_NO_MEMORY);
  cr_assert(strstr(steprt_error(rt), "host"), "%s", steprt_error(rt));
  steprt_destroy(rt);
  o.host_memory = 0;
  o.threads = 1 << 20;
  cr_assert_eq(steprt_open(&t.program, &o, &rt), STEPRT_BAD_ARGUMENT);
  cr_assert_str_eq(steprt_error(rt), "1048576 threads are too many");
  steprt_destroy(rt);
  o.threads = 1;
  t.kernel[TINY_COPY].fn = NULL;
  t.kernel[TINY_COPY].image = sizes;
  cr_assert_eq(steprt_open(&t.program, &o, &rt), STEPRT_BAD_PROGRAM);
  cr_assert_str_eq(steprt_error(rt), "kernel 0 'copy' has no code");
  cr_assert_eq(steprt_bind(rt, NULL), STEPRT_BAD_STATE);
  steprt_destroy(rt);
}

// ---- a destroyed handle

Test(steprt_calls, a_handle_may_be_destroyed_at_any_time) {
  for (int calls = 0; calls < 4; calls++) {
    struct tiny_run r;
    tiny_run_planned(&r, sizes, 2, 39, &streams);
    cr_assert(calls < 1 || !begin(&r));
    cr_assert(calls < 2 || !steprt_run(r.rt, NULL));
    cr_assert(calls < 3 || !steprt_end(r.rt));
    tiny_run_free(&r);
  }
}
