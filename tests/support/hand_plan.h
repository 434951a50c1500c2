// A program and its plan made by hand, small and with everything in them: a matrix rule and element-wise ones, a unit in
// two chunks, three slots, a resident chunk, initial values, a norm over two ranks, a frozen parameter.
//
//   w [2, 4, 4]   muon   m on the host          unit 0, chunk 0, slot 0
//   v [8192]      adam   m, seed on the host    unit 1, chunks 1 and 2 (4096 elements each), slots 1 and 2
//   frozen [3]
//   h [16]        adam_bf16  m, seed resident   unit 2, chunk 3
#ifndef TESTS_HAND_PLAN_H
#define TESTS_HAND_PLAN_H

#include "plan/plan_json.h"

enum { HAND_W, HAND_V, HAND_FROZEN, HAND_H, HAND_PARAMS };
enum { HAND_MOMENTUM, HAND_UPDATE, HAND_ADAM, HAND_SEED, HAND_ADAM_BF16, HAND_KERNELS };
enum {
  HAND_SLOTS = 3,
  HAND_BEGIN = 5,
  HAND_OPS = HAND_BEGIN + 5 + 3 + 3 + 1,
  HAND_INIT = 3 + 3 + 1,
  HAND_ROWS = 3 + 3 + 3 + 1 + 1 + 1,
  HAND_AT = 6 + 3 + 7 + 4 + 4 + 4,
  HAND_COPIES = 5,
  HAND_EVENTS = 3 * HAND_SLOTS + 2,
};

struct hand {
  struct steprt_program program;
  struct rt_param program_param[HAND_PARAMS];
  struct rt_kernel program_kernel[HAND_KERNELS];
  struct rt_rule rule[3];
  struct rt_phase muon[3], adam[1], adam_bf16[1], init[1];
  struct rt_iteration iteration[1];

  struct rt_plan plan; // sealed
  struct rt_plan_param param[HAND_PARAMS];
  struct rt_kernel_info kernel[HAND_KERNELS];
  struct rt_access access[HAND_KERNELS][4];
  struct rt_state_home state[5];
  uint32_t unit_param[3];
  struct rt_unit unit[3];
  struct rt_chunk chunk[4];
  struct rt_op op[HAND_OPS], init_op[HAND_INIT];
  struct rt_event event[HAND_EVENTS];
  uint32_t wait[16];
  struct rt_row row[HAND_ROWS];
  struct rt_at at[HAND_AT];
  struct rt_copy copy[HAND_COPIES];
  const char *note[2];
};

// Both stay valid while `h` does, and where it lies.
void hand_make(struct hand *h);
// The same for CUDA: kernels with images that no device would load.
void hand_make_cuda(struct hand *h);

// Ids of the plan, for tests that spoil it.
enum { // ops
  HAND_UPLOAD,
  HAND_REDUCE,
  HAND_MERGE,
  HAND_EXCHANGE,
  HAND_VERDICT,
  HAND_LOAD_0,
  HAND_MAP_M,
  HAND_ORTHO,
  HAND_MAP_U,
  HAND_STORE_0,
  HAND_LOAD_1,
  HAND_MAP_1,
  HAND_STORE_1,
  HAND_LOAD_2,
  HAND_MAP_2,
  HAND_STORE_2,
  HAND_MAP_H
};
enum {
  HAND_SUMMED = 3 * HAND_SLOTS,
  HAND_GATHERED
}; // events; a slot's are 3 * slot + kind

#endif
