// Calls in the wrong order, with wrong memory or wrong sets: a status and a text that names the thing, nothing changed.
// After each refusal the step is done as it should be and must give the bits of a run that nothing was refused in.
#include "plan/program.h"
#include "support/law.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum scene {
  OPENED,
  BOUND,
  BEGUN,
  HALF_RUN
}; // where the handle stands; HALF_RUN: unit 0 has run

struct stage {
  struct steprt_program *program;
  struct steprt *rt;
  struct law_data data;
};

static steprt_status begin(struct stage *s) {
  const struct steprt_step in = {.size = sizeof in,
                                 .grads = (const void *const *)s->data.grad[0]};
  return steprt_begin(s->rt, &in);
}

static steprt_status run_units(struct stage *s, const uint32_t *unit, uint32_t n) {
  const struct steprt_set set = {.size = sizeof set, .units = unit, .n = n};
  return steprt_run(s->rt, &set);
}

static steprt_status run_params(struct stage *s, const uint32_t *param, uint32_t n) {
  const struct steprt_set set = {.size = sizeof set, .params = param, .n = n};
  return steprt_run(s->rt, &set);
}

// Calls f with entry `at` of `list` replaced.
static steprt_status bind_with(struct stage *s, uint32_t at, void *replacement) {
  void *before = s->data.param[at];
  s->data.param[at] = replacement;
  steprt_status status = steprt_bind(s->rt, s->data.param);
  s->data.param[at] = before;
  return status;
}

static steprt_status bind_nothing(struct stage *s) {
  return steprt_bind(s->rt, NULL);
}
static steprt_status bind_without_one(struct stage *s) {
  return bind_with(s, 1, NULL);
}
static steprt_status bind_unaligned(struct stage *s) {
  return bind_with(s, 1, (char *)s->data.param[1] + 1);
}
static steprt_status bind_overlapping(struct stage *s) {
  return bind_with(s, 2, (char *)s->data.param[1] + 8);
}
static steprt_status bind_wrong_size(struct stage *s) {
  uint32_t n = s->program->n_params;
  uint64_t *bytes = calloc(n, sizeof *bytes);
  for (uint32_t i = 0; i < n; i++) {
    const struct rt_param *v = &s->program->param[i];
    bytes[i] = v->numel * rt_storage_bytes(v->storage) - (i == 3 ? 4 : 0);
  }
  steprt_status status = steprt_bind_sized(s->rt, s->data.param, bytes);
  free(bytes);
  return status;
}
static steprt_status bind_again(struct stage *s) {
  return steprt_bind(s->rt, s->data.param);
}
static steprt_status begin_nothing(struct stage *s) {
  return steprt_begin(s->rt, NULL);
}
static steprt_status begin_without_list(struct stage *s) {
  return steprt_begin(s->rt, &(struct steprt_step){.size = sizeof(struct steprt_step)});
}
static steprt_status begin_of_the_future(struct stage *s) {
  struct {
    struct steprt_step step;
    uint64_t unknown;
  } in = {{.size = sizeof in, .grads = (const void *const *)s->data.grad[0]}, 1};
  return steprt_begin(s->rt, &in.step);
}
static steprt_status begin_unaligned(struct stage *s) {
  void **grad = &s->data.grad[0][1], *before = *grad;
  *grad = (char *)before + 2;
  steprt_status status = begin(s);
  *grad = before;
  return status;
}
static steprt_status begin_out_of_range(struct stage *s) {
  int32_t lr = steprt_hyper(s->rt, "rest", "lr");
  double before = steprt_get_hyper(s->rt, lr);
  steprt_set_hyper(s->rt, lr, -1);
  steprt_status status = begin(s);
  steprt_set_hyper(s->rt, lr, before);
  return status;
}
static steprt_status run_all(struct stage *s) {
  return steprt_run(s->rt, NULL);
}
static steprt_status end(struct stage *s) {
  return steprt_end(s->rt);
}
static steprt_status wait_all(struct stage *s) {
  return steprt_wait_all(s->rt);
}
static steprt_status run_half_a_unit(struct stage *s) {
  const struct rt_plan *plan = s->program->plan;
  for (uint32_t u = 0; u < plan->n_units; u++) {
    if (plan->unit[u].n > 1) {
      return run_params(s, &plan->unit_param[plan->unit[u].first], 1);
    }
  }
  return STEPRT_OK;
}
static steprt_status run_unknown_unit(struct stage *s) {
  return run_units(s, (uint32_t[]){0, 100000}, 2);
}
static steprt_status run_unit_twice(struct stage *s) {
  return run_units(s, (uint32_t[]){1, 0, 1}, 3);
}
static steprt_status run_unit_again(struct stage *s) {
  return run_units(s, (uint32_t[]){1, 0}, 2);
}
static steprt_status run_unknown_param(struct stage *s) {
  return run_params(s, (uint32_t[]){100000}, 1);
}
static steprt_status run_param_twice(struct stage *s) {
  return run_params(s, (uint32_t[]){0, 0}, 2);
}
static steprt_status run_frozen(struct stage *s) {
  uint32_t i = 0;
  while (strcmp(s->program->param[i].name, "frozen.weight") != 0) {
    i++;
  }
  return run_params(s, &i, 1);
}
static steprt_status run_both(struct stage *s) {
  const uint32_t one[] = {1};
  const struct steprt_set set = {.size = sizeof set, .units = one, .params = one, .n = 1};
  return steprt_run(s->rt, &set);
}
static steprt_status run_neither(struct stage *s) {
  return steprt_run(s->rt,
                    &(struct steprt_set){.size = sizeof(struct steprt_set), .n = 1});
}

