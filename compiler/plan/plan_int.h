// Shared by the files of the planner. Private to plan/.
//
// Two kinds of numbers must not mix: those that all ranks agree on (they follow from global shapes, the mesh and the
// configuration, and decide units, their order, chunks and tiers) and those of this rank (they decide addresses and
// rows). Fields of the second kind say so.
#ifndef STEPC_PLAN_PLAN_INT_H
#define STEPC_PLAN_PLAN_INT_H

#include "plan/planner.h"
#include "plan/work.h" // runtime/

enum {
  PLAN_ALIGN = 256,  // of slots, states, temporaries and workspaces, in bytes
  PLAN_GRAIN = 4096, // elements of a row between two places where it may be cut
  PLAN_SLOTS = 4,
  PLAN_MIN_SLOTS = 3,
  PLAN_MAX_SLOTS = 1 << 16,
  PLAN_MAX_RANKS = 1 << 16,
  PLAN_MAX_CHUNKS = 1 << 20,
  PLAN_MAX_BATCHES = 1 << 20,
  PLAN_AT_ONCE = 8, // under overlap: chunks enqueued by run,
  PLAN_AHEAD = 4    // and ahead of wait_order
};

// Of all parameters together: sizes in bytes then stay below 2^53, what JSON holds.
#define PLAN_MAX_ELEMENTS (UINT64_C(1) << 47)

struct plan_target {
  const char *name;
  uint64_t matrices, bytes; // of a sub-batch at most
  uint32_t parts;           // partial sums of a REDUCE
  bool on_gpu;
};

// The part of a parameter that a rank holds.
struct shard {
  uint32_t rank;
  uint64_t dim[MAX_RANK], start[MAX_RANK];
  uint64_t numel;
};

// Rules of one form run in the same launches. Element-wise rules: one kernel. Matrix rules: the same kernels and
// iterations on matrices of one size.
struct form {
  const struct rt_rule *rule; // one of them
  bool is_matrix;
  uint64_t state_bytes;  // per element, of all states
  uint64_t batch;        // matrices of a sub-batch at most
  uint64_t matrix_flops; // of one matrix
};

struct unit {
  uint32_t first, n; // in builder->unit_param
  uint32_t form;
  bool is_matrix, resident;
  uint64_t matrices; // on any rank at most
  uint64_t bytes;    // of the states: global / number of shards with elements, rounded up
  uint64_t room;     // that they take in a slot on any rank at most, each aligned
  // of `bytes` on an average rank: less where `on` leaves it to some ranks
  uint64_t share;
  uint64_t order;
  uint64_t grains, grain_bytes; // places where it may be cut, on any rank at most
};

// What a chunk holds of a unit: all, or grains [from, to) of its only parameter.
struct piece {
  uint32_t unit; // in builder->ordered
  bool is_cut;
  uint64_t from, to;
  // This rank, where it is cut: elements of the parameter, and where its first state begins in the slot.
  uint64_t begin, numel, slot;
};

struct chunk {
  uint32_t first, n; // in builder->piece
  bool streams;      // on some rank
  uint32_t slot;     // this rank; RT_NO_ID: streams nothing here
};

// A row, or the matrices of a parameter, that an operation of the chunk at hand shall have. Those of one group go
// together, in the order in which they came.
struct want {
  uint32_t group, index;
  uint32_t param, piece, phase;
};

struct plan_builder {
  struct front *f;
  struct arena *arena;
  const struct job *job;
  const struct model *model;
  const struct steprt_program *program;
  struct plan_options o;      // with defaults in place
  double fraction;            // of the streamed bytes on the host
  bool fills_device;          // units are resident as far as gpu_memory allows
  uint64_t asked_chunk_bytes; // o.chunk_bytes as it came; 0: not asked for
  struct plan_target target;
  struct str *ice;

  uint32_t *form_of; // by rule
  VEC(struct form) form;
  VEC(struct unit) unit, ordered; // in order of the walk, and of the plan
  uint32_t *unit_param;
  uint32_t n_unit_params;
  VEC(struct piece) piece;
  VEC(struct chunk) chunk;

  // This rank.
  struct shard *shard;         // by parameter
  struct rt_plan_param *param; // by parameter
  bool *has_replicas;          // by parameter; all ranks agree
  // by parameter: where its first state begins in the slot, if its unit is whole
  uint64_t *slot_at;
  VEC(struct rt_state_home) home;
  uint32_t n_streams, n_slots; // chunks that stream something here, and slots for them
  uint64_t slot_bytes, work_bytes, host_bytes, state_bytes;

  // The plan's tables.
  VEC(struct rt_op) op, init;
  uint32_t n_begin;
  VEC(struct rt_chunk) out_chunk;
  VEC(struct rt_row) row;
  VEC(struct rt_at) at;
  VEC(struct rt_copy) copy;
  VEC(uint32_t) wait;
  VEC(struct rt_event) event;
  VEC(const char *) note;
  VEC(struct want) want;
  uint32_t *group_of; // by kernel or form: 1 + its group in `want`; 0: none
  VEC(uint32_t) group_key;
};

