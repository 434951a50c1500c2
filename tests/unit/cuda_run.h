// A device over the fake driver, with the caller's memory and stream, and a step as the core issues it.
#ifndef TESTS_CUDA_RUN_H
#define TESTS_CUDA_RUN_H

#include "cuda_case.h"
#include "fake_cuda.h"

#include "core/handle.h"

enum { STEPS = 6 };

// A handle as the core makes it, as far as the device looks at it.
struct run {
  struct cuda_case c;
  struct steprt rt;
  struct rt_device *d;
  void *stream;
  float *param[CASE_PARAMS], *grad[CASE_PARAMS];
  const void *grads[CASE_PARAMS];
  bool whole;                      // chunks are issued whole
  float *made[STEPS][CASE_PARAMS]; // what the stream brings into `grad`
};

extern const struct rt_device_class *const cuda;
extern const double bound; // of the clip

#define OK(call)                                                                         \
  do {                                                                                   \
    steprt_status ok_status = (call);                                                    \
    cr_assert_eq(ok_status, STEPRT_OK, #call ": %s", r->rt.error);                       \
  } while (0)

void run_start(struct run *r, uint64_t seed, uint32_t slots, uint64_t elements);
steprt_status run_open(struct run *r, struct steprt_options o);
void run_free(struct run *r);
void run_stop(struct run *r); // closes; asserts that nothing is left; frees

float run_value(uint64_t seed, uint64_t i); // a multiple of 2^-15 below 1
// Gradients of a step: parameter 4 is missing from every third one, and step 2 has a NaN.
void run_fill_grads(uint32_t step, float *const *grad, const void **grads);
// Scalars of a rule's phases in order; returns how many. A clip's place holds 1.
uint32_t run_fill_scalars(uint32_t rule, uint32_t step, float *to);

void run_issue(struct run *r, const struct rt_stage *s, uint32_t op, uint32_t first,
               uint32_t n);
// A whole step; or odd units first, from the last chunk on, then the even ones.
void run_step(struct run *r, uint32_t step, bool subsets);

#endif
