// The reference interpreter: a rule's IR on real data in double, without any rounding of its own, carrying a bound
// on how far a correct f32 execution may be.
#ifndef STEPC_IR_INTERP_H
#define STEPC_IR_INTERP_H

#include "ir/ir.h"

// A tensor of the interpreter: values and, to first order, the largest deviation of a correct f32 run (half an ulp
// of each operation's result, propagated through it). INFINITY: no bound (fed by a matrix product, or so close to
// a branch or a sign that it may fall on either side).
struct interp_tensor {
  double *value, *bound; // numel of its class; bound may be NULL on input (exact)
};

struct interp_io {
  const double *hyper; // by job index
  double step;
  double clip;                      // factor; 1 without clip
  const struct interp_tensor *grad; // elem
  struct interp_tensor *param;      // in and out
  struct interp_tensor *state;      // in and out, by state index (host states: one value)
  const struct interp_tensor *input;
};

// Runs the rule once, or an initial state (`ir->init[i]`: then only `param` and `state` are used). Orthogonalize runs
// in double with the same coefficients and no roundings (its result has no bound). Arrays of the class: shape of the
// rule. A reduction `per group` sees this parameter alone. An input may have NULL values where only the untaken arm
// of a `where` reads it. Errors: none; NaN and Inf propagate.
void interp_run(struct arena *scratch, const struct ir *ir, const struct interp_io *io);
uint64_t cls_count(enum cls c,
                   const struct shape *s); // values of a class in a tensor of this shape

#endif
