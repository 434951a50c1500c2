// The handle: what open and bind made, and what the step in progress holds.
#ifndef STEPRT_CORE_HANDLE_H
#define STEPRT_CORE_HANDLE_H

#include "core/memory.h"
#include "device/device.h"
#include "plan/program.h"
#include "steprt.h"

#include <string.h>

enum { RT_NONE = -1 };

enum rt_mode {
  RT_MODE_BROKEN, // open failed: only steprt_error and steprt_destroy
  RT_MODE_OPEN,
  RT_MODE_BOUND, // no step is open
  RT_MODE_BEGUN  // between begin and end
};

// Where a unit stands in the step.
enum rt_unit_mode {
  RT_UNIT_LEFT,     // not run yet
  RT_UNIT_SELECTED, // of the set being run, or enqueued later under overlap
  RT_UNIT_RUN       // all of it is enqueued
};

struct steprt {
  const struct steprt_program *program;
  const struct rt_plan *plan;
  struct rt_bundle *bundle; // holds the program; NULL: the caller does
  void (*log)(void *ctx, int level, const char *text);
  void *log_ctx;
  enum rt_mode mode;
  bool failed; // a step failed: `error` is final
  char error[640];

  struct rt_memory memory; // the device's too
  const struct rt_device_class *class;
  struct rt_device *device;
  struct steprt_counters counters;

  double *hyper;
  double *reg;     // registers of host code
  float *outs;     // scalars of one rule
  uint64_t *count; // per parameter

  // Host states: that of a parameter's slot is `host[host_index[first_host[p] + slot]]`; those of a group share an
  // index. host_next: from begin on what was before, which comes back where the verdict skips the step. `slot`,
  // `slot_next`: one parameter's, gathered for its rule.
  uint64_t *first_host, *host_index;
  double *host, *host_next;
  uint64_t n_host;
  double *slot, *slot_next;

  // The step in progress, or the last one.
  struct rt_stage *stage;
  void *stream;     // begin's
  bool *takes_part; // per parameter
  int64_t *memo;    // per rule: the parameter last evaluated in this step
  bool measured;    // the verdict stands in the report
  bool waited;      // wait_all has seen its end
  double begun;
  struct steprt_report report;
  double slab_seconds; // of open: until the host slab was there, and pinned

  // Units. `named` and `asked` hold the number of the call of run that last named a parameter or a unit.
  uint8_t *unit_mode; // enum rt_unit_mode
  uint32_t n_left;    // units in RT_UNIT_LEFT
  uint64_t *named, *asked, n_runs;
  uint64_t *chunk_issued; // per chunk: when it was last issued, in any step; 0: never
  uint64_t n_issued;      // issues since open
  uint32_t next_chunk;    // the first one not enqueued yet under overlap; n_chunks: none
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

// OK when the handle may be used in one of the modes [lo, hi]; else the status and text, `call` naming the caller.
steprt_status rt_expect(struct steprt *rt, enum rt_mode lo, enum rt_mode hi,
                        const char *call);

// Reads a versioned struct of the caller into ours, `known` bytes: missing fields are 0, unknown ones must be.
bool rt_read_versioned(void *ours, size_t known, const void *theirs);
// The other way: as much of ours as the caller's struct has, the rest of it zeroed. False: it has no size.
bool rt_write_versioned(void *theirs, size_t known, const void *ours);

// steprt_open on a device of another class than the program's target has: for tests.
steprt_status rt_open_with_class(const struct steprt_program *program,
                                 const struct steprt_options *options,
                                 const struct rt_device_class *class,
                                 struct steprt **out);

// Recomputes hypers bound to expressions of earlier ones.
void rt_hypers_bind(struct steprt *rt);
// Checks all values against their ranges (STEPRT_RANGE).
steprt_status rt_hypers_check(struct steprt *rt);

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
