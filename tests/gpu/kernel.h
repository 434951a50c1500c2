// One emitted kernel on the device beside the same on the CPU.
#ifndef TESTS_GPU_KERNEL_H
#define TESTS_GPU_KERNEL_H

#include "emit/cuda.h"
#include "emit/kernel.h"
#include "gpu.h"
#include "plan/program.h" // runtime/

enum { KERNEL_MAX_SLOTS = 16, KERNEL_MAX_SCALARS = 64 };

struct kernel_pair {
  const struct gpu *gpu;
  struct arena *arena;
  const struct kernel *kernel; // of squares: a single gradient
  const struct cuda_kernel *cuda;
  void *function;
  rt_map_fn cpu; // NULL: squares
};

// Rows of a table, one parameter each: every tensor at every element of 16 bytes while the others are aligned, with
// lengths around every boundary of groups, turns and tiles.
struct kernel_row {
  uint64_t numel, first;       // first: element of its parameter at which it begins
  size_t at[KERNEL_MAX_SLOTS]; // in the block of each slot
  bool left_out;               // its gradient is NULL
};
struct kernel_rows {
  const struct kernel_pair *pair;
  struct kernel_row *row;
  uint32_t n, n_tiles;
  size_t bytes[KERNEL_MAX_SLOTS];
  unsigned char *host[KERNEL_MAX_SLOTS]; // on the heap
  uint64_t device[KERNEL_MAX_SLOTS];
  uint32_t *first_tile; // n + 1
  float *scalar;        // KERNEL_MAX_SCALARS per row
  uint64_t table, scalars, scalar_at, grads, verdict;
  uint32_t row_bytes;
};

// kernel_rows.c. Fills both sides with the same values, finite ones where said; bytes between rows are 0xa5.
struct kernel_rows kernel_rows_new(const struct kernel_pair *p, bool finite);
void kernel_rows_free(struct kernel_rows *r);
// Launches rows [first, first + n) on `blocks` blocks; 0: one per tile. `parts`: of squares.
void kernel_rows_launch(struct kernel_rows *r, uint32_t first, uint32_t n,
                        uint32_t blocks, uint64_t parts);
// Runs the CPU's side, waits for the device's and compares all bytes, NaNs being one value. False: they differ, said.
bool kernel_rows_compare(struct kernel_rows *r);
// Random values and scalars for `n` elements of a slot; reproducible.
void kernel_fill(enum storage s, uint64_t n, uint64_t seed, bool finite, void *out);
void kernel_scalars(const struct kernel_pair *p, uint64_t seed, float *out);

// kernel_long.c: a tensor of more than 2^31 elements. True where it was left out for want of memory, said.
bool kernel_check_long(const struct kernel_pair *p);

enum { KERNEL_CLIP_BITS = 0x3ebd70a4 }; // 0.37f: the clip factor of every launch

#endif
