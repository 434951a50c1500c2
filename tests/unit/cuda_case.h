// A small program with its plan, made by hand, for the CUDA device over the fake driver: two rules (one phase with an
// initial state; two phases with a temporary), a clip, a skip, a frozen parameter, and one cut between chunks.
#ifndef TESTS_CUDA_CASE_H
#define TESTS_CUDA_CASE_H

#include "plan/program.h"

enum {
  CASE_PARAMS = 6,
  CASE_FROZEN = 2,
  CASE_KERNELS = 6,
  CASE_PARTS = 5,
  CASE_TILE = 512
};
enum { CASE_MAX_ROWS = 128, CASE_MAX_OPS = 256 };
enum { CASE_STEP, CASE_MOMENTUM, CASE_UPDATE, CASE_INIT, CASE_SQUARES, CASE_JUDGE };
extern const uint64_t case_sizes[CASE_PARAMS];

struct cuda_case {
  struct steprt_program program;
  struct rt_plan plan;
  struct rt_param param[CASE_PARAMS];
  struct rt_kernel kernel[CASE_KERNELS];
  struct rt_kernel_info info[CASE_KERNELS];
  struct rt_rule rule[2];
  struct rt_plan_param plan_param[CASE_PARAMS];
  struct rt_state_home state[CASE_PARAMS];
  struct rt_row row[CASE_MAX_ROWS];
  struct rt_at at[3 * CASE_MAX_ROWS];
  struct rt_copy copy[2 * CASE_MAX_ROWS];
  struct rt_op op[CASE_MAX_OPS], init[CASE_MAX_OPS];
  struct rt_chunk chunk[CASE_MAX_ROWS];
  struct rt_event event[3 * 8];
  uint32_t wait[4 * CASE_MAX_ROWS];
};

// `slots` 0: all states resident, one chunk; else chunks of `elements` elements (of states) at most, a larger parameter
// cut at multiples of 4096.
void cuda_case_make(struct cuda_case *c, uint32_t slots, uint64_t elements);
// Registers what the program's kernels do with the fake driver.
void cuda_case_register(const struct cuda_case *c);

// One kernel's arithmetic on elements [begin, end), as rt_map_fn; ptr of all tensors in order, with the gradient.
rt_map_fn cuda_case_map(uint32_t kernel);

#endif
