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
  /* May be NULL. Notes of the plan come first, at open. */
  void (*log)(void *ctx, int level, const char *text);
  void *log_ctx;
  int32_t device; /* CUDA: ordinal among the devices that the driver shows */
  int32_t trace;  /* not 0: keep the times of each operation of the last step */
  /* Limits in bytes beside those of the machine; 0: none. gpu_memory: CUDA, of all that the handle allocates there;
   * host_memory: of the slab for states. */
  uint64_t gpu_memory, host_memory;
};

/* Everything that a step needs is made here: threads, memory of states and temporaries, libraries. `program` must
 * outlive the handle.
 * On failure *out is a handle that only has the error's text, to be destroyed like any other; NULL when there was no
 * memory even for that. */
STEPRT_API steprt_status steprt_open(const struct steprt_program *program,
                                     const struct steprt_options *options,
                                     struct steprt **out);
/* The same from a folder that stepc_program_write or `stepc emit --emit=bundle` made: a program for CUDA, which needs
 * this library alone. The handle holds the program. STEPRT_IO or STEPRT_BAD_INPUT where the folder is no bundle. */
STEPRT_API steprt_status steprt_open_bundle(const char *dir,
                                            const struct steprt_options *options,
                                            struct steprt **out);
/* Waits for what is enqueued; what a plan with overlap has not enqueued yet does not run. Accepts NULL. */
STEPRT_API void steprt_destroy(struct steprt *rt);
/* "" when there was none; the text changes with the next call. */
STEPRT_API const char *steprt_error(const struct steprt *rt);

/* Pointers to the parameters, in program order, row-major, aligned to their element; they stay the caller's, and must
 * stay valid. States get their initial values here, and the call returns when they have them; some begin as copies, so
 * no stream may still write the parameters. Entries of frozen and tied parameters are ignored; they and those of
 * parameters without elements may be NULL. Once per handle: what was refused may be tried again. */
STEPRT_API steprt_status steprt_bind(struct steprt *rt, void *const *params);
/* The same, with the size of each parameter's memory in bytes: refused where it is not that of this rank's shard.
 * Those of frozen and tied parameters are ignored. */
STEPRT_API steprt_status steprt_bind_sized(struct steprt *rt, void *const *params,
                                           const uint64_t *bytes);

/* Index of a hyper by label and name ("rest", "lr"); label "" or NULL: the recipe's. -1 when there is none. */
STEPRT_API int32_t steprt_hyper(const struct steprt *rt, const char *label,
                                const char *name);
STEPRT_API steprt_status steprt_set_hyper(struct steprt *rt, int32_t hyper,
                                          double value); /* checked at begin */
STEPRT_API double steprt_get_hyper(const struct steprt *rt, int32_t hyper);

struct steprt_step {
  size_t size;
  /* One per parameter, row-major, aligned to its element; NULL: the parameter takes no part in this step. */
  const void *const *grads;
  /* CUDA: the CUstream that gradients and parameters are used on; NULL: the legacy default stream. */
  void *stream;
};
/* begin captures hypers and pointers, advances counters and starts what the whole step needs (norm, verdict); run
 * enqueues units; end closes the set: a unit left out is an error, and the step stays open. None of them waits, but
 * begin: for the verdict of the step before where the recipe skips, and for a step that began four steps before and has
 * not started (counters.waits). The step is done after steprt_wait_all; without overlap the stream given to run comes
 * behind what that run enqueued, under overlap see steprt_wait_order. What is refused changes nothing. Gradients must
 * stay valid until wait_all, or until the stream given to steprt_grads_done has passed it. */
STEPRT_API steprt_status steprt_begin(struct steprt *rt, const struct steprt_step *step);

/* A set of whole units, by unit or by parameter (then exactly the parameters of whole units that have a rule). */
struct steprt_set {
  size_t size;
  const uint32_t *units;
  const uint32_t *params; /* one of the two */
  uint32_t n;
  void *stream; /* CUDA: NULL is begin's */
};
/* set: NULL, all units that have not run yet. A unit runs once in a step. */
STEPRT_API steprt_status steprt_run(struct steprt *rt, const struct steprt_set *set);
STEPRT_API steprt_status steprt_end(struct steprt *rt);

