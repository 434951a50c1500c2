// The CUDA device: what its files share. One primary context, retained and pushed only for the length of a call; a
// stream per lane and an event per event of the plan, made at open; one upload per step; tables of rows made at bind.
// Everything of one handle; nothing is global.
#ifndef STEPRT_CUDA_CUDA_H
#define STEPRT_CUDA_CUDA_H

#include "core/handle.h"
#include "device/cuda/driver.h"
#include "device/cuda/ortho.h"
#include "device/device.h"
#include "tier/host.h"

#include <sys/types.h>

// The device and the caller's primary context on it.
struct cu_context {
  int32_t ordinal;
  int device, major, minor;
  char name[96], bus[24]; // bus: "0000:3b:00.0"
  void *context;          // NULL: not retained
  pid_t process;          // CUDA does not survive a fork
};

// One of the program's kernels.
struct cu_kernel {
  void *library, *function;
  uint32_t n_ptrs;   // of its rows: gradients are not in them
  uint32_t row_size; // bytes of a row of its tables
};

// Bytes of the slab that are pinned by one call; a copy that crossed two of them the driver would refuse.
#define CU_PINNED_PIECE ((uint64_t)1 << 30)

// Memory on the device.
struct cu_memory {
  uint64_t arena, state, step, upload, tables; // 0: none of it
};

// What UPLOAD copies, in this order: gradient pointers, scalar_at, scalars. One block on the device, RT_STAGES in
// pinned memory; `done` is recorded behind the copy that reads the block.
struct cu_stages {
  struct rt_stage stage[RT_STAGES];
  unsigned char *pinned;
  uint64_t bytes, scalar_at, scalar; // of one block; where its parts begin
  void *done[RT_STAGES];
  bool used[RT_STAGES];
  uint32_t next;
};

// A kernel's rows of one operation, on the device.
struct cu_table {
  uint64_t at;                // its first row; 0: none
  const uint32_t *first_tile; // n + 1: of each row, then of all
};

// A chunk's operations on COMPUTE, captured.
enum { CU_HELPERS = 6 }; // streams that run graphs
struct cu_graph {
  uint32_t first, last;         // operations of the plan
  uint32_t first_exec, n_execs; // in rt_device.exec; 0: they are launched one by one
};

struct cu_trace_record {
  void *begin, *end; // events
  struct steprt_trace_record record;
};
struct cu_trace {
  struct cu_trace_record *record; // NULL: no trace
  uint32_t n, limit;
  uint64_t left_out;
  void *begun;
};

struct rt_device {
  struct steprt *rt;
  const struct steprt_program *program;
  const struct rt_plan *plan;

  bool opened;
  struct cu_driver driver;
  struct cu_context context;
  void *lane[RT_N_LANES]; // streams; COMM has none
  void **event;           // of the plan
  bool *recorded;         // was it signalled yet?
  void **chunk_done;      // per chunk: behind its last operation on COMPUTE
  uint32_t *chunk_last;   // per chunk: that operation
  void *forked, *joined, *judged;

  struct cu_memory at;
  struct rt_slab slab;
  uint64_t registered; // bytes of the slab that the driver has pinned
  struct cu_kernel *kernel;
  struct cu_table *op_table, *init_table;
  uint64_t table_bytes;
  uint64_t *param;        // addresses
  const void **accepted;  // per parameter: the gradient that was checked last
  struct cu_graph *graph; // by chunk; NULL before bind and under a trace
  void **exec;            // instantiated graphs
  uint32_t n_execs;
  void *helper[CU_HELPERS], *handed,
      *returned;       // streams; events between them and COMPUTE
  uint64_t n_launched; // kernels
  struct cu_stages stages;
  struct rt_verdict *verdict; // pinned
  struct rt_cuda_ortho *ortho;
  struct cu_trace trace;
  const struct rt_op *doing; // NULL: not inside an operation
};

// ---- context.c

// Opens the driver, retains the primary context of device `ordinal`, makes streams and events. The context is pushed
// only inside. What a failure leaves is closed with the device.
steprt_status cu_context_open(struct rt_device *d, int32_t ordinal);
void cu_context_close(struct rt_device *d);
// Every call of the class lies between these two: the context is pushed, and popped.
steprt_status cu_enter(struct rt_device *d, const char *call);
void cu_leave(struct rt_device *d);
// Is this the process that opened the device?
bool cu_is_home(const struct rt_device *d);

steprt_status cu_new_event(struct rt_device *d, bool timed, void **out);

// The driver's `error` as a status with text: device, operation (unit, chunk, kernel), call, the driver's name and text.
// Once the device is open the handle has failed for good, but where memory is short outside of an operation
// (NO_MEMORY); before that the device is not usable (NO_LIBRARY).
steprt_status cu_error(struct rt_device *d, int error, const char *call);

