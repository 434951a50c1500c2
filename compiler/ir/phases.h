// Phases: the only place that knows fusion. Cuts a rule's IR at whole-row, whole-column, whole-matrix, whole-tensor
// and group operations into pieces that each run as one pass over their data.
#ifndef STEPC_IR_PHASES_H
#define STEPC_IR_PHASES_H

#include "ir/ir.h"

enum phase_kind {
  PHASE_HOST, // host scalars, once per parameter and step: host values, TO_F32, TO_BOOL, host states
  PHASE_MAP, // a fused loop over the values of one class; may end in reductions (partial results into temps)
  PHASE_MATRIX, // orthogonalize: one operand and one result, both temps; the operand may be at home
};

// A value that crosses from one phase to a later one.
struct phase_temp {
  struct ir_ref value;
  // Where the value is what a store of an earlier phase has put into a state or the parameter, that store: the
  // tensor itself is read again, and the temp has no memory of its own. IR_NONE: memory of its own.
  struct ir_ref home;
  enum storage storage; // a narrow one where the value fits it: no extra rounding happens
  enum cls cls;
  uint32_t producer, last_consumer; // phases
};

// A load that only one arm of a uniform `where` reads: not needed, and its tensor may be absent, unless the
// condition (a TO_BOOL value) is `taken`. A load with several guards needs all of them.
struct phase_guard {
  struct ir_ref load, cond;
  bool taken;
};

struct phase {
  enum phase_kind kind;
  enum cls domain; // PHASE_MAP: the class looped over
  // what it executes, in order; cheap pure ones may stand in several phases
  struct ir_ref *ins;
  uint32_t n_ins;
  // TO_F32, TO_BOOL and CLIP values that it takes as arguments, in order of first use
  struct ir_ref *scalar;
  uint32_t n_scalars;
  uint32_t *temp_in, *temp_out; // indices into phases->temp
  uint32_t n_temp_in, n_temp_out;
  struct phase_guard *guard;
  uint32_t n_guards;
};

struct phases {
  const struct ir *ir;
  struct phase *phase;
  uint32_t n_phases;
  struct phase_temp *temp; // by producer, then by value
  uint32_t n_temps;
};

// Phases in execution order. A value from an earlier phase is computed again where that reads no more bytes than a
// temp would write and read; else it crosses as a temp. Values smaller than a row are always computed again.
struct phases *phases_cut(struct arena *a, const struct ir *ir);
struct str phases_print(struct arena *a, const struct phases *p);
// Bytes per element that a map phase reads and writes (param, gradient, states, temps of class elem).
void phase_traffic(const struct phases *p, uint32_t phase, uint64_t *read,
                   uint64_t *written);

#endif
