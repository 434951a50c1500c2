// Host scalars: evaluates `struct rt_host_ins` lists (core/host.def) in double.
#ifndef STEPRT_CORE_HOSTCODE_H
#define STEPRT_CORE_HOSTCODE_H

#include "plan/program.h"

// What a list reads and writes. STATE reads `state`, the values before this evaluation; SET writes `next`: the
// order of the two does not matter. `next` must hold the old values where a state is not set.
struct rt_host_env {
  const double *hyper, *state, *input;
  double step;
  double *next;
  float *out;
};

// Runs the list over `reg`, at least as many registers as it names; returns the last instruction's register, or its
// argument for SET and OUT. 0 instructions give 0. The thread's floating-point mode must be that of core/fpmode.h.
double rt_host_eval(const struct rt_host_ins *ins, uint32_t n,
                    const struct rt_host_env *env, double *reg);

// How many of each thing a list may name.
struct rt_host_bounds {
  uint32_t n_regs, n_hypers, n_states, n_inputs, n_outs;
  bool has_step;
};
// True when every op, register and index is within bounds and every register is written before it is read;
// `defined` has n_regs entries of scratch. Else `why` (size n_why) says what is wrong with which instruction.
bool rt_host_check(const struct rt_host_ins *ins, uint32_t n,
                   const struct rt_host_bounds *bounds, bool *defined, char *why,
                   size_t n_why);

// x^y: by repeated squaring where y is an integer below 2^53 (the same bits on every host), else libm's pow.
double rt_pow(double x, double y);
// A NaN passes on; -0 < +0 (IEEE 754-2019 minimum and maximum).
double rt_min(double a, double b);
double rt_max(double a, double b);
// -1, 0 or 1; sign(-0) is 0; a NaN passes on.
double rt_sign(double x);

#endif
