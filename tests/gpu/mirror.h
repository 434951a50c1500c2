// A step on the device beside the same step on the CPU: the CPU target's program says what is launched on what, the
// emitted kernels do it, and the products of matrices are taken over from the CPU.
#ifndef TESTS_GPU_MIRROR_H
#define TESTS_GPU_MIRROR_H

#include "emit/cuda.h"
#include "emit/kernel.h"
#include "gpu.h"
#include "tool/session.h"

struct mirror_verdict { // as the kernels lay it out (emit/cuda.h)
  float clip;
  uint32_t skip;
  double norm;
};

struct mirror {
  const struct gpu *gpu;
  struct arena *arena;
  const struct job_ir *job;
  const struct cuda_text *text;
  struct session *session;
  const struct steprt_program *program;
  void **module, **function;     // by kernel of `text`
  const struct cuda_kernel **of; // by operation of the program; NULL: no map
  uint64_t *block,
      *base; // by buffer: what was allocated, and where the tensor begins in it
  uint64_t parts, verdict;
  uint32_t max_parts;
};

// Loads FOLDER/NAME.cubin of each kernel and copies parameters and states. `odd`: every second tensor begins one
// element past an aligned address. False: a kernel or file is missing; said.
bool mirror_open(struct mirror *m, const char *folder, bool odd);
void mirror_close(struct mirror *m);

// One step of the session, on both sides; its gradients lie in the session. False: they differ on the way (norm,
// verdict, operand of a product); said.
bool mirror_step(struct mirror *m);
// Parameters and states against the CPU's, each that differs said; then the CPU's bytes are replaced by the device's,
// so that a digest of the session is the device's.
bool mirror_compare(struct mirror *m);

// One launch, its table and scalars on the device.
struct mirror_launch {
  const struct cuda_kernel *kernel;
  void *function;
  uint64_t table, scalars, scalar_at, grads;
  uint64_t parts; // of squares: where its partial sums go
  uint32_t n_rows, n_tiles, n_blocks;
  uint64_t elements;
};
// All operations of a wave that take this kernel; n_rows 0: none.
struct mirror_launch mirror_prepare(struct mirror *m, const struct cuda_kernel *k,
                                    uint32_t wave);
// The sum of squares of all gradients that this kernel reads.
struct mirror_launch mirror_prepare_squares(struct mirror *m,
                                            const struct cuda_kernel *k);
void mirror_launch(struct mirror *m, struct mirror_launch *l);
void mirror_launch_free(struct mirror *m, struct mirror_launch *l);

#endif
