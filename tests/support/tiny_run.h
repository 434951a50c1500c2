// A handle over the tiny program with parameters and gradients of its own.
#ifndef TESTS_TINY_RUN_H
#define TESTS_TINY_RUN_H

#include "steprt.h"
#include "support/tiny_program.h"

#include <stdbool.h>

struct tiny_run {
  struct tiny tiny;
  struct steprt *rt;
  void *param[TINY_PARAMS];
  void *grad[TINY_PARAMS]; // f32, or bf16 for TINY_BF16_GRAD
  uint64_t numel[TINY_PARAMS];
};

// Sizes large enough to be cut into items, and a tail of small ones.
extern const uint64_t tiny_sizes[TINY_PARAMS];

// The same with a plan of another kind (NULL: the plain one).
void tiny_run_planned(struct tiny_run *r, const uint64_t numel[TINY_PARAMS],
                      uint32_t threads, uint64_t seed,
                      const struct tiny_plan_options *plan);
// Opens and binds; parameters and gradients are a function of `seed`. Asserts that all is well.
void tiny_run_new(struct tiny_run *r, const uint64_t numel[TINY_PARAMS], uint32_t threads,
                  uint64_t seed);
void tiny_run_free(struct tiny_run *r);
// begin, run, end and wait_all with these gradients; asserts that all is well.
void tiny_run_step(struct tiny_run *r);
// State `s` of a parameter (0: m, 1: seed) on the host.
void *tiny_run_state(const struct tiny_run *r, uint32_t param, uint32_t s);
// Asserts that both runs have the same bits in all parameters, states, counters and host states.
void tiny_run_compare(const struct tiny_run *a, const struct tiny_run *b);
// FNV-1a over the same things.
uint64_t tiny_run_hash(const struct tiny_run *r);

#endif
