// Sizes: rounding up, and the workspace of an orthogonalize on a device: what the planner sets aside and the device lays out.
#ifndef STEPRT_PLAN_WORK_H
#define STEPRT_PLAN_WORK_H

#include "plan/program.h"

static inline uint64_t rt_round_up(uint64_t n, uint64_t to) {
  return (n + to - 1) / to * to;
}

// Bytes on a GPU for `n` matrices rows x cols held wide, m x k with m <= k and both padded to multiples of 8: the
// operand and its successor (m x k each), two squares (m x m), all of the compute type, and 64 bytes for what
// the products need; each of the five arrays begins at a multiple of 256. On the CPU the products have scratch of their own: 0.
static inline uint64_t rt_ortho_work(bool on_gpu, const struct rt_iteration *it,
                                     uint64_t rows, uint64_t cols, uint64_t n) {
  uint64_t m = rt_round_up(rows < cols ? rows : cols, 8);
  uint64_t k = rt_round_up(rows < cols ? cols : rows, 8);
  uint64_t w = rt_storage_bytes(it->compute);
  return !on_gpu ? 0
                 : 2 * rt_round_up(n * m * k * w, 256) +
                       2 * rt_round_up(n * m * m * w, 256) + rt_round_up(n * 64, 256);
}

#endif
