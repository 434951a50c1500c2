#include "core/handle.h"
// begin: everything that may be refused is checked first; then the gradients are measured; then counters, host
// states and scalars advance, which cannot fail.
#include "core/fpmode.h"
#include "core/hostcode.h"
#include "core/old_grads.h"

#include <math.h>

static void take_grads(struct steprt *rt, const void *const *grads) {
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    const struct rt_param *v = &rt->program->param[i];
    rt->takes_part[i] = v->active && grads[i];
    if (rt->takes_part[i]) { // read only; kernels take all addresses alike
      memcpy(&rt->old.base[v->grad_buffer], &grads[i], sizeof grads[i]);
    }
  }
}

// Clip factor and verdict: DESIGN section 3, global pre-step operations.
static void measure(struct steprt *rt, double bound) {
  const struct steprt_program *p = rt->program;
  rt->old.clip = 1;
  if (!p->clips && !p->skips_nonfinite) {
    return;
  }
  struct rt_grads g = rt_grads_measure(rt);
  rt->report.bytes_moved += g.bytes;
  rt->report.skipped = p->skips_nonfinite && g.nonfinite;
  if (!p->clips) {
    return;
  }
  rt->old.clip = (float)rt_min(1, bound / (g.norm + 1e-6));
  rt->report.grad_norm = g.norm;
  rt->report.clip_factor = (double)rt->old.clip;
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
  float *out = rt->old.scalar + rt->old.own_scalar[param];
  const struct rt_host_env env = {.hyper = rt->hyper,
                                  .state = rt->slot,
                                  .step = (double)(rt->count[param] + 1),
                                  .next = rt->slot_next,
                                  .out = out};
  rt_host_eval(r->ins, r->n_ins, &env, rt->reg);
  rt->old.scalars[param] = out;
  for (uint32_t s = 0; s < r->n_host_states; s++) {
    rt->host_next[index[s]] = rt->slot_next[s];
  }
}

// Takes over what the same rule gave for the same count and states.
static void copy_evaluation(struct steprt *rt, uint32_t from, uint32_t to, uint32_t n) {
  rt->old.scalars[to] = rt->old.scalars[from];
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

steprt_status rt_old_begin(struct steprt *rt, const void *const *grads, double bound) {
  rt->memory.silent = true;
  take_grads(rt, grads);
  measure(rt, bound);
  if (!rt->report.skipped) {
    advance(rt);
  }
  rt->old.ran = false;
  return STEPRT_OK;
}