// L2: counts what the driver is asked to make inside a step.
void cu_count(struct rt_device *d, enum cu_call call);

#define CU_TRY(d, field, ...)                                                            \
  do {                                                                                   \
    cu_count((d), CU_CALL_##field);                                                      \
    int cu_result = (d)->driver.field(__VA_ARGS__);                                      \
    if (cu_result != CU_SUCCESS) {                                                       \
      return cu_error((d), cu_result, cu_symbol(CU_CALL_##field));                       \
    }                                                                                    \
  } while (0)

// ---- memory.c

// Checks need against what the device has free and `limit` (0: none), then allocates. Pinned memory and slab too.
steprt_status cu_memory_open(struct rt_device *d, const struct steprt_options *o);
void cu_memory_close(struct rt_device *d);
// Where bytes of the plan lie: on the device; in HOST on the host. GRAD: 0.
uint64_t cu_address(const struct rt_device *d, struct rt_at at);
// Copies from pageable memory; done when it returns, for every stream.
steprt_status cu_put(struct rt_device *d, uint64_t to, const void *from, uint64_t bytes);

// ---- kernels.c

steprt_status cu_kernels_open(struct rt_device *d);
void cu_kernels_close(struct rt_device *d);

// ---- tables.c

// Sizes d->table_bytes and lays out the tables; once their memory is there they get their places; at bind their rows
// are written and uploaded.
steprt_status cu_tables_open(struct rt_device *d);
void cu_tables_place(struct rt_device *d);
steprt_status cu_tables_bind(struct rt_device *d);

// ---- stage.c

steprt_status cu_stages_open(struct rt_device *d);
void cu_stages_close(struct rt_device *d);
steprt_status cu_stage_next(struct rt_device *d, struct rt_stage **out);
steprt_status cu_stage_upload(struct rt_device *d, const struct rt_stage *s);

// ---- launch.c

// Rows or copies [first, first + n) of an operation with its waits and its signal.
steprt_status cu_issue(struct rt_device *d, const struct rt_op *op,
                       const struct cu_table *table, uint32_t first, uint32_t n,
                       const struct rt_stage *stage);

// ---- step.c: of the class

// Blocks until COMPUTE is idle, or all lanes are.
steprt_status cu_finish(struct rt_device *d, bool compute_only);
steprt_status cu_step_check(struct rt_device *d, const void *const *grads, void *stream);
steprt_status cu_step_stage(struct rt_device *d, struct rt_stage **out);
steprt_status cu_step_fork(struct rt_device *d, void *stream);
steprt_status cu_step_join(struct rt_device *d, void *stream);
steprt_status cu_step_issue(struct rt_device *d, const struct rt_entry *e,
                            const struct rt_stage *stage);
steprt_status cu_step_wait_chunk(struct rt_device *d, uint32_t chunk, void *stream);
steprt_status cu_step_wait(struct rt_device *d, bool compute_only);
steprt_status cu_step_verdict(struct rt_device *d, struct rt_verdict *out);

// What an operation does on its stream, without waits and signal.
steprt_status cu_run_op(struct rt_device *d, const struct rt_op *op,
                        const struct cu_table *table, uint32_t first, uint32_t n,
                        const struct rt_stage *stage);
// Operation `id` on COMPUTE of a chunk that is issued whole: its graph stands for all of them.
steprt_status cu_issue_whole(struct rt_device *d, uint32_t id);

// ---- graphs.c

steprt_status cu_graphs_make(struct rt_device *d); // at bind
void cu_graphs_close(struct rt_device *d);
steprt_status cu_graphs_launch(struct rt_device *d, const struct cu_graph *g);

// ---- check.c

// Is it memory, a stream of this device? Refused by the parameter's name. Gradients that were accepted before are not
// asked about again.
steprt_status cu_check_grads(struct rt_device *d, const void *const *grads);
steprt_status cu_check_params(struct rt_device *d, void *const *params);
steprt_status cu_check_stream(struct rt_device *d, void *stream);

// ---- trace.c

steprt_status cu_trace_open(struct rt_device *d);
void cu_trace_close(struct rt_device *d);
void cu_trace_clear(struct rt_device *d); // at a step's begin
// Times count from here, once COMPUTE has waited for the caller's stream; later calls of the step change nothing.
steprt_status cu_trace_begin(struct rt_device *d);
// Around an operation. NULL where nothing is traced.
steprt_status cu_trace_start(struct rt_device *d, const struct rt_op *op,
                             struct cu_trace_record **out);
steprt_status cu_trace_stop(struct rt_device *d, struct cu_trace_record *r,
                            uint64_t bytes);
// After the step is done: all records; adds the seconds of COMPUTE by kind of operation.
uint64_t cu_trace_read(struct rt_device *d, struct steprt_trace_record *out, uint64_t n);
void cu_trace_times(struct rt_device *d, double *kind);

#endif
