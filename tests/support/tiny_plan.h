// Plans made by hand, without a compiler: for programs whose rules are element-wise or have matrix phases, on one rank.
#ifndef TESTS_TINY_PLAN_H
#define TESTS_TINY_PLAN_H

#include "plan/program.h"

struct tiny_plan_options {
  bool host;      // states stream; else they are resident, in one chunk
  uint32_t slots; // 0: 3
  uint64_t
      piece; // host: units of one parameter are cut after so many elements, a chunk each; 0: not
  uint32_t together; // this many neighbouring units are a chunk; 0: 1
  bool pair;         // the last two parameters with a rule are one unit
  bool overlap;
  uint32_t first_ahead, ahead;
};

enum {
  TINY_MOST_PARAMS = 16,
  TINY_MOST_CHUNKS = 32,
  TINY_MOST_OPS = 256,
  TINY_MOST_ROWS = 512,
  TINY_MOST_EVENTS = 32
};

struct tiny_plan {
  struct rt_plan plan;
  struct rt_plan_param param[TINY_MOST_PARAMS];
  struct rt_kernel_info kernel[TINY_MOST_PARAMS];
  struct rt_state_home state[4 * TINY_MOST_PARAMS];
  uint32_t unit_param[TINY_MOST_PARAMS];
  struct rt_unit unit[TINY_MOST_PARAMS];
  struct rt_chunk chunk[TINY_MOST_CHUNKS];
  struct rt_op op[TINY_MOST_OPS], init[TINY_MOST_OPS];
  struct rt_event event[TINY_MOST_EVENTS];
  uint32_t wait[TINY_MOST_OPS];
  struct rt_row row[TINY_MOST_ROWS];
  struct rt_at at[4 * TINY_MOST_ROWS];
  struct rt_copy copy[TINY_MOST_ROWS];
};

// The plan of `program`, which is complete but for it; it points into itself and `program`.
void tiny_plan_make(struct tiny_plan *t, const struct steprt_program *program,
                    const struct tiny_plan_options *o);

#endif
