// begin: everything that may be refused is checked first; then counters and host states advance and what the whole
// step needs is enqueued. Whether the step is skipped is known only later: counters and states are taken back then,
// before anybody sees them.
#include "core/advance.h"
#include "core/fpmode.h"
#include "core/hostcode.h"
#include "core/issue.h"

#include <math.h>

static steprt_status check_grads(struct steprt *rt, const struct steprt_step *in) {
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    const struct rt_param *v = &rt->program->param[i];
    if (!v->active || !in->grads[i]) {
      continue;
    }
    if ((uintptr_t)in->grads[i] % rt_storage_bytes(v->grad)) {
      return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                       "gradient of '%s': its address %p is not aligned to its elements",
                       rt_show(v->name).text, in->grads[i]);
    }
  }
  return rt->class->check ? rt->class->check(rt->device, in->grads, in->stream)
                          : STEPRT_OK;
}

static steprt_status clip_bound(struct steprt *rt, double *bound) {
  *bound = (double)INFINITY;
  if (!rt->program->clips) {
    return STEPRT_OK;
  }
  const struct rt_host_env env = {.hyper = rt->hyper};
  *bound = rt_host_eval(rt->program->clip, rt->program->n_clip, &env, rt->reg);
  if (!(*bound >= 0)) {
    double shown = isnan(*bound) ? fabs(*bound) : *bound; // a NaN has no sign to show
    return rt_refuse(rt, STEPRT_RANGE, "clip global_norm = %.9g is not 0 or more", shown);
  }
  return STEPRT_OK;
}

steprt_status rt_settle(struct steprt *rt) {
  struct rt_verdict v;
  if (rt->measured || rt->failed) {
    return rt->failed ? STEPRT_FAILED : STEPRT_OK;
  }
  RT_TRY(rt_checked(rt, rt->class->verdict(rt->device, &v)));
  rt->measured = true;
  rt->report.skipped = v.skip != 0;
  rt->report.grad_norm = rt->program->clips ? v.norm : 0;
  rt->report.clip_factor = rt->program->clips ? (double)v.clip : 1;
  if (v.skip) {
    rt_retreat(rt);
  }
  return STEPRT_OK;
}

// The step before: what is left of it is enqueued, and its verdict read.
static steprt_status finish_last(struct steprt *rt) {
  RT_TRY(rt_issue_rest(rt));
  if (rt->measured || !rt->program->skips_nonfinite) {
    return STEPRT_OK;
  }
  rt->counters.verdict_waits++;
  return rt_settle(rt);
}

static void start_units(struct steprt *rt) {
  const struct rt_plan *plan = rt->plan;
  memset(rt->unit_mode, RT_UNIT_LEFT, plan->n_units * sizeof *rt->unit_mode);
  rt->n_left = plan->n_units;
  rt->next_chunk = plan->n_chunks;
}

static void fill_stage(struct steprt *rt, const void *const *grads, double bound) {
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    rt->takes_part[i] = rt->program->param[i].active && grads[i];
    rt->stage->grad[i] = rt->takes_part[i] ? grads[i] : NULL;
  }
  rt->stage->bound = bound;
  rt_advance(rt, rt->stage);
}

// Nothing is refused from here on: what fails now leaves the handle failed.
static steprt_status start(struct steprt *rt, const struct steprt_step *in,
                           double bound) {
  const struct rt_device_class *class = rt->class;
  rt->memory.silent = true;
  RT_TRY(rt_checked(rt, class->stage(rt->device, &rt->stage)));
  fill_stage(rt, in->grads, bound);
  rt->measured = rt->waited = false;
  rt->stream = in->stream;
  start_units(rt);
  if (class->fork) {
    RT_TRY(rt_checked(rt, class->fork(rt->device, in->stream)));
  }
  return rt_issue_begin(rt);
}

// In the floating-point mode of the numbers section; the last thing that may refuse comes before the first change.
static steprt_status begin(struct steprt *rt, const struct steprt_step *in, double now) {
  double bound;
  RT_TRY(check_grads(rt, in));
  RT_TRY(rt_hypers_check(rt));
  RT_TRY(clip_bound(rt, &bound));
  RT_TRY(finish_last(rt));
  rt->begun = now;
  rt->report = (struct steprt_report){.size = sizeof rt->report, .clip_factor = 1};
  RT_TRY(start(rt, in, bound));
  rt->mode = RT_MODE_BEGUN;
  return STEPRT_OK;
}

steprt_status steprt_begin(struct steprt *rt, const struct steprt_step *step) {
  struct steprt_step in;
  double now = rt_now();
  RT_TRY(rt_expect(rt, RT_MODE_BOUND, RT_MODE_BOUND, "begin"));
  if (!step || !rt_read_versioned(&in, sizeof in, step)) {
    return rt_refuse(
        rt, STEPRT_BAD_ARGUMENT,
        "begin: a step of a size or with a field that this library does not know");
  }
  if (!in.grads) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "begin: no gradients");
  }
  uint32_t mode = rt_fpmode_enter();
  steprt_status s = begin(rt, &in, now);
  rt_fpmode_leave(mode);
  return s;
}
