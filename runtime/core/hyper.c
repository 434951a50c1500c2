// Hypers: by name, bound to each other, and within their ranges.
#include "core/fpmode.h"
#include "core/handle.h"
#include "core/hostcode.h"

#include <math.h>
#include <stdio.h>

int32_t steprt_hyper(const struct steprt *rt, const char *label, const char *name) {
  if (!rt || rt->mode < RT_MODE_OPEN || !name) {
    return RT_NONE;
  }
  for (uint32_t i = 0; i < rt->program->n_hypers; i++) {
    const struct rt_hyper *h = &rt->program->hyper[i];
    if (!strcmp(h->label, label ? label : "") && !strcmp(h->name, name)) {
      return (int32_t)i;
    }
  }
  return RT_NONE;
}

static bool is_hyper(const struct steprt *rt, int32_t hyper) {
  return rt && rt->mode >= RT_MODE_OPEN && hyper >= 0 &&
         (uint32_t)hyper < rt->program->n_hypers;
}

static struct rt_shown full_name(const struct rt_hyper *h) {
  char text[160];
  snprintf(text, sizeof text, "%.70s%s%.70s", h->label, *h->label ? "." : "", h->name);
  return rt_show(text);
}

steprt_status steprt_set_hyper(struct steprt *rt, int32_t hyper, double value) {
  RT_TRY(rt_expect(rt, RT_MODE_OPEN, RT_MODE_BEGUN, "set_hyper"));
  if (!is_hyper(rt, hyper)) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "set_hyper: there is no hyper %d", hyper);
  }
  const struct rt_hyper *h = &rt->program->hyper[hyper];
  if (h->bound) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                     "%s follows from other hypers and cannot be set", full_name(h).text);
  }
  rt->hyper[hyper] = value;
  rt_hypers_bind(rt);
  return STEPRT_OK;
}

double steprt_get_hyper(const struct steprt *rt, int32_t hyper) {
  return is_hyper(rt, hyper) ? rt->hyper[hyper] : (double)NAN;
}

void rt_hypers_bind(struct steprt *rt) {
  const struct rt_host_env env = {.hyper = rt->hyper};
  uint32_t mode = rt_fpmode_enter();
  for (uint32_t i = 0; i < rt->program->n_hypers; i++) {
    const struct rt_hyper *h = &rt->program->hyper[i];
    if (h->bound) {
      rt->hyper[i] = rt_host_eval(h->bound, h->n_bound, &env, rt->reg);
    }
  }
  rt_fpmode_leave(mode);
}

static bool in_range(const struct rt_hyper *h, double v) {
  if (isnan(v)) {
    return false;
  }
  if (!h->has_range) {
    return true;
  }
  return (h->lo_open ? v > h->lo : v >= h->lo) && (h->hi_open ? v < h->hi : v <= h->hi);
}

steprt_status rt_hypers_check(struct steprt *rt) {
  for (uint32_t i = 0; i < rt->program->n_hypers; i++) {
    const struct rt_hyper *h = &rt->program->hyper[i];
    if (in_range(h, rt->hyper[i])) {
      continue;
    }
    if (!h->has_range) {
      return rt_refuse(rt, STEPRT_RANGE, "%s is not a number", full_name(h).text);
    }
    return rt_refuse(rt, STEPRT_RANGE, "%s = %.9g is outside %c%.9g, %.9g%c",
                     full_name(h).text, rt->hyper[i], h->lo_open ? '(' : '[', h->lo,
                     h->hi, h->hi_open ? ')' : ']');
  }
  return STEPRT_OK;
}
