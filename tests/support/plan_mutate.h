// Plans with one thing wrong: what a proof must find.
#ifndef TESTS_PLAN_MUTATE_H
#define TESTS_PLAN_MUTATE_H

#include "base/arena.h"
#include "plan/plan.h" // runtime/

enum mutation {
  MUTATE_WAIT,      // a wait of the step is left out
  MUTATE_INIT_WAIT, // one of `init` is, where it orders anything: `init` runs once
  MUTATE_EVENT,     // a wait is for the next event instead
  MUTATE_SIGNAL,    // a signal is
  MUTATE_LANE, // an operation is on another lane; not a copy of a chunk with a slot for itself, which may be
  MUTATE_OP,   // an operation is missing
  MUTATE_ROW,  // a row is
  MUTATE_ROW_TWICE,  // a row is there twice
  MUTATE_ROWS,       // two rows have each other's addresses
  MUTATE_ADDRESS,    // an address is one element further on
  MUTATE_COPY,       // a copy is missing
  MUTATE_COPY_TWICE, // a copy is there twice
  MUTATE_SLOT,       // a copy is 256 bytes further on in its slot
  MUTATE_HOST,       // or in the slab
  MUTATE_SHORT,      // a copy begins 4 bytes later; the end may be padding
  N_MUTATIONS
};
extern const char *const mutation_names[N_MUTATIONS];

// How many mutants a plan has of one kind, and number `k` of them: a plan on the arena that shares what is not changed.
uint32_t plan_mutants(const struct rt_plan *plan, enum mutation m);
struct rt_plan *plan_mutant(struct arena *a, const struct rt_plan *plan, enum mutation m,
                            uint32_t k);

#endif
