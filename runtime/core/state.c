// States of parameters, on the device and on the host, and their counts.
#include "core/issue.h"

// The home of a device state by its name; NULL: there is none.
static const struct rt_state_home *find_state(const struct steprt *rt, uint32_t param,
                                              const char *name) {
  if (!rt || rt->mode < RT_MODE_BOUND || !name || param >= rt->plan->n_params) {
    return NULL;
  }
  const struct rt_plan_param *p = &rt->plan->param[param];
  for (uint32_t i = 0; i < p->n_states; i++) {
    if (strcmp(rt->plan->state[p->first_state + i].name, name) == 0) {
      return &rt->plan->state[p->first_state + i];
    }
  }
  return NULL;
}

void *steprt_state(struct steprt *rt, uint32_t param, const char *name, uint64_t *bytes) {
  const struct rt_state_home *home = find_state(rt, param, name);
  if (!home) {
    return NULL;
  }
  if (bytes) {
    *bytes = home->bytes;
  }
  return rt->mode == RT_MODE_BOUND && !steprt_wait_all(rt)
             ? rt->class->address(rt->device, home->at)
             : NULL;
}

// The home of a state whose bytes may be copied now, all of them.
static steprt_status ready_state(struct steprt *rt, uint32_t param, const char *name,
                                 uint64_t bytes, const char *call,
                                 const struct rt_state_home **home) {
  RT_TRY(rt_expect(rt, RT_MODE_BOUND, RT_MODE_BOUND, call));
  *home = find_state(rt, param, name);
  if (!*home) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "%s: parameter %u has no state '%s'", call,
                     param, rt_show(name ? name : "").text);
  }
  if ((*home)->bytes != bytes) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "%s: '%s/%s' has %llu bytes, not %llu",
                     call, rt_show(rt->plan->param[param].name).text, rt_show(name).text,
                     (unsigned long long)(*home)->bytes, (unsigned long long)bytes);
  }
  return steprt_wait_all(rt);
}

steprt_status steprt_state_get(struct steprt *rt, uint32_t param, const char *name,
                               void *to, uint64_t bytes) {
  const struct rt_state_home *home;
  RT_TRY(ready_state(rt, param, name, bytes, "state_get", &home));
  if (!to) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "state_get: nowhere to copy it");
  }
  return rt->class->read(rt->device, home->at, to, bytes);
}

steprt_status steprt_state_set(struct steprt *rt, uint32_t param, const char *name,
                               const void *from, uint64_t bytes) {
  const struct rt_state_home *home;
  RT_TRY(ready_state(rt, param, name, bytes, "state_set", &home));
  if (!from) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "state_set: nothing to copy");
  }
  return rt->class->write(rt->device, home->at, from, bytes);
}

static bool has_param(const struct steprt *rt, uint32_t param) {
  return rt && rt->mode >= RT_MODE_OPEN && param < rt->program->n_params;
}

static bool has_slot(const struct steprt *rt, uint32_t param, uint32_t slot) {
  if (!has_param(rt, param) || !rt->program->param[param].active) {
    return false;
  }
  return slot < rt->program->rule[rt->program->param[param].rule].n_host_states;
}

// A step that may still be skipped is waited for: what it advanced may be taken back.
static bool is_settled(struct steprt *rt) {
  if (rt->mode < RT_MODE_BOUND || !rt->program->skips_nonfinite) {
    return true;
  }
  rt->counters.waits += !rt->measured;
  return !rt_settle(rt);
}

double steprt_host_state(struct steprt *rt, uint32_t param, uint32_t slot) {
  return has_slot(rt, param, slot) && is_settled(rt)
             ? rt->host[rt->host_index[rt->first_host[param] + slot]]
             : 0;
}

uint64_t steprt_count(struct steprt *rt, uint32_t param) {
  return has_param(rt, param) && is_settled(rt) ? rt->count[param] : 0;
}

steprt_status steprt_set_host_state(struct steprt *rt, uint32_t param, uint32_t slot,
                                    double value) {
  RT_TRY(rt_expect(rt, RT_MODE_OPEN, RT_MODE_BOUND, "set_host_state"));
  if (!has_slot(rt, param, slot)) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameter %u has no host state %u", param,
                     slot);
  }
  if (!is_settled(rt)) {
    return STEPRT_FAILED;
  }
  rt->host[rt->host_index[rt->first_host[param] + slot]] = value;
  return STEPRT_OK;
}

steprt_status steprt_set_count(struct steprt *rt, uint32_t param, uint64_t count) {
  RT_TRY(rt_expect(rt, RT_MODE_OPEN, RT_MODE_BOUND, "set_count"));
  if (!has_param(rt, param) || !rt->program->param[param].active) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameter %u has no rule", param);
  }
  if (!is_settled(rt)) {
    return STEPRT_FAILED;
  }
  rt->count[param] = count;
  return STEPRT_OK;
}
