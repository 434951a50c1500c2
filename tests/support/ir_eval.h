// Runs IR with the exact f32 arithmetic of a target, one whole value after the other: what passes and phases must not
// change. An iteration is stood in for by a function of the whole tensor.
#ifndef TESTS_SUPPORT_IR_EVAL_H
#define TESTS_SUPPORT_IR_EVAL_H

#include "ir/phases.h"

// Tensors of one parameter; numbers of their storage, as doubles.
struct ir_tensors {
  double *hyper, *param, *grad;
  double **state, **input;
  double step, clip;
};

struct ir_tensors ir_tensors_random(struct arena *a, const struct ir *ir, uint64_t seed);
struct ir_tensors ir_tensors_copy(struct arena *a, const struct ir *ir,
                                  const struct ir_tensors *t);
// Same bits of parameter and states, all NaNs equal.
bool ir_tensors_same(const struct ir *ir, const struct ir_tensors *a,
                     const struct ir_tensors *b);

void ir_eval(struct arena *a, const struct ir *ir, struct ir_tensors *t);
// Runs phase after phase: each sees its scalars, its temps and the tensors as earlier phases left them, nothing else.
// A load whose guards say that it is not needed gives nonsense. Returns what an instruction lacked, or an empty string.
struct str ir_eval_phases(struct arena *a, const struct phases *p, struct ir_tensors *t);

#endif
