// Programs without a plan: waves. Goes when the compiler plans every program.
#ifndef STEPRT_CORE_OLD_H
#define STEPRT_CORE_OLD_H

#include "core/binned.h"
#include "core/items.h"
#include "core/memory.h"
#include "core/ortho.h"
#include "core/team.h"
#include "plan/program.h"
#include "steprt.h"

struct rt_wave {
  uint32_t first_op, n_ops;
  uint64_t first_item, n_items; // of its MAP operations
  bool has_ortho;
};

// A list of operations, cut into waves and items.
struct rt_schedule {
  const struct rt_wave_op *op;
  struct rt_wave *wave;
  uint32_t n_waves;
  struct rt_item *item;
};

// One per thread, a cache line apart.
struct rt_thread_sum {
  _Alignas(64) struct binned sum;
};

struct rt_old {
  struct rt_team *team;
  struct rt_blas *blas; // NULL: no operation needs one
  void *scratch;        // of rt_ortho
  void **base;          // address of each buffer; gradients only inside a step
  struct rt_schedule step, init;
  struct rt_item *grad_item; // NULL: the recipe does not look at gradients
  uint64_t n_grad_items;
  struct rt_thread_sum *thread_sum;
  float *scalar;
  uint64_t *own_scalar;
  const float **scalars;
  float clip;
  bool ran;
};

struct steprt;
steprt_status rt_old_open(struct steprt *rt, uint32_t threads);
void rt_old_close(struct steprt *rt);
steprt_status rt_old_bind(struct steprt *rt, void *const *params);
steprt_status rt_old_begin(struct steprt *rt, const void *const *grads, double bound);
steprt_status rt_old_run(struct steprt *rt, const struct steprt_set *units);
steprt_status rt_old_end(struct steprt *rt);
void rt_run_schedule(struct steprt *rt, const struct rt_schedule *s);
steprt_status rt_make_schedules(struct steprt *rt);
steprt_status rt_make_buffers(struct steprt *rt, enum rt_buffer_kind kind);

#endif
