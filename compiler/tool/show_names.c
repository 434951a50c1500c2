// Parameters and kernels of a plan by name.
#include "tool/show.h"

uint32_t show_find_param(const struct rt_plan *p, struct str name) {
  for (uint32_t i = 0; i < p->n_params; i++) {
    if (str_is(name, p->param[i].name)) {
      return i;
    }
  }
  return RT_NO_ID;
}

uint32_t show_find_kernel(const struct rt_plan *p, struct str name) {
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    if (str_is(name, p->kernel[i].name)) {
      return i;
    }
  }
  return RT_NO_ID;
}

struct str show_near(struct arena *a, const struct rt_plan *p, bool kernels,
                     struct str wrong) {
  enum { FARTHEST = 3 };
  const char *best = NULL;
  uint32_t n = kernels ? p->n_kernels : p->n_params, distance = FARTHEST + 1;
  for (uint32_t i = 0; i < n; i++) {
    const char *name = kernels ? p->kernel[i].name : p->param[i].name;
    uint32_t d = str_distance(wrong, str_of(name), FARTHEST);
    if (d < distance) {
      distance = d;
      best = name;
    }
  }
  return best == NULL ? STR("")
                      : str_fmt(a, "; did you mean `%s`?", str_escape(a, str_of(best)).p);
}
