// A step made by hand, small and with everything in it: momentum with a host state of its own, one of its group, a
// clip, a state with an initial value, a temporary, two phases, a frozen parameter.
//
//   seed := param (at bind)
//   decay := decay * beta (host, own); half := half * 0.5 (host, per group); correction = 1 - decay
//   phase 0: m := beta m + clip grad; u := m
//   phase 1: param := param - rate * u,  rate = lr * half / correction / step
#ifndef TESTS_TINY_PROGRAM_H
#define TESTS_TINY_PROGRAM_H

#include "support/tiny_plan.h"

enum {
  TINY_PARAMS = 4,
  TINY_RULES = 3,
  TINY_INS = 17,
  TINY_FROZEN = 2,
  TINY_BF16_GRAD = 3,
  TINY_BF16_RULE = 2
};
enum { TINY_COPY, TINY_MOMENTUM, TINY_MOMENTUM_BF16, TINY_UPDATE, TINY_KERNELS };
enum { TINY_LR, TINY_TWICE, TINY_BETA, TINY_CLIP, TINY_HYPERS };

struct tiny {
  struct steprt_program program;
  struct rt_param param[TINY_PARAMS];
  struct rt_kernel kernel[TINY_KERNELS];
  struct rt_rule rule[TINY_RULES];
  struct rt_tensor tensor[TINY_RULES][7];
  struct rt_phase phase[TINY_RULES][3]; // init, momentum, update
  struct rt_host_ins ins[TINY_INS];     // of all
  struct rt_hyper hyper[TINY_HYPERS];
  uint32_t momentum_scalar[2], update_scalar[1];
  struct tiny_plan plan;
};

// Parameters w (first of `numel`), v, frozen, h (gradient in bf16), with a plan of resident states: a unit for each
// parameter, one chunk. The program stays valid while `t` does.
void tiny_make(struct tiny *t, const uint64_t numel[TINY_PARAMS]);

#endif
