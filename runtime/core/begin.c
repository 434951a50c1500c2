// begin: everything that may be refused is checked first; then the gradients are measured; then counters, host
// states and scalars advance, which cannot fail.
#include "core/fpmode.h"
#include "core/grads.h"
#include "core/hostcode.h"

#include <math.h>

static steprt_status check_grads(struct steprt *rt, const void *const *grads) {
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    const struct rt_param *v = &rt->program->param[i];
    if (!v->active || !grads[i]) {
      continue;
    }
    uint32_t size = rt_storage_bytes(rt->program->buffer[v->grad_buffer].storage);
    if ((uintptr_t)grads[i] % size) {
      return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                       "gradient of '%s': its address %p is not aligned to its elements",
                       rt_show(v->name).text, grads[i]);
    }
  }
  return STEPRT_OK;
}

static steprt_status clip_bound(struct steprt *rt, double *bound) {
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

static void take_grads(struct steprt *rt, const void *const *grads) {
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    const struct rt_param *v = &rt->program->param[i];
    rt->takes_part[i] = v->active && grads[i];
    if (rt->takes_part[i]) { // read only; kernels take all addresses alike
      memcpy(&rt->base[v->grad_buffer], &grads[i], sizeof grads[i]);
    }
  }
}

// Clip factor and verdict: DESIGN section 3, global pre-step operations.
static void measure(struct steprt *rt, double bound) {
  const struct steprt_program *p = rt->program;
  rt->clip = 1;
  if (!p->clips && !p->skips_nonfinite) {
    return;
  }
  struct rt_grads g = rt_grads_measure(rt);
  rt->report.bytes_moved += g.bytes;
  rt->report.skipped = p->skips_nonfinite && g.nonfinite;
  if (!p->clips) {
    return;
  }
  rt->clip = (float)rt_min(1, bound / (g.norm + 1e-6));
  rt->report.grad_norm = g.norm;
  rt->report.clip_factor = (double)rt->clip;
}

static bool same_inputs(const struct steprt *rt, uint32_t a, uint32_t b, uint32_t n) {
  bool same = rt->count[a] == rt->count[b];
  for (uint32_t s = 0; s < n && same; s++) {
    same = rt_same_double(rt->host[rt->host_index[rt->first_host[a] + s]],
                          rt->host[rt->host_index[rt->first_host[b] + s]]);
  }
  return same;
}

static void evaluate(struct steprt *rt, uint32_t param, const struct rt_rule *r) {
  const uint64_t *index = rt->host_index + rt->first_host[param];
  for (uint32_t s = 0; s < r->n_host_states; s++) {
    rt->slot[s] = rt->slot_next[s] = rt->host[index[s]];
  }
  float *out = rt->scalar + rt->own_scalar[param];
  const struct rt_host_env env = {.hyper = rt->hyper,
                                  .state = rt->slot,
                                  .step = (double)(rt->count[param] + 1),
                                  .next = rt->slot_next,
                                  .out = out};
  rt_host_eval(r->ins, r->n_ins, &env, rt->reg);
  rt->scalars[param] = out;
  for (uint32_t s = 0; s < r->n_host_states; s++) {
    rt->host_next[index[s]] = rt->slot_next[s];
  }
}

// Takes over what the same rule gave for the same count and states.
static void copy_evaluation(struct steprt *rt, uint32_t from, uint32_t to, uint32_t n) {
  rt->scalars[to] = rt->scalars[from];
  for (uint32_t s = 0; s < n; s++) {
    rt->host_next[rt->host_index[rt->first_host[to] + s]] =
        rt->host_next[rt->host_index[rt->first_host[from] + s]];
  }
}

// All rules read the states of before; a group's new state is written by each of its parameters, with one value.
static void advance(struct steprt *rt) {
  const struct steprt_program *p = rt->program;
  for (uint32_t i = 0; i < p->n_rules; i++) {
    rt->memo[i] = RT_NONE;
  }
  for (uint32_t i = 0; i < p->n_params; i++) {
    if (!rt->takes_part[i]) {
      continue;
    }
    uint32_t rule = p->param[i].rule, n = p->rule[rule].n_host_states;
    int64_t last = rt->memo[rule];
    if (last != RT_NONE && same_inputs(rt, (uint32_t)last, i, n)) {
      copy_evaluation(rt, (uint32_t)last, i, n);
    } else {
      evaluate(rt, i, &p->rule[rule]);
    }
    rt->memo[rule] = i;
  }
  for (uint32_t i = 0; i < p->n_params; i++) {
    rt->count[i] += rt->takes_part[i];
  }
  if (rt->n_host > 0) {
    memcpy(rt->host, rt->host_next, rt->n_host * sizeof *rt->host);
  }
}

// In the floating-point mode of the numbers section; the last thing that may refuse comes before the first change.
static steprt_status begin(struct steprt *rt, const void *const *grads, double now) {
  double bound = 0;
  RT_TRY(check_grads(rt, grads));
  RT_TRY(rt_hypers_check(rt));
  RT_TRY(clip_bound(rt, &bound));
  rt->memory.silent = true;
  rt->begun = now;
  rt->report = (struct steprt_report){.size = sizeof rt->report, .clip_factor = 1};
  take_grads(rt, grads);
  measure(rt, bound);
  if (!rt->report.skipped) {
    advance(rt);
  }
  rt->phase = RT_MODE_BEGUN;
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
  steprt_status s = begin(rt, in.grads, now);
  rt_fpmode_leave(mode);
  return s;
}
