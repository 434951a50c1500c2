// The best plain C loops that we know for what two kernels do, on arrays of any length. Prefetch distances in
// elements; `n` is a multiple of 16.
#ifndef TESTS_BENCH_CPU_LOOPS_H
#define TESTS_BENCH_CPU_LOOPS_H

#include <stddef.h>
#include <stdint.h>

// Reads four arrays, writes three, next to no arithmetic: the limit of any AdamW in f32 (28 bytes per element).
void loop_read4_write3(float *m, const float *g, float *v, float *p, size_t n,
                       size_t prefetch);
// Muon's momentum: m and u from m and g (16 bytes per element); `u` past the caches, aligned to 64 bytes.
void loop_momentum(float *m, const float *g, float *u, size_t n, size_t prefetch);
// The same with u in bf16, as the products of bf16 iterations read it (14 bytes); finite values; `n` a multiple of 32.
void loop_momentum_bf16(float *m, const float *g, uint16_t *u, size_t n, size_t prefetch);
// A whole AdamW with exact divisions and square roots, step 10 of torch's defaults (28 bytes).
void loop_adamw(float *m, const float *g, float *v, float *p, size_t n, size_t prefetch);

#endif
