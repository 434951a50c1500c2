// Random element-wise rules as IR text.
#ifndef TESTS_RANDOM_IR_H
#define TESTS_RANDOM_IR_H

#include "base/str.h"

// About `n` device operations of every kind over a parameter, a gradient and two states of f32 or bf16, with host
// scalars and uniform conditions among them; every state and the parameter are stored.
struct str random_ir(struct arena *a, uint32_t n, uint64_t seed);

#endif
