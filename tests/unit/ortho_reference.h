// Newton-Schulz as the papers write it, for tests: in double, and in bf16 with every operation rounded.
#ifndef TESTS_UNIT_ORTHO_REFERENCE_H
#define TESTS_UNIT_ORTHO_REFERENCE_H

#include "plan/program.h"

// out := the iteration of `it` on `in`, rows x cols, in double, without any rounding but the operand's own.
void reference_double(const struct rt_iteration *it, const double *in, uint64_t rows,
                      uint64_t cols, double *out);

// The plain bf16 algorithm: every operation rounds its result, products accumulate in f32 (Keller Jordan's
// zeropower_via_newtonschulz5 in torch bf16).
void reference_bf16(const struct rt_iteration *it, const double *in, uint64_t rows,
                    uint64_t cols, double *out);

// |x - y|_F / |y|_F
double reference_error(const double *x, const double *y, uint64_t n);

#endif
