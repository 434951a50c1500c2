// The CUDA target from a job in IR to a program that a device can run: the text of every kernel, compiled.
#ifndef STEPC_EMIT_CUDA_PROGRAM_H
#define STEPC_EMIT_CUDA_PROGRAM_H

#include "emit/cuda.h"

#include "plan/program.h" // runtime/

struct cuda_options {
  struct str arch; // "sm_90a"
};

struct cuda_program {
  struct steprt_program *step; // without a plan
  struct rt_kernel *kernel;    // step->kernel
  const struct cuda_text *text;
  VEC(struct str) note; // fallbacks, in words
  double seconds;       // in the compiler
  uint32_t n_cached;    // kernels that came from the cache
};

enum cuda_failure {
  CUDA_FINE,
  CUDA_REFUSED,  // reported in f->diags
  CUDA_NO_NVRTC, // `*why`: where it was looked for, or what it does not compile for
  CUDA_BROKEN    // `*why`: an internal error, with the compiler's log
};

// Everything lives on f->arena, images too. An architecture newer than the compiler knows gets the PTX of the newest one
// that it does know, with a note.
enum cuda_failure cuda_compile(struct front *f, const struct job_ir *j,
                               const struct cuda_options *o, struct cuda_program **out,
                               struct str *why);
// The program alone, its kernels without images: what planning needs.
struct cuda_program *cuda_program_plan_only(struct front *f, const struct job_ir *j,
                                            const struct cuda_options *o,
                                            struct str *ice);

#endif