struct misuse {
  enum scene scene;
  steprt_status (*act)(struct stage *s);
  steprt_status status;
  const char *text; // a part of the message
};
static const struct misuse misuses[] = {
    {OPENED, bind_nothing, STEPRT_BAD_ARGUMENT, "bind: no parameters"},
    {OPENED, bind_without_one, STEPRT_BAD_ARGUMENT,
     "parameter 'h.0.ln.weight' has no address"},
    {OPENED, bind_unaligned, STEPRT_BAD_ARGUMENT,
     "parameter 'h.0.ln.weight': its address"},
    {OPENED, bind_overlapping, STEPRT_BAD_ARGUMENT,
     "parameters 'h.0.ln.weight' and 'h.1.ln.weight' share memory"},
    {OPENED, bind_wrong_size, STEPRT_BAD_ARGUMENT,
     "parameter 'h.2.ln.weight' has 380 bytes"},
    {OPENED, begin, STEPRT_BAD_STATE, "begin: no parameters are bound yet"},
    {OPENED, run_all, STEPRT_BAD_STATE, "run: no parameters are bound yet"},
    {OPENED, end, STEPRT_BAD_STATE, "end: no parameters are bound yet"},
    {OPENED, wait_all, STEPRT_BAD_STATE, "wait_all: no parameters are bound yet"},
    {BOUND, bind_again, STEPRT_BAD_STATE, "bind: parameters are bound"},
    {BOUND, begin_nothing, STEPRT_BAD_ARGUMENT, "begin: a step of a size"},
    {BOUND, begin_of_the_future, STEPRT_BAD_ARGUMENT, "begin: a step of a size"},
    {BOUND, begin_without_list, STEPRT_BAD_ARGUMENT, "begin: no gradients"},
    {BOUND, begin_unaligned, STEPRT_BAD_ARGUMENT, "gradient of 'h.0.ln.weight'"},
    {BOUND, begin_out_of_range, STEPRT_RANGE, "rest.lr = -1"},
    {BOUND, run_all, STEPRT_BAD_STATE, "run: parameters are bound and no step is open"},
    {BOUND, end, STEPRT_BAD_STATE, "end: parameters are bound and no step is open"},
    {BEGUN, begin, STEPRT_BAD_STATE, "begin: a step has begun and not ended"},
    {BEGUN, bind_again, STEPRT_BAD_STATE, "bind: a step has begun and not ended"},
    {BEGUN, run_half_a_unit, STEPRT_BAD_ARGUMENT, "which is not in the set"},
    {BEGUN, run_unknown_unit, STEPRT_BAD_ARGUMENT, "run: there is no unit 100000, only"},
    {BEGUN, run_unit_twice, STEPRT_BAD_ARGUMENT, "is named twice"},
    {BEGUN, run_unknown_param, STEPRT_BAD_ARGUMENT,
     "run: there is no parameter 100000, only"},
    {BEGUN, run_param_twice, STEPRT_BAD_ARGUMENT,
     "run: parameter 'wte.weight' is named twice"},
    {BEGUN, run_frozen, STEPRT_BAD_ARGUMENT,
     "run: parameter 'frozen.weight' has no rule"},
    {BEGUN, run_both, STEPRT_BAD_ARGUMENT, "one of the two"},
    {BEGUN, run_neither, STEPRT_BAD_ARGUMENT, "one of the two"},
    {BEGUN, end, STEPRT_BAD_STATE, "has not run"},
    {HALF_RUN, run_unit_again, STEPRT_BAD_STATE, "has run in this step"},
    {HALF_RUN, end, STEPRT_BAD_STATE, "has not run"},
    {HALF_RUN, begin, STEPRT_BAD_STATE, "begin: a step has begun and not ended"},
};

