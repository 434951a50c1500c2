// Parameters and their states: shapes, ownership, and states that share no byte.
#include "plan/plan_check.h"

#include "plan/names.h"

#include <stdlib.h>

enum { MAX_RANK = 8 };

static const char *fault_of_shape(const struct rt_plan_param *p) {
  uint64_t numel = 1;
  if (p->rank > MAX_RANK) {
    return "more than 8 dimensions";
  }
  for (uint32_t d = 0; d < p->rank; d++) {
    if (__builtin_mul_overflow(numel, p->dim[d], &numel)) {
      return "its dimensions overflow";
    }
    if (p->start[d] > RT_MAX_SIZE || p->dim[d] > RT_MAX_SIZE) {
      return "a dimension is beyond 2^53";
    }
  }
  if (numel != p->numel) {
    return "its dimensions are not its number of elements";
  }
  return numel > RT_MAX_SIZE / 8 ? "it is too large to address" : NULL;
}

static const char *fault_of_param(const struct rt_plan *plan,
                                  const struct rt_plan_param *p) {
  const char *shape = fault_of_shape(p);
  if (shape != NULL) {
    return shape;
  }
  if (p->storage > RT_F16 || p->grad > RT_F16) {
    return "it and its gradient are f32, bf16 or f16";
  }
  if (p->unit != RT_NO_ID && p->unit >= plan->n_units) {
    return "its unit does not exist";
  }
  if (p->unit == RT_NO_ID && (p->n_states > 0 || p->counted)) {
    return "it has no unit, but a state or a share in the norm";
  }
  if (p->order > RT_MAX_SIZE) {
    return "its order is beyond 2^53";
  }
  return (uint64_t)p->first_state + p->n_states > plan->n_states
             ? "its states lie beyond the table"
             : NULL;
}

static const char *fault_of_state(const struct rt_plan *plan,
                                  const struct rt_plan_param *p,
                                  const struct rt_state_home *s) {
  if (s->name == NULL || s->storage > RT_Q8U) {
    return "it has no name or no known storage";
  }
  if ((s->at.space != RT_AT_STATE && s->at.space != RT_AT_HOST) || s->at.index != 0) {
    return "it rests neither among the resident states nor on the host";
  }
  uint64_t size = s->at.space == RT_AT_STATE ? plan->state_bytes : plan->host_bytes;
  if (!rt_within(s->at.offset, s->bytes, size)) {
    return "it lies beyond the memory of the states";
  }
  if (s->at.offset % rt_storage_bytes(s->storage) != 0) {
    return "it is not aligned to its elements";
  }
  return s->storage < RT_Q8 && s->bytes != p->numel * rt_storage_bytes(s->storage)
             ? "its bytes are not those of its parameter's elements"
             : NULL;
}

static steprt_status check_param(struct plan_check *c, uint32_t i, bool *owned) {
  const struct rt_plan_param *p = &c->plan->param[i];
  if (p->name == NULL || p->label == NULL || p->reason == NULL || p->rule == NULL) {
    return rt_plan_bad(c, "param %u has no name, label, reason or rule", i);
  }
  const char *fault = fault_of_param(c->plan, p);
  if (fault != NULL) {
    return rt_plan_bad(c, "param %u '%s': %s", i, rt_show(p->name).text, fault);
  }
  for (uint32_t k = p->first_state; k < p->first_state + p->n_states; k++) {
    const struct rt_state_home *s = &c->plan->state[k];
    fault = owned[k] ? "it is another parameter's" : fault_of_state(c->plan, p, s);
    if (fault != NULL) {
      return rt_plan_bad(c, "param %u '%s': state %u: %s", i, rt_show(p->name).text,
                         k - p->first_state, fault);
    }
    owned[k] = true;
  }
  return STEPRT_OK;
}

static int by_place(const void *a, const void *b) {
  const struct rt_at *x = &(*(const struct rt_state_home *const *)a)->at,
                     *y = &(*(const struct rt_state_home *const *)b)->at;
  return x->space != y->space ? (x->space > y->space) - (x->space < y->space)
                              : (x->offset > y->offset) - (x->offset < y->offset);
}

static steprt_status check_apart(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  const struct rt_state_home **s = rt_pool_alloc(&c->pool, p->n_states, sizeof *s);
  uint32_t n = 0;
  if (s == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t i = 0; i < p->n_states; i++) {
    if (p->state[i].bytes > 0) {
      s[n++] = &p->state[i];
    }
  }
  qsort(s, n, sizeof *s, by_place);
  for (uint32_t i = 1; i < n; i++) {
    if (s[i - 1]->at.space == s[i]->at.space &&
        s[i]->at.offset - s[i - 1]->at.offset < s[i - 1]->bytes) {
      return rt_plan_bad(
          c, "two states lie on the same bytes: '%s' at %s %llu and '%s' at %llu",
          rt_show(s[i - 1]->name).text, rt_space_names[s[i]->at.space],
          (unsigned long long)s[i - 1]->at.offset, rt_show(s[i]->name).text,
          (unsigned long long)s[i]->at.offset);
    }
  }
  return STEPRT_OK;
}

steprt_status rt_plan_check_params(struct plan_check *c) {
  bool *owned = rt_pool_alloc(&c->pool, c->plan->n_states, sizeof *owned);
  if (owned == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t i = 0; i < c->plan->n_params; i++) {
    RT_TRY(check_param(c, i, owned));
  }
  for (uint32_t i = 0; i < c->plan->n_states; i++) {
    if (!owned[i]) {
      return rt_plan_bad(c, "state %u belongs to no parameter", i);
    }
  }
  return check_apart(c);
}
