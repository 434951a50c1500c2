// Lanes of the CPU device: a thread each, with a queue of entries that it runs in order. Only events order lanes.
#ifndef STEPRT_DEVICE_CPU_LANE_H
#define STEPRT_DEVICE_CPU_LANE_H

#include "core/handle.h"

#include <pthread.h>
#include <unistd.h>

struct cpu_entry {
  uint32_t op; // of plan->op, then of plan->init
  uint32_t first, n;
  uint32_t stage; // of UPLOAD
};

struct cpu_lane {
  struct cpu_lanes *lanes;
  uint32_t id; // enum rt_lane
  bool started;
  pthread_t thread;
  uint64_t capacity; // of the queue; 0: the plan has no operation for this lane
  struct cpu_entry *entry;
  uint64_t *ticket; // of each queued entry: one per wait, `most_waits` apart
  uint64_t *record; // of each queued entry: its place in `trace`
  uint32_t most_waits;
  uint64_t issued, done; // entries
};

typedef void (*cpu_exec_fn)(struct rt_device *d, const struct cpu_entry *e);

// All of it is guarded by `lock`; queues are filled by the caller's thread and emptied by the lanes'.
struct cpu_lanes {
  struct rt_device *device;
  const struct rt_plan *plan;
  cpu_exec_fn exec;
  steprt_status (*start)(struct rt_device *d); // on COMPUTE's thread, before any entry
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool made, stop;
  uint32_t n_ready; // threads that have started
  steprt_status started;
  pid_t process; // that has the threads: a child of fork has none
  struct cpu_lane lane[RT_N_LANES];
  uint64_t *signalled, *done; // per event: signals issued, and come
  uint64_t *waits; // the handle's counter: of the caller's waits for a place in a queue
  double seconds[RT_N_OP_KINDS];     // on COMPUTE since the last UPLOAD
  struct steprt_trace_record *trace; // a ring; NULL: not asked for
  uint64_t n_trace, next_trace;      // its size; records since open
};

static inline const struct rt_op *cpu_op(const struct rt_plan *plan, uint32_t op) {
  return op < plan->n_ops ? &plan->op[op] : &plan->init[op - plan->n_ops];
}

// Whether this process is a child of the one that has the threads.
static inline bool cpu_is_forked(const struct cpu_lanes *l) {
  return l->process != getpid();
}

void *cpu_lane_main(void *arg); // of a lane's thread

// Queues and threads; `l->device`, `plan`, `exec`, `start` and `waits` are set, the rest is zero. Threads run in the mode
// of core/fpmode.h and block all signals. OK, what `start` returned, or NO_MEMORY: then cpu_lanes_close frees what
// there is.
steprt_status cpu_lanes_open(struct cpu_lanes *l, struct rt_memory *m, bool trace);
// Runs what is queued, and joins the threads. In a child of fork there are none: nothing is run.
void cpu_lanes_close(struct cpu_lanes *l);

// Queues an entry. In a child of fork it is run here. STEPRT_BAD_STATE, here and below, in a child whose fork came in
// the middle of a step: nobody there will finish it.
steprt_status cpu_lanes_issue(struct cpu_lanes *l, const struct cpu_entry *e);
// Blocks until the first `ticket` entries of a lane are done; adds 1 to *waits where it had to.
steprt_status cpu_lanes_wait(struct cpu_lanes *l, enum rt_lane lane, uint64_t ticket,
                             uint64_t *waits);
// Entries issued so far: a ticket for what was queued last.
uint64_t cpu_lanes_ticket(const struct cpu_lanes *l, enum rt_lane lane);

#endif
