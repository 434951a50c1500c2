// What the cut of phases and the building of its result share.
#ifndef STEPC_IR_PHASES_INT_H
#define STEPC_IR_PHASES_INT_H

#include "ir/phases.h"

#define NOWHERE UINT32_MAX

// How a candidate phase has an instruction.
enum {
  ROLE_ROOT = 1,   // it is there for this one
  ROLE_INS = 2,    // executes it
  ROLE_SCALAR = 4, // takes it as an argument
  ROLE_TEMP = 8,   // reads it from a temp
  ROLE_HOME = 16,  // reads it from the tensor where it was stored
};

struct cand {
  enum phase_kind kind;
  enum cls domain;
  uint32_t level, matrix; // matrix: the ORTHO instruction
  VEC(uint32_t) root;
  uint8_t *role; // by instruction; NULL: the phase is empty
};

struct cut {
  struct arena *arena;
  const struct ir *ir;
  uint32_t n_levels, n_cands, param_written;
  struct cand *cand; // in execution order
  uint32_t *map_at;  // candidate of [level][class]
  uint32_t *level;   // by instruction
  uint32_t *runs_in; // by instruction: the candidate that computes it
  // by instruction: the candidate that stores exactly this value, or NOWHERE
  uint32_t *stored_in;
  struct ir_ref *home;     // by instruction: that store
  uint32_t *state_written; // by state: the candidate that stores it, or NOWHERE
  bool *asked, *need;
  VEC(uint32_t) frontier;
};

enum storage temp_storage(const struct ir *ir, struct ir_ref value);
struct phases *phases_build(struct cut *cut);
void phase_find_guards(struct arena *a, const struct ir *ir, struct phase *ph,
                       const struct phase_temp *temp);

#endif
