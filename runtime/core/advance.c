// A rule is evaluated once for all its parameters that have the same count and host states: as a rule, all of them.
#include "core/advance.h"

#include "core/hostcode.h"

uint32_t rt_phase_scalars(const struct steprt_program *p, uint32_t rule, uint32_t phase) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < phase; i++) {
    const struct rt_phase *ph = &p->rule[rule].phase[i];
    n += ph->kind == RT_PHASE_MAP ? p->kernel[ph->kernel].n_scalars : 0;
  }
  return n;
}

uint64_t rt_stage_scalars(const struct steprt_program *p) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < p->n_params; i++) {
    const struct rt_param *v = &p->param[i];
    n += v->active ? rt_phase_scalars(p, v->rule, p->rule[v->rule].n_phases) : 0;
  }
  return n;
}

static bool same_inputs(const struct steprt *rt, uint32_t a, uint32_t b, uint32_t n) {
  bool same = rt->count[a] == rt->count[b];
  for (uint32_t s = 0; s < n && same; s++) {
    same = rt_same_double(rt->host[rt->host_index[rt->first_host[a] + s]],
                          rt->host[rt->host_index[rt->first_host[b] + s]]);
  }
  return same;
}

// The scalars that each phase's kernel takes, in its order.
static void put_block(const struct steprt *rt, const struct rt_rule *r,
                      struct rt_stage *stage) {
  for (uint32_t i = 0; i < r->n_phases; i++) {
    const struct rt_phase *ph = &r->phase[i];
    uint32_t n = ph->kind == RT_PHASE_MAP ? rt->program->kernel[ph->kernel].n_scalars : 0;
    for (uint32_t k = 0; k < n; k++) {
      stage->scalar[stage->n_scalars++] =
          ph->scalar[k] == RT_SCALAR_CLIP ? 1 : rt->outs[ph->scalar[k]];
    }
  }
}

static void evaluate(struct steprt *rt, uint32_t param, const struct rt_rule *r,
                     struct rt_stage *stage) {
  const uint64_t *index = rt->host_index + rt->first_host[param];
  for (uint32_t s = 0; s < r->n_host_states; s++) {
    rt->slot[s] = rt->slot_next[s] = rt->host[index[s]];
  }
  const struct rt_host_env env = {.hyper = rt->hyper,
                                  .state = rt->slot,
                                  .step = (double)(rt->count[param] + 1),
                                  .next = rt->slot_next,
                                  .out = rt->outs};
  rt_host_eval(r->ins, r->n_ins, &env, rt->reg);
  stage->scalar_at[param] = stage->n_scalars;
  put_block(rt, r, stage);
  for (uint32_t s = 0; s < r->n_host_states; s++) {
    rt->host_next[index[s]] = rt->slot_next[s];
  }
}

// Takes over what the same rule gave for the same count and states.
static void copy_evaluation(struct steprt *rt, uint32_t from, uint32_t to, uint32_t n,
                            struct rt_stage *stage) {
  stage->scalar_at[to] = stage->scalar_at[from];
  for (uint32_t s = 0; s < n; s++) {
    rt->host_next[rt->host_index[rt->first_host[to] + s]] =
        rt->host_next[rt->host_index[rt->first_host[from] + s]];
  }
}

static void exchange_states(struct steprt *rt) {
  double *host = rt->host;
  rt->host = rt->host_next;
  rt->host_next = host;
}

// All rules read the states of before; a group's new state is written by each of its parameters, with one value.
void rt_advance(struct steprt *rt, struct rt_stage *stage) {
  const struct steprt_program *p = rt->program;
  stage->n_scalars = 0;
  memcpy(rt->host_next, rt->host, rt->n_host * sizeof *rt->host);
  for (uint32_t i = 0; i < p->n_rules; i++) {
    rt->memo[i] = RT_NONE;
  }
  for (uint32_t i = 0; i < p->n_params; i++) {
    stage->scalar_at[i] = 0;
    if (!rt->takes_part[i]) {
      continue;
    }
    uint32_t rule = p->param[i].rule, n = p->rule[rule].n_host_states;
    int64_t last = rt->memo[rule];
    if (last != RT_NONE && same_inputs(rt, (uint32_t)last, i, n)) {
      copy_evaluation(rt, (uint32_t)last, i, n, stage);
    } else {
      evaluate(rt, i, &p->rule[rule], stage);
    }
    rt->memo[rule] = i;
  }
  for (uint32_t i = 0; i < p->n_params; i++) {
    rt->count[i] += rt->takes_part[i];
  }
  exchange_states(rt);
}

void rt_retreat(struct steprt *rt) {
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    rt->count[i] -= rt->takes_part[i];
  }
  exchange_states(rt);
}
