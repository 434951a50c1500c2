/* libsteprt: runs a compiled optimizer step. It knows no spec and decides nothing.
 *
 * One handle serves one program on one device and belongs to one thread at a time. Every call returns a status;
 * steprt_error has the text of the last refusal or, once a step has failed, of that failure for good. The library
 * never prints, exits, aborts or installs signal handlers; notes go to options.log. C99 and C++ clean. */
#ifndef STEPRT_H
#define STEPRT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#  define STEPRT_API __attribute__((visibility("default")))
#else
#  define STEPRT_API
#endif

typedef enum steprt_status {
  STEPRT_OK = 0,
  STEPRT_BAD_ARGUMENT = -1,
  STEPRT_BAD_INPUT = -2,
  STEPRT_NO_MEMORY = -3,
  STEPRT_IO = -4,
  STEPRT_NO_LIBRARY = -5,
  STEPRT_BAD_PROGRAM = -6,
  STEPRT_BAD_STATE = -7,
  STEPRT_RANGE = -8,
  STEPRT_FAILED = -9
} steprt_status;
STEPRT_API const char *steprt_status_text(steprt_status s);

struct steprt;         /* a handle */
struct steprt_program; /* a compiled step: runtime/plan/program.h; made by the compiler */

enum steprt_level { STEPRT_NOTE = 0, STEPRT_WARN = 1, STEPRT_ERROR = 2 };

struct steprt_options {
  size_t size;      /* sizeof(struct steprt_options) */
  uint32_t threads; /* CPU device; 0: all cores this process may run on */
  void (*log)(void *ctx, int level, const char *text); /* may be NULL */
  void *log_ctx;
};

/* Everything that a step needs is made here: threads, temporaries, libraries. `program` must outlive the handle.
 * On failure *out is a handle that only has the error's text, to be destroyed like any other; NULL when there was no
 * memory even for that. */
STEPRT_API steprt_status steprt_open(const struct steprt_program *program,
                                     const struct steprt_options *options,
                                     struct steprt **out);
STEPRT_API void steprt_destroy(struct steprt *rt);            /* accepts NULL */
STEPRT_API const char *steprt_error(const struct steprt *rt); /* "" when there was none */

/* Pointers to the parameters, in program order, row-major, aligned to their element; they stay the caller's. States
 * are created here (L2) and initialised. Entries of frozen and tied parameters are ignored and may be NULL. */
STEPRT_API steprt_status steprt_bind(struct steprt *rt, void *const *params);

/* Index of a hyper by label and name ("rest", "lr"); label "" or NULL: the recipe's. -1 when there is none. */
STEPRT_API int32_t steprt_hyper(const struct steprt *rt, const char *label,
                                const char *name);
STEPRT_API steprt_status steprt_set_hyper(struct steprt *rt, int32_t hyper,
                                          double value); /* checked at begin */
STEPRT_API double steprt_get_hyper(const struct steprt *rt, int32_t hyper);

struct steprt_step {
  size_t size;
  const void *const
      *grads; /* one per parameter; NULL: this parameter takes no part in this step */
};
/* begin captures hypers and pointers, advances counters and computes clip factor and verdict; run executes all
 * units; end closes the step. Gradients must stay valid until end returns (the CPU device is synchronous). What is
 * refused at begin changes nothing. */
STEPRT_API steprt_status steprt_begin(struct steprt *rt, const struct steprt_step *step);
STEPRT_API steprt_status steprt_run(struct steprt *rt,
                                    const void *units); /* units: NULL, all of them */
STEPRT_API steprt_status steprt_end(struct steprt *rt);

/* What the last step did. */
struct steprt_report {
  size_t size;
  int32_t skipped;      /* the recipe's `skip nonfinite` left the step out */
  double grad_norm;     /* where the recipe clips; else 0 */
  double clip_factor;   /* 1 where nothing was clipped */
  uint64_t bytes_moved; /* by map phases and the norm: read plus written */
  double seconds;       /* begin to end, wall clock */
  double map_seconds, matrix_seconds;
};
STEPRT_API steprt_status steprt_report(const struct steprt *rt,
                                       struct steprt_report *out);

/* A state tensor by its parameter and its name in the spec ("m"), after bind; what saves and resumes reads and writes
 * it between steps. NULL when there is none. `bytes` may be NULL. Counts and host states are below. */
STEPRT_API void *steprt_state(const struct steprt *rt, uint32_t param, const char *name,
                              uint64_t *bytes);

/* Looking inside, for tools and tests: buffers by index, see struct steprt_program. */
STEPRT_API void *steprt_buffer(const struct steprt *rt, uint32_t buffer);
STEPRT_API double steprt_host_state(const struct steprt *rt, uint32_t param,
                                    uint32_t slot);
STEPRT_API uint64_t steprt_count(const struct steprt *rt,
                                 uint32_t param); /* real updates so far */
/* Between steps, for what resumes: a slot of a group is shared by all parameters of its use line. */
STEPRT_API steprt_status steprt_set_count(struct steprt *rt, uint32_t param,
                                          uint64_t count);
STEPRT_API steprt_status steprt_set_host_state(struct steprt *rt, uint32_t param,
                                               uint32_t slot, double value);

#ifdef __cplusplus
}
#endif
#endif
