// run and end: which units a caller asks for, and which are left.
#include "core/issue.h"

static struct rt_shown param_name(const struct steprt *rt, uint32_t param) {
  return rt_show(rt->plan->param[param].name);
}

static struct rt_shown unit_name(const struct steprt *rt, uint32_t unit) {
  return param_name(rt, rt->plan->unit_param[rt->plan->unit[unit].first]);
}

// The unit of a set's i-th entry is asked for; once.
static steprt_status ask_unit(struct steprt *rt, uint32_t unit) {
  if (unit >= rt->plan->n_units) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "run: there is no unit %u, only %u", unit,
                     rt->plan->n_units);
  }
  if (rt->asked[unit] == rt->n_runs) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "run: unit %u ('%s') is named twice", unit,
                     unit_name(rt, unit).text);
  }
  if (rt->unit_mode[unit] != RT_UNIT_LEFT) {
    return rt_refuse(rt, STEPRT_BAD_STATE, "run: unit %u ('%s') has run in this step",
                     unit, unit_name(rt, unit).text);
  }
  rt->asked[unit] = rt->n_runs;
  return STEPRT_OK;
}

static steprt_status name_param(struct steprt *rt, uint32_t param) {
  if (param >= rt->plan->n_params) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "run: there is no parameter %u, only %u",
                     param, rt->plan->n_params);
  }
  if (rt->plan->param[param].unit == RT_NO_ID) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "run: parameter '%s' has no rule",
                     param_name(rt, param).text);
  }
  if (rt->named[param] == rt->n_runs) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "run: parameter '%s' is named twice",
                     param_name(rt, param).text);
  }
  rt->named[param] = rt->n_runs;
  return STEPRT_OK;
}

// The unit of a named parameter, whose others must be named too.
static steprt_status ask_whole(struct steprt *rt, uint32_t param) {
  uint32_t id = rt->plan->param[param].unit;
  const struct rt_unit *u = &rt->plan->unit[id];
  if (rt->asked[id] == rt->n_runs) {
    return STEPRT_OK; // by another of its parameters
  }
  for (uint32_t i = u->first; i < u->first + u->n; i++) {
    uint32_t other = rt->plan->unit_param[i];
    if (rt->named[other] != rt->n_runs) {
      return rt_refuse(
          rt, STEPRT_BAD_ARGUMENT,
          "run: parameter '%s' updates together with '%s', which is not in the set",
          param_name(rt, param).text, param_name(rt, other).text);
    }
  }
  return ask_unit(rt, id);
}

// Marks what the set asks for in rt->asked; changes nothing else.
static steprt_status ask_set(struct steprt *rt, const struct steprt_set *set) {
  rt->n_runs++;
  if ((set->units != NULL) == (set->params != NULL) && set->n > 0) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                     "run: a set has units or parameters, one of the two");
  }
  for (uint32_t i = 0; i < set->n; i++) {
    RT_TRY(set->units ? ask_unit(rt, set->units[i]) : name_param(rt, set->params[i]));
  }
  for (uint32_t i = 0; set->params && i < set->n; i++) {
    RT_TRY(ask_whole(rt, set->params[i]));
  }
  return STEPRT_OK;
}

static steprt_status join(struct steprt *rt, void *stream) {
  return rt->class->join ? rt_checked(rt, rt->class->join(rt->device, stream))
                         : STEPRT_OK;
}

static void set_modes(struct steprt *rt, enum rt_unit_mode from, enum rt_unit_mode to) {
  for (uint32_t u = 0; u < rt->plan->n_units; u++) {
    rt->unit_mode[u] = rt->unit_mode[u] == from ? (uint8_t)to : rt->unit_mode[u];
  }
}

static steprt_status run_set(struct steprt *rt, const struct steprt_set *set) {
  RT_TRY(ask_set(rt, set));
  uint32_t first = rt->plan->n_chunks, end = 0;
  for (uint32_t u = 0; u < rt->plan->n_units; u++) {
    if (rt->asked[u] == rt->n_runs) {
      const struct rt_unit *unit = &rt->plan->unit[u];
      rt->unit_mode[u] = RT_UNIT_SELECTED;
      rt->n_left--;
      first = unit->first_chunk < first ? unit->first_chunk : first;
      uint32_t after = unit->first_chunk + unit->n_chunks;
      end = after > end ? after : end;
    }
  }
  RT_TRY(rt_issue_chunks(rt, first, end));
  set_modes(rt, RT_UNIT_SELECTED, RT_UNIT_RUN);
  return STEPRT_OK;
}

// Under overlap what lies beyond the first chunks stays selected, and is enqueued later.
static steprt_status run_left(struct steprt *rt) {
  const struct rt_plan *plan = rt->plan;
  set_modes(rt, RT_UNIT_LEFT, RT_UNIT_SELECTED);
  rt->n_left = 0;
  rt->next_chunk = 0;
  return rt_issue_until(rt,
                        plan->configuration.overlap ? plan->first_ahead : plan->n_chunks);
}

static steprt_status run(struct steprt *rt, const struct steprt_set *set) {
  void *stream = set && set->stream ? set->stream : rt->stream;
  if (!set && rt->n_left == 0 && rt->plan->n_units > 0) {
    return rt_refuse(rt, STEPRT_BAD_STATE, "run: all units have run in this step");
  }
  RT_TRY(rt_check_stream(rt, stream));
  if (rt->class->fork) {
    RT_TRY(rt_checked(rt, rt->class->fork(rt->device, stream)));
  }
  RT_TRY(set ? run_set(rt, set) : run_left(rt));
  return rt->plan->configuration.overlap ? STEPRT_OK : join(rt, stream);
}

steprt_status steprt_run(struct steprt *rt, const struct steprt_set *set) {
  struct steprt_set in = {.size = sizeof in};
  RT_TRY(rt_expect(rt, RT_MODE_BEGUN, RT_MODE_BEGUN, "run"));
  if (set && !rt_read_versioned(&in, sizeof in, set)) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                     "run: a set of a size or with a field that this library does not "
                     "know");
  }
  return run(rt, set ? &in : NULL);
}

steprt_status steprt_end(struct steprt *rt) {
  RT_TRY(rt_expect(rt, RT_MODE_BEGUN, RT_MODE_BEGUN, "end"));
  for (uint32_t u = 0; u < rt->plan->n_units; u++) {
    if (rt->unit_mode[u] == RT_UNIT_LEFT) {
      return rt_refuse(rt, STEPRT_BAD_STATE,
                       "end: unit %u ('%s') has not run; %u are left out", u,
                       unit_name(rt, u).text, rt->n_left);
    }
  }
  rt->mode = RT_MODE_BOUND;
  return STEPRT_OK;
}

uint32_t steprt_units(const struct steprt *rt, uint32_t *unit_of) {
  if (!rt || rt->mode < RT_MODE_OPEN) {
    return 0;
  }
  for (uint32_t i = 0; unit_of && i < rt->plan->n_params; i++) {
    unit_of[i] = rt->plan->param[i].unit;
  }
  return rt->plan->n_units;
}
