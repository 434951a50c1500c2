// The host's part of a step: scalars of every rule, counts and host states.
#ifndef STEPRT_CORE_ADVANCE_H
#define STEPRT_CORE_ADVANCE_H

#include "core/handle.h"

// Evaluates the rules of all parameters that take part into `stage`; advances counts and host states, as if the step
// were not skipped. In the floating-point mode of core/fpmode.h. Cannot fail.
void rt_advance(struct steprt *rt, struct rt_stage *stage);
// Takes the last rt_advance back.
void rt_retreat(struct steprt *rt);

#endif