static struct steprt_program *compile(void) {
  return law_compile(&(struct law_plan){
      .spec = "gpt", .model = law_model, .offload = "host", .chunk_bytes = 4096});
}

static void play_until(struct stage *s, enum scene from, enum scene to) {
  for (uint32_t at = from; at < (uint32_t)to; at++) {
    steprt_status status = at == OPENED  ? steprt_bind(s->rt, s->data.param)
                           : at == BOUND ? begin(s)
                                         : run_units(s, (uint32_t[]){0}, 1);
    cr_assert_eq(status, STEPRT_OK, "%s", steprt_error(s->rt));
  }
}

static struct law_digest play(struct steprt_program *program, const struct misuse *m) {
  struct stage s = {.program = program, .data = law_data_new(program)};
  const struct steprt_options o = {.size = sizeof o, .threads = 2};
  enum scene scene = m ? m->scene : OPENED;
  cr_assert_eq(steprt_open(program, &o, &s.rt), STEPRT_OK, "%s", steprt_error(s.rt));
  play_until(&s, OPENED, scene);
  if (m) {
    steprt_status status = m->act(&s);
    cr_assert_eq(status, m->status, "%s: %s", m->text, steprt_error(s.rt));
    cr_assert_not_null(strstr(steprt_error(s.rt), m->text), "%s: %s", m->text,
                       steprt_error(s.rt));
  }
  play_until(&s, scene, HALF_RUN);
  cr_assert_eq(run_all(&s), STEPRT_OK, "%s", steprt_error(s.rt));
  cr_assert_eq(end(&s), STEPRT_OK, "%s", steprt_error(s.rt));
  cr_assert_eq(wait_all(&s), STEPRT_OK, "%s", steprt_error(s.rt));
  struct law_digest d = law_digest(s.rt, &s.data);
  steprt_destroy(s.rt);
  law_data_free(&s.data);
  return d;
}

Test(misuse, is_refused_with_its_reason_and_changes_nothing) {
  struct steprt_program *program = compile();
  struct law_digest expected = play(program, NULL);
  for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
    struct law_digest d = play(program, &misuses[i]);
    cr_assert_str_eq(d.hex, expected.hex, "%s", misuses[i].text);
  }
  stepc_program_free(program);
}

Test(misuse, of_no_handle_is_a_status) {
  cr_assert_eq(steprt_begin(NULL, NULL), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_run(NULL, NULL), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_end(NULL), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_wait_all(NULL), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_wait_order(NULL, 0, NULL), STEPRT_BAD_ARGUMENT);
  cr_assert_eq(steprt_units(NULL, NULL), 0);
  steprt_destroy(NULL);
}
