// What one pure operation computes, alike for folding, the interpreter and tests.
#ifndef STEPC_IR_VALUE_H
#define STEPC_IR_VALUE_H

#include "ir/ir.h"

// The operation on numbers; bools are 0 and 1. `f32`: operands are f32 values, and every rounding is that of f32.
// VALUE operations only; pow, exp, log and cos are the host's.
double value_eval(enum ir_op op, bool f32, const double x[3]);

#endif
