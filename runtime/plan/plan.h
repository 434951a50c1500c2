// The plan of a step as data (DESIGN sections 1 and 6): one list of operations, each with its lane, the byte ranges
// that it reads and writes, and what it waits for. The planner fills these structs, plan.json holds them, the verifier
// proves them, the runtime runs them. There is no second description of a step.
//
// Ownership: whoever made the plan owns all of it. Everything is of one rank. Sizes are bytes unless said otherwise.
#ifndef STEPRT_PLAN_PLAN_H
#define STEPRT_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RT_ID_NONE = -1 }; // as uint32_t: UINT32_MAX
#define RT_NO_ID UINT32_MAX

// ---- addresses

// Where bytes lie. The first two are the caller's memory, one space per parameter; the others are one block each.
enum rt_space {
  RT_AT_PARAM, // index: the parameter; this rank's shard
  RT_AT_GRAD,  // index: the parameter
  RT_AT_STATE, // states that stay on the device
  RT_AT_HOST,  // the host slab: states that stream
  RT_AT_ARENA, // on the device: slots, temporaries, workspaces
  RT_AT_STEP, // on the device: numbers of the step: verdict, sums, scalars (see rt_step_layout)
  RT_N_SPACES
};
struct rt_at {
  uint32_t space; // enum rt_space
  uint32_t index; // PARAM, GRAD: the parameter; else 0
  uint64_t offset;
};

// The STEP space: what every plan has at the same place. Partial sums of REDUCE operations follow from `sums`.
struct rt_verdict {
  float clip;    // what gradients are multiplied by
  uint32_t skip; // not 0: operations change nothing
  double norm;
};
enum {
  RT_STEP_VERDICT = 0, // struct rt_verdict
  RT_STEP_UPLOAD =
      32, // stands for what UPLOAD brings: scalars, gradient pointers, the clip's bound; the device keeps them
  RT_UPLOAD_BYTES = 32,
  RT_STEP_SUM = 64, // this rank's sum: one set of bins
  RT_STEP_GATHERED =
      128, // with several ranks: their sums, RT_BINS_BYTES each, in order of rank
  RT_BINS_BYTES = 40 // struct binned (core/binned.h)
};

// ---- lanes and events

// Operations of one lane run in the order of the list. Lanes run side by side; only events order them.
enum rt_lane { RT_LANE_LOAD, RT_LANE_COMPUTE, RT_LANE_STORE, RT_LANE_COMM, RT_N_LANES };

// An event is signalled by operations of one lane only, each time anew. Waiting for it means: for the latest signal
// that was issued before the waiting operation; at once where there was none. So an order holds for every sequence of
// subsets of chunks, and from one step to the next.
enum rt_event_kind {
  RT_EVENT_LOADED,   // slot: its chunk's states are there
  RT_EVENT_COMPUTED, // slot: its chunk is updated
  RT_EVENT_FREE,     // slot: its chunk is stored; it may be loaded again
  RT_EVENT_SUMMED,   // this rank's sum of squares stands
  RT_EVENT_GATHERED, // so do those of all ranks
  RT_N_EVENT_KINDS
};
struct rt_event {
  uint32_t kind; // enum rt_event_kind
  uint32_t slot; // of the first three; else 0
};

// ---- kernels

// One pointer of a kernel.
struct rt_access {
  uint32_t bytes; // per element
  bool read, written;
};
// What a plan tells about a kernel; index for index those of the program.
struct rt_kernel_info {
  const char *name;
  uint32_t n_ptrs, n_scalars;
  const struct rt_access *access;      // n_ptrs
  uint32_t bytes_read, bytes_written;  // per element
  uint32_t registers, shared, spilled; // per thread, per block, per thread; CUDA only
};

// ---- operations

// A piece of one parameter: elements [first, first + numel) of this rank's shard, row-major.
struct rt_row {
  uint32_t param, unit;
  uint64_t first, numel;
  uint32_t phase; // of its rule that this is (init: of its initial phases); REDUCE: 0
  // first of its addresses in plan->at, one per pointer of the kernel, each that of element `first`
  uint32_t at;
};

// Bytes that a LOAD brings from the host to the arena, or a STORE back.
struct rt_copy {
  uint64_t host, arena, bytes; // offsets
  uint32_t unit;
};

// What each reads and writes beside what is said here (rt_op_ranges): MAP of a chunk, REDUCE and VERDICT read
// RT_STEP_UPLOAD, which UPLOAD writes; every MAP of a chunk reads RT_STEP_VERDICT in a plan that has a VERDICT, which is
// then the last operation of begin. VERDICT's `work` is RT_STEP_GATHERED, world * RT_BINS_BYTES, in a plan with EXCHANGE.
// REDUCE has one address per row, the gradient.
enum rt_op_kind {
  RT_OP_UPLOAD, // COMPUTE: the step's scalars and gradient pointers to the device
  RT_OP_REDUCE, // COMPUTE: squares of the gradients of `rows` into partial sums at `work`
  RT_OP_MERGE, // COMPUTE: partial sums of `work` into RT_STEP_SUM; plans with EXCHANGE only
  RT_OP_EXCHANGE, // COMM: every rank's RT_STEP_SUM into RT_STEP_GATHERED of all
  RT_OP_VERDICT,  // COMPUTE: clip factor and verdict from the sums at `work`
  RT_OP_LOAD,     // LOAD: copies
  RT_OP_MAP,      // COMPUTE: a kernel over rows
  RT_OP_ORTHO, // COMPUTE: orthogonalize the matrices of rows: two addresses each, operand and result
  RT_OP_STORE, // STORE: copies
  RT_N_OP_KINDS
};

