// A step made by hand, small and with everything in it: momentum with a host state of its own, one of its group, a
// clip, a state with an initial value, a temporary, two waves, a frozen parameter.
//
//   seed := param (at bind)
//   decay := decay * beta (host, own); half := half * 0.5 (host, per group); correction = 1 - decay
//   wave 0: m := beta m + clip grad; u := m
//   wave 1: param := param - rate * u,  rate = lr * half / correction / step
#ifndef TESTS_TINY_PROGRAM_H
#define TESTS_TINY_PROGRAM_H

#include "plan/program.h"

enum { TINY_PARAMS = 4, TINY_INS = 17, TINY_FROZEN = 2, TINY_BF16_GRAD = 3 };
enum { TINY_LR, TINY_TWICE, TINY_BETA, TINY_CLIP, TINY_HYPERS };

struct tiny {
  struct steprt_program program;
  struct rt_param param[TINY_PARAMS];
  struct rt_buffer buffer[TINY_PARAMS * 5];
  struct rt_kernel kernel[4];
  struct rt_rule rule[2];
  struct rt_host_ins ins[TINY_INS]; // of both
  struct rt_hyper hyper[TINY_HYPERS];
  struct rt_wave_op init[TINY_PARAMS], op[2 * TINY_PARAMS];
  uint32_t init_buffer[TINY_PARAMS][2], momentum_buffer[TINY_PARAMS][3],
      update_buffer[TINY_PARAMS][2];
  uint32_t momentum_scalar[2], update_scalar[1];
};

// Parameters w (first of `numel`), v, frozen, h (gradient in bf16). The program stays valid while `t` does.
void tiny_make(struct tiny *t, const uint64_t numel[TINY_PARAMS]);

#endif
