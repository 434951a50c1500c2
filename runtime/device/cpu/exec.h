// The CPU device: memory, a team of threads for COMPUTE, lanes.
#ifndef STEPRT_DEVICE_CPU_EXEC_H
#define STEPRT_DEVICE_CPU_EXEC_H

#include "core/binned.h"
#include "core/items.h"
#include "core/ortho.h"
#include "device/cpu/lane.h"
#include "tier/host.h"

// One per thread, a cache line apart.
struct cpu_thread_sum {
  _Alignas(64) struct binned sum;
};

// The items of an operation over rows, in the order of the rows.
struct cpu_cut {
  uint64_t first, n; // in `item`
};

struct rt_device {
  struct steprt *rt;
  const struct steprt_program *program;
  const struct rt_plan *plan;
  struct rt_team *team; // COMPUTE's; its thread counts as the first
  struct rt_blas *blas; // NULL: no operation needs one
  void *scratch;        // of rt_ortho
  struct cpu_thread_sum *thread_sum;

  char **param; // the caller's
  char *state, *arena;
  struct rt_slab host;
  char *step; // begins with the verdict
  // What the last UPLOAD brought. Read on COMPUTE only.
  float *scalar;
  uint32_t *scalar_at;
  char **grad;
  double bound;

  struct rt_stage stage[RT_STAGES];
  uint64_t stage_ticket[RT_STAGES]; // when COMPUTE has read it
  uint32_t next_stage;

  struct rt_item *item;
  struct cpu_cut *cut; // per operation: of plan->op, then of plan->init
  uint64_t *chunk_ticket, verdict_ticket;
  uint64_t first_record; // of this step, in the trace
  double begun;
  struct cpu_lanes lanes;
};

// Tables and memory of exec*.c; its parts go with the handle's memory, but for the slab and the BLAS.
steprt_status cpu_exec_open(struct rt_device *d);
// Runs an entry on its lane's thread.
void cpu_exec(struct rt_device *d, const struct cpu_entry *e);
// The address of `at`. NULL: a gradient that takes no part.
char *cpu_at(const struct rt_device *d, struct rt_at at);

static inline const struct rt_verdict *cpu_verdict(const struct rt_device *d) {
  const void *verdict = d->step + RT_STEP_VERDICT;
  return verdict;
}

// Of exec_grads.c: squares of the gradients of rows, and the verdict.
void cpu_reduce(struct rt_device *d, const struct rt_op *op, const struct cpu_entry *e);
void cpu_verdict_of(struct rt_device *d, const struct rt_op *op);

// The items of the rows of an entry, which may be a part of the operation's: [*first, *end) of d->item.
void cpu_items(const struct rt_device *d, const struct cpu_entry *e, uint64_t *first,
               uint64_t *end);
// The rows of an item that belong to the entry; elements of a single row.
struct cpu_span {
  uint32_t row, end_row;
  uint64_t begin, end; // where the item is a piece of one row; end 0: whole rows
};
struct cpu_span cpu_span_of(const struct rt_item *item, const struct cpu_entry *e);

#endif
