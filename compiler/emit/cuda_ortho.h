// The kernels around the products of an orthogonalize, as CUDA text.
#ifndef STEPC_EMIT_CUDA_ORTHO_H
#define STEPC_EMIT_CUDA_ORTHO_H

#include "emit/cuda_int.h"

#include "plan/program.h" // runtime/

// What they depend on.
struct cuda_ortho {
  enum storage operand, compute; // f32 or bf16 each
  bool cast_first;               // the norm is that of the operand as rounded
  bool aol;                      // also the kernels that only AOL needs
};

// Writes them to `out`, in the order of enum rt_ortho_kernel; returns how many.
uint32_t cuda_ortho_kernels(struct cuda_writer *w, const struct cuda_ortho *o,
                            struct cuda_kernel out[RT_N_ORTHO_KERNELS]);

#endif
