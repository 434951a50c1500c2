// Shared by the files of the proof. Private to plan/.
#ifndef STEPC_PLAN_PROVE_INT_H
#define STEPC_PLAN_PROVE_INT_H

#include "plan/prove.h"

// Bytes [lo, hi) of a space that an operation touches, for one of its rows or copies (`item`; RT_NO_ID: for itself).
struct access {
  uint64_t lo, hi;
  uint32_t space, index;
  uint32_t op, item;
  bool write;
};

// Neighbouring operations of one lane in a block between which nothing is waited for or signalled: one step for the
// clocks. Masks: bit 0 is STEP, bit 1 the arena behind the slots, the others slots (modulo 62: coarser, still sound).
struct segment {
  uint32_t lane,
      place;         // place: how many segments of the block come before it on its lane
  uint32_t first, n; // operations
  const uint32_t *wait;
  uint32_t n_waits, signal;
  uint64_t reads, writes;
};

// What is issued together: begin, the operations of a chunk, or of `init` up to a STORE.
struct block {
  uint32_t first, n; // operations
  uint32_t first_segment, n_segments;
  uint32_t chunk;       // RT_NO_ID: begin
  uint32_t class, next; // next block of its class; RT_NO_ID
};

// Blocks that wait, signal and touch slots alike.
struct class {
  uint32_t first, last, n; // blocks
};

// What is known to be done when a segment starts: of each lane, how many segments of the block issued first.
struct clock {
  uint32_t n[RT_N_LANES];
};

// The arena and STEP of one block, cut wherever an access begins or ends: a stretch of bytes with one history.
struct cell {
  uint64_t at;       // offset; of STEP with PROVE_STEP_BIT
  uint32_t op, item; // who wrote it last; RT_NO_ID: nobody in this block
  uint32_t unit;     // loaded: whose
  bool is_loaded, is_changed, is_read; // read, changed: since it was written, loaded
  // loaded: host - arena; written by a row: where its parameter's element 0 would be
  uint64_t shift;
  uint64_t width; // written by a row: bytes per element
  uint32_t read_op,
      read_item; // the last reader; PROVE_MANY: several items of that operation
  uint64_t read_shift;
};
#define PROVE_MANY     (RT_NO_ID - 1)
#define PROVE_STEP_BIT ((uint64_t)1 << 62)
struct cells {
  struct cell *v; // n and an end
  uint32_t n;
};

// One list of operations of one rank under proof: the step, or `init`.
struct prover {
  struct arena *arena; // scratch: forgotten after this rank
  const struct rt_plan *plan;
  struct proof *proof;
  uint32_t rank;
  bool is_init;
  const struct rt_op *op;
  uint32_t n_ops;
  VEC(struct access) access; // in the order of the list
  uint32_t *access_of;       // by operation, n_ops + 1: its first
  VEC(struct segment) segment;
  VEC(struct block) block;
  VEC(struct class) class;
  uint32_t *block_of, *segment_of; // by operation
  struct cells begin;              // what begin left in STEP
  // Clocks: of the last pair, and of events; those with an older stamp have no signal yet.
  struct clock *before, *signalled;
  uint32_t *stamp, now;
};

// ---- prove.c

// Keeps a fault; its text is cut to a line. False: enough were found.
bool prove_fault(struct proof *proof, enum proof_kind kind, uint32_t rank, uint32_t op,
                 uint32_t other, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
static inline bool prove_full(const struct proof *proof) {
  return proof->n_faults == PROOF_MAX_FAULTS;
}
// A fault of operation `op` (and `other`) of the prover's list.
#define PROVE_FAULT(p, kind, op, other, ...)                                             \
  prove_fault((p)->proof, kind, (p)->rank, (p)->is_init ? RT_NO_ID : (op),               \
              (p)->is_init ? RT_NO_ID : (other), __VA_ARGS__)
// "store 12 (lane store, chunk 3)"
const char *prove_op_text(const struct prover *p, uint32_t op);
const char *prove_param_text(const struct prover *p, uint32_t param); // its name, escaped

// ---- the parts, in order
void prove_accesses(struct prover *p); // prove_access.c: fills `access`
void prove_blocks(struct prover *p);   // prove_blocks.c: segments, blocks, classes
void prove_order(struct prover *p);    // prove_order.c: every pair is ordered
void prove_spread(
    struct prover *p);             // prove_spread.c: the same for bytes outside the arena
void prove_flow(struct prover *p); // prove_flow.c: arena and STEP hold what is read
void prove_places(
    struct prover *p); // prove_places.c: rows and copies touch what is theirs
void prove_cover(struct prover *p); // prove_cover.c: every element once
// prove_ranks.c: exchanges and agreement
void prove_ranks(struct arena *a, const struct rt_plan *const *plan, uint32_t n,
                 struct proof *proof);

// ---- clocks (prove_clocks.c)

// For each segment of block `y` when it is issued after block `x` and nothing else ever was; x == RT_NO_ID: `y` alone,
// counting its own segments. Overwritten by the next call.
const struct clock *prove_clocks(struct prover *p, uint32_t x, uint32_t y);
static inline bool prove_is_before(const struct segment *a, const struct clock *b) {
  return b->n[a->lane] > a->place;
}

// ---- conflicts (prove_order.c)

// Reports two accesses without an order, `a` issued before `b`.
void prove_unordered(struct prover *p, const struct access *a, const struct access *b);
static inline bool prove_conflict(const struct access *a, const struct access *b) {
  return (a->write || b->write) && a->space == b->space && a->index == b->index &&
         a->lo < b->hi && b->lo < a->hi;
}

// ---- places (prove_places.c)

// The row of a MAP or ORTHO access, NULL for others; and the bytes per element that it has there.
const struct rt_row *prove_row(const struct prover *p, const struct access *a);
uint64_t prove_width(const struct rt_row *row, const struct access *a);
// Whether elements [first, ...) of `param`, `width` bytes each, have a home of a state at `at` of `space`.
bool prove_is_home(const struct prover *p, uint32_t param, uint64_t first, uint64_t width,
                   uint32_t space, uint64_t at);

// ---- cells (prove_cells.c)

struct cells prove_cells(struct prover *p, const struct block *b);
// The first cell of an access; it ends before the one at `hi`.
struct cell *prove_cell(const struct cells *c, const struct access *a);
static inline uint64_t prove_cell_at(const struct access *a, uint64_t offset) {
  return offset | (a->space == RT_AT_STEP ? PROVE_STEP_BIT : 0);
}
static inline bool prove_in_cells(const struct access *a) {
  return a->space == RT_AT_ARENA || a->space == RT_AT_STEP;
}

#endif
