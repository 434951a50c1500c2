// The handle: what open and bind made, and what the step in progress holds.
#ifndef STEPRT_CORE_HANDLE_H
#define STEPRT_CORE_HANDLE_H

#include "core/binned.h"
#include "core/items.h"
#include "core/memory.h"
#include "core/ortho.h"
#include "core/team.h"
#include "plan/program.h"
#include "steprt.h"

#include <string.h>

enum { RT_NONE = -1 };

enum rt_mode {
  RT_MODE_BROKEN, // open failed: only steprt_error and steprt_destroy
  RT_MODE_OPEN,
  RT_MODE_BOUND,
  RT_MODE_BEGUN,
  RT_MODE_RUN
};

struct rt_wave {
  uint32_t first_op, n_ops;
  uint64_t first_item, n_items; // of its MAP operations
  bool has_ortho;
};

// A list of operations, cut into waves and items.
struct rt_schedule {
  const struct rt_wave_op *op;
  struct rt_wave *wave;
  uint32_t n_waves;
  struct rt_item *item;
};

// One per thread, a cache line apart.
struct rt_thread_sum {
  _Alignas(64) struct binned sum;
};

struct steprt {
  const struct steprt_program *program;
  void (*log)(void *ctx, int level, const char *text);
  void *log_ctx;
  enum rt_mode phase;
  bool failed; // a step failed: `error` is final
  char error[640];

  struct rt_memory memory;
  struct rt_team *team;
  struct rt_blas *blas; // NULL: no operation needs one
  void *scratch;        // of rt_ortho

  void **base; // address of each buffer; gradients only inside a step
  struct rt_schedule step, init;
  struct rt_item *grad_item; // NULL: the recipe does not look at gradients
  uint64_t n_grad_items;
  struct rt_thread_sum *thread_sum;

  double *hyper;
  double *reg; // registers of host code

  // Per parameter: its count, its scalars (owned ones start at `own_scalar`) and host states. A host state of a
  // parameter is `host[host_index[first_host[p] + slot]]`; those of a group share an index.
  uint64_t *count;
  float *scalar;
  uint64_t *own_scalar;
  const float **scalars;
  uint64_t *first_host, *host_index;
  double *host, *host_next;
  uint64_t n_host;
  double *slot, *slot_next; // one parameter's host states, gathered for its rule

  // The step in progress.
  bool *takes_part; // per parameter
  int64_t *memo;    // per rule: the parameter last evaluated in this step
  float clip;
  double begun;
  struct steprt_report report;
};

// A name from outside, made safe to stand in a message.
struct rt_shown {
  char text[160];
};
struct rt_shown rt_show(const char *name);

// Keeps the text for steprt_error and returns `s`. Not to be called once the handle has failed.
__attribute__((format(printf, 3, 4))) steprt_status rt_refuse(struct steprt *rt,
                                                              steprt_status s,
                                                              const char *format, ...);
// The same for a failure inside a step: the handle is of no more use.
__attribute__((format(printf, 2, 3))) steprt_status rt_fail(struct steprt *rt,
                                                            const char *format, ...);
__attribute__((format(printf, 2, 3))) void rt_note(const struct steprt *rt,
                                                   const char *format, ...);

// OK when the handle may be used in one of the phases [lo, hi]; else the status and text, `call` naming the caller.
steprt_status rt_expect(struct steprt *rt, enum rt_mode lo, enum rt_mode hi,
                        const char *call);

// Reads a versioned struct of the caller into ours, `known` bytes: missing fields are 0, unknown ones must be.
bool rt_read_versioned(void *ours, size_t known, const void *theirs);

// Recomputes hypers bound to expressions of earlier ones.
void rt_hypers_bind(struct steprt *rt);
// Checks all values against their ranges (STEPRT_RANGE).
steprt_status rt_hypers_check(struct steprt *rt);

// Runs a schedule, leaving out parameters that take no part; adds its times to the report.
void rt_run_schedule(struct steprt *rt, const struct rt_schedule *s);

// Returns from the caller with any status but OK.
#define RT_TRY(call)                                                                     \
  do {                                                                                   \
    steprt_status rt_status = (call);                                                    \
    if (rt_status)                                                                       \
      return rt_status;                                                                  \
  } while (0)

// Equal as bits: a NaN is the same as itself, 0 and -0 are not.
static inline bool rt_same_double(double a, double b) {
  uint64_t x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  return x == y;
}

double rt_now(void); // seconds, monotonic

#endif
