// The proof that a plan is right: happens-before over lanes and events (DESIGN section 6).
//
// It holds for every sequence of subsets of chunks, and from one step to the next. An event is signalled on one lane, so
// waiting for its latest signal is waiting for all of them; hence a pair of conflicting operations that is ordered when
// the two chunks run one after the other (either way round, a chunk after itself too) is ordered in every sequence.
#ifndef STEPC_PLAN_PROVE_H
#define STEPC_PLAN_PROVE_H

#include "base/str.h"
#include "plan/plan_json.h" // runtime/

enum proof_kind {
  PROOF_UNORDERED, // conflicting accesses without an order
  PROOF_UNWRITTEN, // bytes read that nothing wrote before
  PROOF_REUSED,    // a slot's bytes read after another chunk's were put there
  PROOF_UNCOVERED, // elements of a parameter that no operation updates
  PROOF_TWICE,     // elements updated twice
  PROOF_EXCHANGE,  // ranks differ in count, order or size of exchanges
  PROOF_DEADLOCK,  // operations that wait for each other
  PROOF_DISAGREED, // ranks differ in what they must agree on
  N_PROOF_KINDS
};
struct proof_fault {
  enum proof_kind kind;
  uint32_t rank, op, other; // operations of the plan; RT_NO_ID
  struct str text;          // one line that names operations, lanes, chunk and bytes
};
struct proof {
  struct proof_fault *fault;
  uint32_t n_faults;
  uint64_t operations, accesses, pairs; // looked at
};

// The plans of all ranks given, in order (one is enough for a plan without exchanges). Everything on the arena. Stops
// after 20 faults.
struct proof *plan_prove(struct arena *a, const struct rt_plan *const *plan, uint32_t n);

#endif
