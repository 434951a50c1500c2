// The digest that ties a plan to its program.
#ifndef STEPRT_PLAN_PROGRAM_DIGEST_H
#define STEPRT_PLAN_PROGRAM_DIGEST_H

#include "plan/program.h"

// SHA-256, in hex, over what a plan is made from: target, parameters, rules with their phases and host code, iterations,
// what kernels read and write. Left out are the plan, addresses, machine code (a plan may be made before there is any)
// and the values of hypers, which may change at every step. False: out of memory.
bool rt_program_digest(const struct steprt_program *p, char hex[65]);

#endif
