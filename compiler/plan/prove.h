// The proof that a plan is right: happens-before over lanes and events, and which bytes hold what (DESIGN section 6).
// Not trusted to be one the planner made: plans read from files are proven too.
//
// Theorem. Let a plan have no fault. Then every history of it gives the bytes of its operations run one after the other
// in the order in which they were issued, and every byte that an operation reads is one that the plan means it to read. A
// history is what the runtime may issue: for each step the operations of begin, then blocks, each the operations of one
// chunk in the order of the list, in whatever order of chunks, of a chunk any number of times (subsets of its units),
// with any rows or copies left out of them (units not in the subset, parameters without a gradient, a step that is
// skipped), but never a wait or a signal.
//
// Proof idea.
// 1. Order in a history is the transitive closure of: lane order; and for each wait, the latest signal of that event
//    issued before it, before it. There may be none: then the wait passes at once and orders nothing. All these edges
//    lead from what was issued earlier to what was issued later, so a path from an operation of block X to one of a
//    later block Y runs only through blocks from X to Y.
// 2. An event is signalled on one lane only (checked). So issuing more operations never takes an order away: where a wait
//    had the signal q as its latest and now finds a later one q', then q is before q' by lane order, and q' before the
//    wait. Hence operations of X and Y that are ordered in the history "X, Y" alone, with no signal before, are ordered
//    in every history that has X before Y. Conversely "X, Y" are neighbours in some history, and by 1. nothing outside
//    them helps: the pair test is exact for chunks.
// 3. So it suffices to test each block by itself and each ordered pair of blocks: X, Y and Y, X, and X after itself;
//    begin counts as a block. Leaving out rows leaves waits and signals in place and takes only accesses away.
// 4. Pairs fall into classes: what a block waits for, signals, and which slots it touches decide its clocks; addresses
//    do not. A pair of classes that is ordered for whole slots is ordered for all their bytes. Only where it is not are
//    bytes compared. Bytes outside the arena are compared exactly, by a sweep over all accesses.
// 5. Then a history equals its issue order, in which blocks do not interleave: what a byte holds can be followed block by
//    block. Allowed without a writer: PARAM and GRAD (the caller's), STATE and HOST (zeroed by bind, then `init`).
//    ARENA starts undefined with every block: a byte that is read was written by the same block, for the same element of
//    the same parameter (rows may be left out), or loaded from the very home that a state's element has. STEP is
//    written by begin, each byte before it is read, and read by all.
//
// Left to rt_plan_check, which has the program: which tensor each pointer of a kernel means, and that a rule has no
// phases behind those that the plan has.
#ifndef STEPC_PLAN_PROVE_H
#define STEPC_PLAN_PROVE_H

#include "base/str.h"
#include "plan/plan_json.h" // runtime/

enum proof_kind {
  PROOF_UNORDERED, // conflicting accesses without an order
  PROOF_UNWRITTEN, // bytes read that nothing wrote before
  PROOF_REUSED,    // a slot's bytes read after another chunk's were put there
  PROOF_UNCOVERED, // elements of a parameter that no operation updates, or a gradient that is not summed
  PROOF_TWICE,     // elements updated or summed twice
  PROOF_EXCHANGE,  // ranks differ in count, order or size of exchanges
  PROOF_DEADLOCK,  // exchanges that wait for each other across ranks
  PROOF_DISAGREED, // ranks differ in what they must agree on
  PROOF_MISPLACED, // a row or copy touches bytes that are not those of its parameter, state, element or unit
  PROOF_LOST, // bytes written that the one who needs them never gets: a state not stored, sums not read
  N_PROOF_KINDS
};
extern const char *const proof_kind_names[N_PROOF_KINDS]; // "unordered"

struct proof_fault {
  enum proof_kind kind;
  uint32_t rank, op, other; // operations of the plan; RT_NO_ID: none, or one of `init`
  struct str text;          // one line that names operations, lanes, chunk and bytes
};
struct proof {
  struct proof_fault *fault;
  uint32_t n_faults;
  uint64_t operations, accesses, pairs; // looked at; pairs: of blocks, in order
};

enum { PROOF_MAX_FAULTS = 20 };

// The plans of all ranks given, in order, each one that rt_plan_check accepts. A single one of several ranks is proven
// for itself; what lies between ranks (exchanges, agreement) needs all. Everything on the arena. Stops after
// PROOF_MAX_FAULTS.
struct proof *plan_prove(struct arena *a, const struct rt_plan *const *plan, uint32_t n);

#endif
