// One thing of a plan, with everything that the plan says about it.
#ifndef STEPC_TOOL_SHOW_H
#define STEPC_TOOL_SHOW_H

#include "base/str.h"

#include "plan/program.h" // runtime/

struct str show_param(struct arena *a, const struct rt_plan *p, uint32_t param);
struct str show_unit(struct arena *a, const struct rt_plan *p, uint32_t unit);
struct str show_kernel(struct arena *a, const struct rt_plan *p, uint32_t kernel);

// Index of the parameter or kernel of that name; RT_NO_ID where there is none.
uint32_t show_find_param(const struct rt_plan *p, struct str name);
uint32_t show_find_kernel(const struct rt_plan *p, struct str name);
// "; did you mean `x`?" among names of parameters (or kernels), or an empty text.
struct str show_near(struct arena *a, const struct rt_plan *p, bool kernels,
                     struct str wrong);

#endif
