// Random IR that the verifier accepts, for property tests.
#ifndef TESTS_SUPPORT_IR_RANDOM_H
#define TESTS_SUPPORT_IR_RANDOM_H

#include "ir/ir.h"

// About `n` instructions on a small tensor; the same for one seed. With special constants (0, -0, 1, NaN, infinity)
// more often than others, so that identities meet them.
struct ir *ir_random(struct arena *a, uint64_t seed, uint32_t n);

#endif
