// Verifies a program before anything of it is used: every id, index, size and order.
#ifndef STEPRT_CORE_CHECK_H
#define STEPRT_CORE_CHECK_H

#include "core/handle.h"

// STEPRT_BAD_PROGRAM with a text that names the thing at fault, or STEPRT_NO_MEMORY. After OK every index in the
// program is within its bounds, sizes do not overflow and host code can run. What a kernel
// does with its pointers is beyond it: a program is as trusted as a shared library.
steprt_status rt_check_program(struct steprt *rt, const struct steprt_program *p);

// Of check_phases.c: the phases of a rule of `p`, whose kernels and iterations are checked.
steprt_status rt_check_phases(struct steprt *rt, const struct steprt_program *p,
                              const struct rt_rule *r);

// a * b in *out; false on overflow.
static inline bool rt_mul(uint64_t a, uint64_t b, uint64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

#endif