// ---- the steps, in order. False: reported, or *b->ice is set.
bool plan_options_check(struct plan_builder *b);
bool plan_forms(struct plan_builder *b);
bool plan_table(struct plan_builder *b);
bool plan_units(struct plan_builder *b);
bool plan_tiers(struct plan_builder *b); // chooses what is resident; calls the next two
void plan_order(struct plan_builder *b);
void plan_chunks(struct plan_builder *b);
void plan_layout(struct plan_builder *b);
void plan_ops(struct plan_builder *b);
bool plan_budgets(struct plan_builder *b);
void plan_notes(struct plan_builder *b);

// ---- shards.c
// One that lies elsewhere (`on`) or in a flat buffer has rank 1: its elements, from `start[0]` of the row-major tensor.
struct shard shard_of(const struct model *m, const struct model_param *p, uint64_t rank);
// The largest shard that any rank holds; all ranks agree on it. `start` means nothing.
struct shard shard_full(const struct model *m, const struct model_param *p);
// Shards that have elements: 128 experts on 1,024 ranks are 128.
uint64_t shard_count(const struct model *m, const struct model_param *p);
uint64_t shard_presence(const struct model *m,
                        const struct model_param *p); // 1 of how many coordinates has it
// Is no rank below `rank` a replica of it? Has any rank a replica?
bool shard_is_first(const struct model *m, const struct model_param *p, uint64_t rank);
bool shard_has_replicas(const struct model *m, const struct model_param *p);
// Has every shard a rank? Not where two axes that place a parameter run over the same ranks.
bool shard_covers(struct arena *a, const struct model *m, const struct model_param *p);
// Where rows of a shard may be cut: after every PLAN_GRAIN elements of a row, and at its end.
uint64_t shard_grains(const struct shard *s);
uint64_t shard_grain_at(const struct shard *s, uint64_t grain); // its first element

// ---- forms.c
// Where the first `n_temps` temporaries of a sub-batch end that begin at `base` of the arena, `n` elements each.
uint64_t temps_end(const struct rt_rule *r, uint32_t n_temps, uint64_t base, uint64_t n);
// Workspace of an orthogonalize, and all that a sub-batch takes, of `n` matrices.
uint64_t ortho_bytes(const struct plan_builder *b, const struct rt_rule *r,
                     const struct rt_phase *p, uint64_t n);
uint64_t batch_bytes(const struct plan_builder *b, const struct rt_rule *r, uint64_t n);

// ---- layout.c
static inline struct rt_at at_space(uint32_t space, uint32_t index, uint64_t offset) {
  return (struct rt_at){space, index, offset};
}
const struct rt_rule *rule_of(const struct plan_builder *b, uint32_t param);
// Elements of a parameter that this rank has in a piece.
void piece_range(const struct plan_builder *b, const struct piece *p, uint32_t param,
                 uint64_t *first, uint64_t *numel);
// Bytes of a slot that a piece takes on any rank at most.
uint64_t piece_room(const struct plan_builder *b, const struct piece *p);
// What the first `n_states` states of a rule take, each aligned.
uint64_t states_room(const struct rt_rule *r, uint32_t n_states, uint64_t numel);
// Where an element of a state is while its chunk is computed.
struct rt_at state_at(const struct plan_builder *b, const struct piece *p, uint32_t slot,
                      uint32_t param, uint32_t state, uint64_t element);
uint64_t plan_slots_bytes(const struct plan_builder *b);

// ---- ops*.c
struct rt_op op_new(enum rt_op_kind kind, enum rt_lane lane, uint32_t chunk);
void op_wait(struct plan_builder *b, struct rt_op *op, uint32_t event);
uint32_t event_of(enum rt_event_kind kind, uint32_t slot);
// A row and the addresses of its kernel's pointers. Temporaries: `temp_n` elements each, from the arena's work area
// on; the row begins at element `temp_first` of them.
struct row_place {
  uint32_t param, piece, slot, phase;
  uint64_t first, numel;
  uint64_t temp_n, temp_first;
};
void put_row(struct plan_builder *b, const struct rt_phase *phase,
             const struct row_place *w);
// Wants by key (kernel or form), and sorted for use; `wants_end` forgets them.
void want_add(struct plan_builder *b, uint32_t key, struct want w);
void wants_sort(struct plan_builder *b);
void wants_end(struct plan_builder *b);
// Operations MAP of all wants, one for each key, which is their kernel; onto `op` or `init`.
void put_maps(struct plan_builder *b, uint32_t chunk, bool is_init);
void put_op(struct plan_builder *b, bool is_init, struct rt_op op);

uint64_t plan_step_bytes(const struct plan_builder *b);
void plan_begin_ops(struct plan_builder *b);
void plan_matrix_ops(struct plan_builder *b, uint32_t chunk);
void plan_init_ops(struct plan_builder *b);

static inline uint64_t ceil_div(uint64_t n, uint64_t by) {
  return n / by + (n % by != 0);
}
struct str plan_size(struct arena *a, uint64_t bytes); // "14.5 GiB"
bool plan_too_large(struct plan_builder *b, uint64_t most, const char *what, uint64_t n);

#endif
