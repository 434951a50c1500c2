// After one step every element that no matrix product feeds lies within the bound of the interpreter.
#include "ir/interp.h"
#include "tool/table.h"
#include "tool/tensors.h"
#include "tool/verify.h"

#include "core/convert.h"

#include <math.h>

struct bound_counts {
  uint64_t checked, excluded, wrong;
  double worst; // of the bound
  struct str first_wrong;
};

// One parameter before the step: exact inputs of the interpreter.
struct before {
  struct interp_tensor grad, param, *state;
};

static double element(const void *data, enum storage storage, uint64_t i) {
  return storage == ST_BF16  ? (double)rt_bf16_to_f32(((const uint16_t *)data)[i])
         : storage == ST_F16 ? (double)rt_f16_to_f32(((const uint16_t *)data)[i])
                             : (double)((const float *)data)[i];
}

static struct interp_tensor tensor_of(struct arena *a, const void *data,
                                      enum storage storage, uint64_t n) {
  struct interp_tensor t = {.value = ARENA_ARRAY(a, double, n),
                            .bound = ARENA_ARRAY(a, double, n)};
  for (uint64_t i = 0; i < n; i++) {
    t.value[i] = element(data, storage, i);
  }
  return t;
}

static struct before capture(struct arena *a, struct session *s, uint32_t param) {
  const struct model_param *p = &s->model->param[param];
  const struct rule *rule = s->job->rule[s->job->param[param].rule];
  uint64_t n = shape_numel(&p->shape);
  struct before b = {.grad = tensor_of(a, s->grad[param], p->grad, n),
                     .param = tensor_of(a, s->param[param], p->dtype, n),
                     .state = ARENA_ARRAY(a, struct interp_tensor, rule->n_states)};
  for (uint32_t i = 0, slot = 0; i < rule->n_states; i++) {
    if (rule->state[i].is_host) {
      b.state[i] = (struct interp_tensor){ARENA_NEW(a, double), ARENA_NEW(a, double)};
      *b.state[i].value = steprt_host_state(s->rt, param, slot++);
    } else {
      b.state[i] =
          tensor_of(a, session_state(s, param, rule->state[i].name),
                    rule->state[i].storage, cls_count(rule->state[i].cls, &p->shape));
    }
  }
  return b;
}

static void compare(struct verify *v, struct bound_counts *c, struct str name,
                    const struct interp_tensor *want, const void *got,
                    enum storage storage, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    double x = element(got, storage, i), bound = want->bound[i];
    if (!isfinite(bound)) {
      c->excluded++;
      continue;
    }
    c->checked++;
    double off = fabs(x - want->value[i]);
    if (off <= bound) {
      c->worst = bound > 0 && off / bound > c->worst ? off / bound : c->worst;
    } else if (c->wrong++ == 0) {
      c->first_wrong =
          str_fmt(v->tool->arena, "`%s` element %llu is %.9g, not %.9g +- %.2g",
                  str_escape(v->tool->arena, name).p, (unsigned long long)i, x,
                  want->value[i], bound);
    }
  }
}

static void compare_param(struct verify *v, struct bound_counts *c, struct session *s,
                          uint32_t param, const struct before *b) {
  const struct model_param *p = &s->model->param[param];
  const struct rule *rule = s->job->rule[s->job->param[param].rule];
  compare(v, c, p->name, &b->param, s->param[param], p->dtype, shape_numel(&p->shape));
  for (uint32_t i = 0; i < rule->n_states; i++) {
    const struct rule_state *state = &rule->state[i];
    if (!state->is_host) {
      struct str name =
          str_fmt(v->tool->arena, "%.*s/%.*s", STR_FMT(p->name), STR_FMT(state->name));
      compare(v, c, name, &b->state[i], session_state(s, param, rule->state[i].name),
              state->storage, cls_count(state->cls, &p->shape));
    }
  }
}

static const double *hyper_values(struct arena *a, const struct job *job) {
  double *set = ARENA_ARRAY(a, double, job->n_hypers);
  double *out = ARENA_ARRAY(a, double, job->n_hypers);
  for (uint32_t i = 0; i < job->n_hypers; i++) {
    set[i] = job->hyper[i].value;
  }
  hypers_resolve(job->hyper, job->n_hypers, set, out);
  return out;
}

// The state of every parameter is captured, the step runs, then each is computed again by the interpreter.
static enum exit_code check_step(struct verify *v, struct session *s, struct arena *a,
                                 struct bound_counts *c) {
  const struct job *job = v->driver.job;
  const double *hyper = hyper_values(a, job);
  struct before *before = ARENA_ARRAY(a, struct before, s->model->n_params);
  enum exit_code code = session_load_grads(s);
  for (uint32_t i = 0; i < s->model->n_params && code == EXIT_OK; i++) {
    before[i] = capture(a, s, i);
  }
  struct steprt_report report = {0};
  if (code == EXIT_OK) {
    code = session_step(s, &report);
  }
  for (uint32_t i = 0; i < s->model->n_params && code == EXIT_OK; i++) {
    struct interp_io io = {.hyper = hyper,
                           .step = 1,
                           .clip = report.clip_factor,
                           .grad = &before[i].grad,
                           .param = &before[i].param,
                           .state = before[i].state};
    interp_run(a, v->driver.ir->ir[job->param[i].rule], &io);
    compare_param(v, c, s, i, &before[i]);
  }
  return code;
}

enum exit_code verify_bound(struct verify *v, struct verdict *out) {
  struct arena *a = v->tool->arena;
  struct bound_counts c = {0};
  struct session s;
  enum exit_code code =
      session_open(&s, v->tool, v->driver.job, v->driver.step, &v->source, v->threads);
  if (code == EXIT_OK) {
    code = check_step(v, &s, a, &c);
  }
  session_close(&s);
  *out = (struct verdict){
      .held = c.wrong == 0,
      .skipped = c.checked == 0,
      .tried = str_fmt(
          a, "1 step; %s elements, %s more are fed by products or lie at a branch",
          text_count(a, (double)c.checked).p, text_count(a, (double)c.excluded).p),
      .result = c.checked == 0 ? STR("nothing to check")
                : c.wrong == 0 ? str_fmt(a, "the worst at %.2f of its bound", c.worst)
                               : str_fmt(a, "%llu outside; %s",
                                         (unsigned long long)c.wrong, c.first_wrong.p)};
  return code;
}
