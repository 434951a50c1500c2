/* libstepc: compiles optimizers. A job names a spec and the parameters of a model; the program that comes back is
 * what libsteprt steps (steprt.h), with everything the compiler has to say about it as data.
 *
 *   struct stepc_job job = {0};
 *   job.size = sizeof job;
 *   job.spec = "muon.opt";
 *   job.params = params;
 *   job.n_params = n;
 *   if (stepc_compile(&job, &program) == STEPC_OK)
 *     steprt_open(program, NULL, &rt);
 *   else
 *     show(stepc_program_messages(program));
 *   ...
 *   steprt_destroy(rt);
 *   stepc_program_free(program);
 *
 * Programs share nothing: any number of them live side by side, and threads may compile at the same time. One
 * program may be read by several threads at once, but for stepc_program_emit. The library never prints, exits,
 * aborts on its own account or installs signal handlers; out of memory is a status (inside LLVM alone, which knows
 * no other way, it ends the process). C99 and C++ clean. */
#ifndef STEPC_H
#define STEPC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#  define STEPC_API __attribute__((visibility("default")))
#else
#  define STEPC_API
#endif

typedef enum stepc_status {
  STEPC_OK = 0,
  STEPC_BAD_ARGUMENT = -1, /* the call is wrong: stepc_program_error tells how */
  STEPC_BAD_INPUT = -2,    /* the spec, the model or a setting is: see the diagnostics */
  STEPC_NO_MEMORY = -3,
  STEPC_IO = -4,         /* a file cannot be read: see the diagnostics */
  STEPC_NO_LIBRARY = -5, /* NVRTC or a CUDA device is missing: see the diagnostics */
  STEPC_INTERNAL = -9    /* a bug of stepc: stepc_program_error tells which */
} stepc_status;
STEPC_API const char *stepc_status_text(stepc_status s);
STEPC_API const char *stepc_version(void); /* "0.1.0" */

/* ---- what to compile ------------------------------------------------------------------------------------------ */

/* One parameter. Its name stands for itself: braces are no ranges here. Texts are copied. */
struct stepc_param {
  size_t size; /* sizeof(struct stepc_param), the same in every element */
  const char *name;
  const uint64_t *dim; /* `rank` of them, at most 8; row-major */
  uint32_t rank;
  int32_t frozen;    /* not 0: left as it is, has no gradient */
  const char *dtype; /* "f32", "bf16", "f16"; NULL: f32 */
  const char *grad;  /* of its gradient; NULL: as dtype */
  /* another parameter's name: the same memory, updated once, there; NULL: not tied */
  const char *tied;
};

/* All texts end with NUL, are UTF-8 and are the caller's; nothing of a job is used after stepc_compile returned. */
struct stepc_job {
  size_t size; /* sizeof(struct stepc_job) */

  /* path of the spec; imports are read beside it. FILE:NAME picks, unless `pick` does */
  const char *spec;
  /* the spec itself; `spec` (or NULL) is then what messages call it, and where imports lie */
  const char *spec_text;
  /* recipe or optimizer; NULL: the only recipe, else the only optimizer */
  const char *pick;

  /* The model: one of the two. */
  /* path of a stepc-model/1 file or of safetensors; or the JSON text itself, which begins with { */
  const char *model;
  const struct stepc_param *params;
  uint32_t n_params;

  /* NULL or "cpu": this machine; "cpu:x86-64-v3"; "cuda": device 0; "cuda:sm_90a" */
  const char *target;
  const char *const *defines; /* of statics: "ns=polar_express", "rest.amsgrad=true" */
  const char *const *sets;    /* of hypers: "lr=0.1", "rest.wd=0" */
  uint32_t n_defines, n_sets;

  /* bytes that the compiler may hold, LLVM not counted; 0: no limit */
  uint64_t memory_limit;

  /* The plan of this process's rank. */
  /* where device states rest: NULL or "none": on the device; "host"; "host:0.6" (a share of their bytes) */
  const char *offload;
  /* that stream together; 0: a sixty-fourth of all, 64 MiB to 1 GiB */
  uint64_t chunk_bytes;
  uint32_t slots;                   /* chunks in flight; 0: 4; 3 or more */
  uint32_t rank;                    /* in the model's world */
  int32_t overlap;                  /* not 0: the order of the next forward pass rules */
  uint64_t gpu_memory, host_memory; /* budgets in bytes; 0: none */
};

/* What steprt_open takes (runtime/steprt.h). The calls below take those that stepc_compile made, no others. */
struct steprt_program;

/* *program is always to be freed by stepc_program_free, also after a failure, when it holds messages only and
 * libsteprt refuses it; it is NULL when there was no memory even for that, or `program` is NULL. */
STEPC_API stepc_status stepc_compile(const struct stepc_job *job,
                                     struct steprt_program **program);