/* The partition: returns the number of units; `unit_of` (one per parameter, or NULL) receives each parameter's, or
 * UINT32_MAX where it has no rule. */
STEPRT_API uint32_t steprt_units(const struct steprt *rt, uint32_t *unit_of);

/* Waits. wait_order: for the chunks that hold parameters first needed at `order` or before, on `stream` (CUDA) or in
 * the calling thread (CPU), as far as units have run, in this step or, where none of a chunk has, in the one before;
 * enqueues what lies ahead under overlap. wait_all: enqueues what is left of units that have run and blocks until
 * everything is done; then parameters may be read, written and saved. grads_done: enqueues the same and makes `stream`
 * wait until it no longer reads gradients (CPU: blocks). */
STEPRT_API steprt_status steprt_wait_order(struct steprt *rt, uint64_t order,
                                           void *stream);
STEPRT_API steprt_status steprt_wait_all(struct steprt *rt);
STEPRT_API steprt_status steprt_grads_done(struct steprt *rt, void *stream);

/* L2, the step is silent: what happened from begin to wait_all, since open. All but the last two are 0 in a run that
 * keeps the law. allocations: as of the last wait_all, which fails where there were any. pins, opens (streams, events),
 * compiles (and kernels loaded): asked of the CUDA driver. connects, states_created: nothing in this version does so
 * after open. waits: the caller's other than wait_all, the verdict's in begin and wait_order on the CPU: in begin for a
 * step four steps before, in grads_done on the CPU, and for a count or a host state of a step that may be skipped. */
struct steprt_counters {
  size_t size;
  uint64_t allocations, pins, opens, compiles, connects, states_created, waits;
  uint64_t verdict_waits, order_waits; /* the two exceptions */
};
STEPRT_API steprt_status steprt_counters(const struct steprt *rt,
                                         struct steprt_counters *out);

/* With options.trace: one per operation (or part of one) of the last step, in the order they were issued, after
 * wait_all. Times count from begin; on CUDA from when the caller's stream had come so far: loads that ran ahead are
 * before 0. Returns how many there are; fills at most n. CUDA: parts beyond some 1,000 are left out, and noted. */
struct steprt_trace_record {
  uint32_t op; /* of the plan */
  uint32_t lane;
  double begin, end; /* seconds */
  uint64_t bytes;
};
STEPRT_API uint64_t steprt_trace(struct steprt *rt, struct steprt_trace_record *out,
                                 uint64_t n);

/* What the last step did; waits for it. */
struct steprt_report {
  size_t size;
  int32_t skipped;      /* the recipe's `skip nonfinite` left the step out */
  double grad_norm;     /* where the recipe clips; else 0 */
  double clip_factor;   /* 1 where nothing was clipped */
  uint64_t bytes_moved; /* by map phases and the norm: read plus written */
  double seconds;       /* begin to wait_all, wall clock */
  double map_seconds, matrix_seconds; /* CUDA: 0 without options.trace */
};
STEPRT_API steprt_status steprt_report(struct steprt *rt, struct steprt_report *out);

/* A state tensor by its parameter and its name in the spec ("m"), after bind, between steps: waits for the last one.
 * Its address on the host; NULL when there is none, or when it lies on a GPU. `bytes` may be NULL, and is set wherever
 * the state exists. state_get and state_set copy it whole wherever it lies. Counts and host states are below. */
STEPRT_API void *steprt_state(struct steprt *rt, uint32_t param, const char *name,
                              uint64_t *bytes);
STEPRT_API steprt_status steprt_state_get(struct steprt *rt, uint32_t param,
                                          const char *name, void *to, uint64_t bytes);
STEPRT_API steprt_status steprt_state_set(struct steprt *rt, uint32_t param,
                                          const char *name, const void *from,
                                          uint64_t bytes);

/* Host states by their place among those of the parameter's rule, and counts; they wait for the last step where the
 * recipe skips. */
STEPRT_API double steprt_host_state(struct steprt *rt, uint32_t param, uint32_t slot);
STEPRT_API uint64_t steprt_count(struct steprt *rt,
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