struct rt_op {
  uint32_t kind, lane;
  uint32_t chunk;    // RT_NO_ID: of begin, once per step before all chunks
  uint32_t first, n; // rows of plan->row, or copies of plan->copy
  uint32_t kernel;   // MAP, REDUCE: of the program; ORTHO: iteration
  uint32_t first_wait,
      n_waits;     // in plan->wait: events that it waits for before it starts
  uint32_t signal; // event that it signals when it is done; RT_NO_ID: none
  // ORTHO: workspace (ARENA); REDUCE, MERGE, VERDICT: partial sums (STEP)
  struct rt_at work;
  uint64_t work_bytes;                       // 0: none
  uint32_t in_bytes, out_bytes;              // ORTHO: per element of operand and result
  uint64_t rows, cols;                       // ORTHO: of one matrix
  uint64_t bytes_read, bytes_written, flops; // estimates for forecasts and reports
};

// ---- what is updated together

// Parameters that update together. Units partition the parameters that have a rule; their order and their numbers
// are the same on all ranks, also where a rank holds nothing of one.
struct rt_unit {
  uint32_t first, n; // in plan->unit_param
  uint32_t first_chunk,
      n_chunks; // a unit is in one chunk but where it is cut between rows (DESIGN section 6)
  // of its states, rank-invariant: global bytes / number of shards, rounded up
  uint64_t bytes;
};

struct rt_chunk {
  uint32_t first_unit,
      n_units; // in the order of the plan; neighbours share a unit that is cut
  uint32_t first_op, n_ops;
  uint32_t slot;  // RT_NO_ID: its states are resident
  uint64_t bytes; // that it streams, each way, on this rank
  uint64_t order; // the least `order` of its parameters
};

// A state of a parameter on this rank. Its bytes are contiguous, row-major.
struct rt_state_home {
  struct rt_at at; // STATE or HOST
  uint64_t bytes;
  const char *name; // in the spec: "m"
  uint32_t storage; // enum rt_storage
};

struct rt_plan_param {
  const char *name, *label,
      *reason;      // use line and its condition; "" where frozen or tied
  const char *rule; // "muon"; ""
  uint32_t rank;
  uint64_t dim[8], start[8]; // this rank's shard and where it begins in the global tensor
  uint64_t numel;            // of the shard
  uint32_t storage, grad;    // enum rt_storage
  uint32_t unit;             // RT_NO_ID: no update
  uint32_t first_state,
      n_states; // in plan->state: the device states of its rule, in order
  bool counted; // its squares are this rank's to add to the norm; else another replica's
  uint64_t order;
};

// ---- the plan

struct
    rt_configuration { // what the plan was made from; part of what ranks must agree on, but for `rank`
  const char *target;   // "cpu", "cuda:sm_90a"
  const char *offload;  // "none", "host", "host:0.6"
  uint64_t chunk_bytes; // the target size
  uint32_t slots;
  bool overlap;
  uint64_t gpu_memory, host_memory; // budgets; 0: none given
  uint32_t rank, world;
};

enum { RT_PLAN_VERSION = 1 };
struct rt_plan {
  uint32_t version; // RT_PLAN_VERSION
  struct rt_configuration configuration;
  char program_digest[65],
      digest[65];  // sha256 in hex; of the program, of this plan (plan_json.h)
  char agreed[65]; // of what all ranks must agree on

  const struct rt_plan_param *param; // index for index those of the program
  uint32_t n_params;
  const struct rt_kernel_info *kernel;
  uint32_t n_kernels;
  const struct rt_state_home *state;
  uint32_t n_states;
  const uint32_t *unit_param;
  uint32_t n_unit_params;
  const struct rt_unit *unit;
  uint32_t n_units;
  const struct rt_chunk *chunk;
  uint32_t n_chunks;

  // The list: operations of begin first (chunk == RT_NO_ID), then those of each chunk, together and in order.
  // `init` are those that bind runs once, after all states were zeroed: MAP of initial phases, by chunk, and where the
  // chunk has a slot its LOAD before them and its STORE behind, with the same events.
  const struct rt_op *op, *init;
  uint32_t n_ops, n_init;
  uint32_t n_begin; // operations of begin
  const struct rt_event *event;
  uint32_t n_events;
  const uint32_t *wait; // event ids
  uint32_t n_waits;
  const struct rt_row *row;
  uint32_t n_rows;
  const struct rt_at *at;
  uint32_t n_at;
  const struct rt_copy *copy;
  uint32_t n_copies;

  // Memory, exact; each block is allocated once.
  uint32_t n_slots;
  uint64_t slot_bytes;  // slot i begins at i * slot_bytes of the arena
  uint64_t arena_bytes; // slots, temporaries, workspaces
  uint64_t state_bytes; // resident
  uint64_t host_bytes;  // the slab
  uint64_t step_bytes;  // of the STEP space
  // Under overlap: chunks enqueued by run, and ahead of wait_order after that.
  uint32_t first_ahead, ahead;

  const char *const *note; // every fallback, padding and routing, with its reason (L5)
  uint32_t n_notes;
};

#endif