/* Handles of libsteprt that were opened on it come first. Accepts NULL. */
STEPC_API void stepc_program_free(struct steprt_program *program);

/* ---- what came out ---------------------------------------------------------------------------------------------
 * What these return lives as long as the program. Each fills a struct of the caller, whose `size` says how much of
 * it the caller knows; STEPC_BAD_ARGUMENT for an index past the end. */

struct stepc_summary {
  size_t size;
  /* of the recipe or optimizer; "" when compiling failed before it was known, as all below */
  const char *name;
  uint32_t n_params, n_uses, n_rules, n_kernels, n_hypers, n_notes;
  uint32_t n_diags; /* that are kept */
  uint32_t n_errors, n_warnings;
  uint64_t state_bytes, temp_bytes; /* that libsteprt allocates */
  double parse_seconds, model_seconds, sema_seconds, lower_seconds, code_seconds;
};
STEPC_API stepc_status stepc_program_summary(const struct steprt_program *program,
                                             struct stepc_summary *out);

/* Why the status is what it is, in one line; "" after success. */
STEPC_API const char *stepc_program_error(const struct steprt_program *program);
/* All diagnostics as the tool prints them, with source lines and carets; "" when there are none. */
STEPC_API const char *stepc_program_messages(const struct steprt_program *program);

enum stepc_severity {
  STEPC_WARNING = 0,
  STEPC_ERROR = 1,
  STEPC_NOTE = 2,
  STEPC_HELP = 3
};

/* A diagnostic, or a note or help that belongs to one. Lines and columns (bytes) count from 1, the end is exclusive;
 * without a place `path` is "" and they are 0. Texts are safe to show: what came from outside is escaped. `path` is as
 * it was given. */
struct stepc_diag {
  size_t size;
  const char *code; /* "E0201"; of a note or help: the diagnostic's */
  const char *name; /* "unknown-name"-like; of a warning what follows -W in the tool */
  const char *text;
  const char *path;
  uint32_t line, col, end_line, end_col;
  int32_t severity; /* enum stepc_severity */
  uint32_t n_notes;
};
STEPC_API stepc_status stepc_program_diag(const struct steprt_program *program,
                                          uint32_t i, struct stepc_diag *out);
STEPC_API stepc_status stepc_program_diag_note(const struct steprt_program *program,
                                               uint32_t diag, uint32_t note,
                                               struct stepc_diag *out);

/* What was replaced by something else, and why; NULL past the end. */
STEPC_API const char *stepc_program_note(const struct steprt_program *program,
                                         uint32_t i);

/* Which rule a parameter got, in the order of the model: the order of steprt_bind. */
struct stepc_param_info {
  size_t size;
  const char *name, *dtype, *grad;
  const uint64_t *dim;
  uint32_t rank;
  int32_t frozen;
  int64_t tied_to;       /* index of the parameter that it names again; -1: none */
  const char *optimizer; /* "" where frozen or tied */
  const char *label;     /* of its use line */
  const char *reason;    /* the line's condition; "" when it has none */
};
STEPC_API stepc_status stepc_program_param(const struct steprt_program *program,
                                           uint32_t i, struct stepc_param_info *out);

/* Hypers by the index that steprt_hyper finds. */
struct stepc_hyper_info {
  size_t size;
  const char *label, *name; /* label "": the recipe's */
  const char *alias;        /* torch's name where the spec gives one, else "" */
  double value;             /* the default, after settings */
  int32_t is_bound;         /* not 0: follows from other hypers, cannot be set */
  int32_t has_range, lo_open, hi_open;
  double lo, hi;
};
STEPC_API stepc_status stepc_program_hyper(const struct steprt_program *program,
                                           uint32_t i, struct stepc_hyper_info *out);

struct stepc_kernel_info {
  size_t size;
  const char *name; /* its symbol in what stepc_program_emit gives */
  uint32_t n_tensors, n_scalars;
  uint32_t bytes_read, bytes_written; /* per element */
};
STEPC_API stepc_status stepc_program_kernel(const struct steprt_program *program,
                                            uint32_t i, struct stepc_kernel_info *out);

/* The text of one stage: "ast", "ir", "phases", "llvm", "asm", "cuda". It lives on the program. */
STEPC_API stepc_status stepc_program_emit(struct steprt_program *program,
                                          const char *kind, const char **text);

/* The program and its plan as a folder, a bundle, that steprt_open_bundle opens without this library. It appears whole or
 * not at all and replaces only another bundle. STEPC_BAD_ARGUMENT for a program that is not for CUDA: machine code for
 * the CPU lives in this process; STEPC_IO where it cannot be written. stepc_program_error has the reason. */
STEPC_API stepc_status stepc_program_write(struct steprt_program *program,
                                           const char *dir);

#ifdef __cplusplus
}
#endif
#endif
