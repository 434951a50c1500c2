// The CUDA target's text: one self-contained .cu per kernel, deterministic to the byte. Needs no CUDA.
//
// How a kernel is launched (every pointer is the device's):
//
//   struct row {                  // of a table made once, in the order of `first_tile`
//     void *ptr[n_ptrs];          // in the order of the kernel's head comment; gradients are not in it
//     unsigned long long first;   // element of the parameter's shard at which the row begins
//     unsigned long long numel;
//     unsigned first_tile;        // tiles of all rows of the operation before it
//     unsigned param;             // index into grads and scalar_at
//     unsigned scalars;           // where the phase's scalars begin in its rule's block
//     unsigned unused;
//   };
//   struct verdict {              // of the step; { 1, 0, 0 } where nothing measures the gradients
//     float clip;                 // what gradients are multiplied by
//     unsigned skip;              // not 0: kernels return at once and change nothing
//     double norm;
//   };
//
//   CUDA_MAP      name(const struct row *rows, unsigned n_rows, unsigned n_tiles, const float *scalars,
//                      const unsigned *scalar_at, const void *const *grads, const struct verdict *verdict)
//                   any run of neighbouring rows of a table may be launched; tiles count from rows[0].first_tile.
//                   A row whose grads[param] is NULL is left out; grads may be NULL for initial states. Scalar i is
//                   scalars[scalar_at[param] + row.scalars + i], i as in rt_phase.scalar; clip comes from the verdict.
//                   The gradient of a row begins at grads[param] + first.
//   CUDA_SQUARES  name(const struct row *rows, unsigned n_rows, unsigned n_tiles, const void *const *grads,
//                      struct binned *parts)
//                   writes one partial sum (CUDA_BINNED_BYTES) per block, also where a block has no tile
//   CUDA_MERGE    name(const struct binned *parts, unsigned n_parts, struct binned *sum)
//                   one block; only where the model has several ranks
//   CUDA_VERDICT  name(const struct binned *parts, unsigned n_parts, double bound, struct verdict *verdict)
//                   one block; `bound` is the recipe's clip, infinity where it has none
//
// A row has ceil(numel / tile) tiles, n_tiles is their sum (at least 1). Any number of blocks is right; best is one per tile
// for CUDA_MAP, what is resident at once (or one per tile, if those are fewer) for CUDA_SQUARES. The tiles of an
// operation stay below 2^31: a block counts on by the number of blocks before it sees that it is past the end.
#ifndef STEPC_EMIT_CUDA_H
#define STEPC_EMIT_CUDA_H

#include "ir/job_ir.h"

enum cuda_kernel_kind { CUDA_MAP, CUDA_SQUARES, CUDA_MERGE, CUDA_VERDICT, CUDA_ORTHO };
enum { CUDA_BINNED_BYTES = 40 };

struct cuda_kernel {
  enum cuda_kernel_kind kind;
  uint32_t ortho;   // CUDA_ORTHO: enum rt_ortho_kernel
  uint32_t storage; // CUDA_SQUARES: of the gradient
  struct str name;  // a C identifier, the kernel's symbol
  struct str file;  // "adamw__p0__f32.cu"
  struct str source;
  uint32_t n_ptrs;                    // of a row: without the gradient
  uint32_t n_scalars;                 // the clip's place among them
  uint32_t bytes_read, bytes_written; // per element
  uint32_t block;                     // threads
  uint32_t tile;                      // elements
};

struct cuda_text {
  // map kernels in the order of rules and phases, then those of the gradients, then those around products
  struct cuda_kernel *kernel;
  uint32_t n_kernels;
  const struct rt_ortho_set *ortho; // its kernels by index
  uint32_t n_ortho;
  struct cpu_plan *plan; // the program that they belong to, without code
};

// NULL when something is refused (E0701, "cuda") or on an internal error (`*ice`). `command` regenerates the text
// and goes into its banner; empty: none.
struct cuda_text *cuda_emit(struct front *f, const struct job_ir *j, struct str command,
                            struct str *ice);

#endif
