// What runs operations: the one interface between the core, which decides nothing but what is issued when, and a
// device, which has memory and lanes. Classes: device/cpu, device/cuda.
//
// The core calls a device from one thread at a time. From `begin` to `wait_all` no call waits, but `stage` (when the
// caller is RT_STAGES steps ahead), `verdict` and `wait`; each wait is counted. A failure on a lane is kept and comes
// out of the next call that returns a status; operations issued after it do nothing.
#ifndef STEPRT_DEVICE_DEVICE_H
#define STEPRT_DEVICE_DEVICE_H

#include "plan/program.h"
#include "steprt.h"

struct steprt;
struct rt_device;

// One operation of the plan, or a part of one: of its rows or copies those in [first, first + n), absolute indices
// into plan->row or plan->copy. n == 0: it only waits and signals. Operations without rows or copies have 0, 0.
struct rt_entry {
  uint32_t op; // index into plan->op
  uint32_t first, n;
  bool whole; // all operations of its chunk are issued now, in order and whole
};

// What UPLOAD brings to the device. Written by begin before it is issued; the device owns the memory (pinned, where
// that matters), RT_STAGES in turn.
enum { RT_STAGES = 4 };
struct rt_stage {
  // One block per distinct evaluation of a rule: for each of its phases in order the scalars of that phase's kernel, in
  // the kernel's order (a clip's place holds 1).
  float *scalar;
  uint32_t n_scalars;  // in use
  uint32_t *scalar_at; // per parameter: where in `scalar` its block begins
  const void **grad;   // per parameter; NULL: it takes no part in this step
  double bound;        // of the clip; infinity where the recipe has none
};

struct rt_device_class {
  const char *name; // "cpu"
  // rt->program and its plan are checked. Allocates everything: lanes, arena, resident states, the host slab, stages.
  // On failure nothing is left behind and the handle has the text.
  steprt_status (*open)(struct steprt *rt, const struct steprt_options *options,
                        struct rt_device **out);
  void (*close)(
      struct rt_device *d); // waits for its lanes; accepts what a failed step left
  // Addresses of all parameters, checked by the core for NULL and alignment. Zeroes the states and runs plan->init;
  // done when it returns.
  steprt_status (*bind)(struct rt_device *d, void *const *params);

  // Before anything changes: are `stream` and the gradients of this device? `grads`: one per parameter, or NULL: only
  // the stream is asked about; an entry may be NULL. Refuses with the parameter's name (STEPRT_BAD_ARGUMENT). NULL: a device that takes any address.
  steprt_status (*check)(struct rt_device *d, const void *const *grads, void *stream);

  // The next stage to fill; what it points to holds what rt_stage_scalars and the number of parameters ask for.
  steprt_status (*stage)(struct rt_device *d, struct rt_stage **out);
  // COMPUTE waits for what `stream` (a CUstream; CPU: ignored) holds now; the other lanes touch only memory of the
  // device's own and may run ahead. `join` makes it wait for COMPUTE's work so far. Both NULL: a device without
  // streams, whose callers block in `wait` where they would join.
  steprt_status (*fork)(struct rt_device *d, void *stream);
  steprt_status (*join)(struct rt_device *d, void *stream);
  // Enqueues in this order; waits and signals of the operation are honoured. `stage` is that of this step.
  steprt_status (*issue)(struct rt_device *d, const struct rt_entry *e,
                         const struct rt_stage *stage);
  // Makes `stream` wait (without streams: blocks) for the operations of COMPUTE up to the last one issued of `chunk`;
  // to wait for more is right too.
  steprt_status (*wait_chunk)(struct rt_device *d, uint32_t chunk, void *stream);
  // Blocks until the operations of COMPUTE issued so far are done (`compute_only`), or all.
  steprt_status (*wait)(struct rt_device *d, bool compute_only);
  // The verdict of the last VERDICT issued; blocks until it is known.
  steprt_status (*verdict)(struct rt_device *d, struct rt_verdict *out);

  // Between steps, after `wait`: copies `bytes` at `at` (STATE, HOST) to or from host memory.
  steprt_status (*read)(struct rt_device *d, struct rt_at at, void *to, uint64_t bytes);
  steprt_status (*write)(struct rt_device *d, struct rt_at at, const void *from,
                         uint64_t bytes);
  // The address of a state, or NULL where the host cannot reach it.
  void *(*address)(struct rt_device *d, struct rt_at at);
  // Seconds on COMPUTE of the last step, by kind of operation (RT_N_OP_KINDS), after `wait`; with options.trace
  // every record. See steprt_trace.
  void (*times)(struct rt_device *d, double *seconds);
  uint64_t (*trace)(struct rt_device *d, struct steprt_trace_record *out, uint64_t n);
};

// The most scalars that a step of `p` has: one block for each parameter that has a rule.
uint64_t rt_stage_scalars(const struct steprt_program *p);
// Where the scalars of a phase begin in the block of its rule; `phase` == n_phases: the size of the block.
uint32_t rt_phase_scalars(const struct steprt_program *p, uint32_t rule, uint32_t phase);

extern const struct rt_device_class rt_device_cpu;
extern const struct rt_device_class rt_device_cuda; // of targets "cuda:..."
// By the program's target; NULL: none runs it.
const struct rt_device_class *rt_device_class(const char *target);

#endif
