// One run of a shipped spec through the two public libraries, as hard on the laws as a trainer can be: gradients
// missing on some steps, one that is not finite, hypers changed between steps, units in any order, waits or none. What
// must not change bits is a parameter; what the run computes is not. A call that fails ends the process with its text.
#ifndef TESTS_SUPPORT_LAW_H
#define TESTS_SUPPORT_LAW_H

#include "stepc.h"
#include "steprt.h"

#include <stdbool.h>

struct rt_device_class;

enum { LAW_STEPS = 6, LAW_NONFINITE_STEP = 3 }; // counted from 0

// What is compiled, and how it is planned.
struct law_plan {
  const char *spec;  // "adamw": specs/adamw.opt; or the text of one
  const char *model; // stepc-model/1, as text
  const char *offload;
  uint64_t chunk_bytes;
  uint32_t slots;
  bool overlap;
};
// How it is run.
struct law_run {
  uint32_t threads;
  uint64_t
      subsets; // seed of random unions of units in a random order; 0: all units at once
  const struct rt_device_class *class; // NULL: that of the program's target
};

// Every kind of tensor: an embedding, stacks, wide, tall and square matrices, odd sizes, a long vector, a scalar, no
// elements, frozen, tied. In bf16 where the name says so; `law_matrices`: of rank 2 and more alone.
extern const char *const law_model, *const law_model_bf16, *const law_matrices;
extern const char *const
    law_specs[]
             [2]; // shipped specs and the one below, with models for them; ended by NULL
// A spec with what the shipped ones lack: initial values that stream, a temporary that two phases use, host states.
#define LAW_OTHER_SPEC                                                                   \
  "spec 1\nimport \"iterations.opt\"\n"                                                  \
  "optimizer other {\n  hyper lr : f32 = 0.01\n  hyper wd : f32 = 0.01\n"                \
  "  state slow : f32 like param init param\n  state m : f32 like param init 0.5\n"      \
  "  state decay : f32 init 1\n  state share : f32 per group init 1\n"                   \
  "  decay := decay * 0.9\n  share := share * 0.5\n  m := ema(m, grad, 0.9)\n"           \
  "  let o = orthogonalize(m + slow, jordan)\n"                                          \
  "  slow := lerp(slow, param - lr * o, 0.5)\n"                                          \
  "  param := slow * (1 - lr * wd) - lr * (o + m) / (1 - decay) * share\n}\n"            \
  "recipe r {\n  clip global_norm 1.0\n  skip nonfinite\n  use other\n}\n"

struct steprt_program *law_compile(const struct law_plan *p);
// SHA-256 of parameters, states, counts and host states after LAW_STEPS steps.
struct law_digest {
  char hex[65];
};
struct law_digest law_run(const struct steprt_program *program, const struct law_run *r);

// The pieces, for tests of their own. Parameters and gradients of a handle, a function of their index and the step.
struct law_data {
  const struct steprt_program *program;
  void **param;
  void **grad[LAW_STEPS]; // NULL where a step has none
};
struct law_data law_data_new(const struct steprt_program *program);
void law_data_free(struct law_data *d);
struct law_digest law_digest(struct steprt *rt, const struct law_data *d);
// Runs every unit once, in random unions; seed 0: all at once. Begin came before, end follows.
void law_run_units(struct steprt *rt, const struct steprt_program *program,
                   uint64_t seed);

#endif
