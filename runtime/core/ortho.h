// Newton-Schulz on the CPU: products by a serial BLAS opened privately (DESIGN section 12).
#ifndef STEPRT_CORE_ORTHO_H
#define STEPRT_CORE_ORTHO_H

#include "plan/program.h"
#include "steprt.h"

struct rt_blas; // an opened BLAS
struct rt_team; // worker threads: core/team.h

// Opens BLIS or OpenBLAS (serial builds) with RTLD_LOCAL, the folders of STEPC_LIBRARY_PATH first, and checks it
// against a plain product; a library that computes wrongly is refused with a note and the next one is tried.
// `why` (size n) receives on one line what was refused and why, "" where nothing was; when none is usable
// (STEPRT_NO_LIBRARY), what to do comes first.
steprt_status rt_blas_open(struct rt_blas **out, char *why, size_t n);
void rt_blas_close(struct rt_blas *b); // accepts NULL
// Products on every thread of the team at once, so that what the library makes for a thread is there before a step.
// From the thread that will call rt_ortho; not in a child of fork.
steprt_status rt_blas_warm(const struct rt_blas *b, struct rt_team *team);
const char *rt_blas_name(const struct rt_blas *b); // path and kind, for doctor

// Bytes of scratch that `rt_ortho` needs for this shape; allocate once at open.
size_t rt_ortho_scratch(const struct rt_iteration *it, uint64_t rows, uint64_t cols,
                        uint32_t threads);
// `batch` matrices rows x cols, row-major. The operand rests in f32 or bf16, the result in the compute type.
struct rt_matrices {
  const void *in;
  uint32_t in_storage;
  void *out;
  uint64_t batch, rows, cols;
};

// out := orthogonalize(in). An f32 operand of a bf16 iteration is rounded before its norm is taken or, with
// norm_in_f32, once, after it was divided by the norm. Bits depend on iteration, rows, cols and values only: not on
// threads, batch (L1) or the caller's floating-point mode. Runs on the team from its calling thread; nothing is allocated. A zero matrix gives zeros; NaN
// and Inf propagate.
void rt_ortho(const struct rt_blas *blas, struct rt_team *team,
              const struct rt_iteration *it, const struct rt_matrices *m, void *scratch);

#endif
