// Memory on a device for who calls the runtime without a framework: the tool's parameters and gradients.
#ifndef STEPRT_CUDA_BLOCK_H
#define STEPRT_CUDA_BLOCK_H

#include "steprt.h"

#include <stdint.h>

// One allocation in the primary context of a device. Calls may fail with STEPRT_NO_LIBRARY, NO_MEMORY, BAD_ARGUMENT
// (no such device) or FAILED; `why` (at most n bytes) says why.
struct rt_gpu_block;
steprt_status rt_gpu_block_open(int32_t ordinal, uint64_t bytes,
                                struct rt_gpu_block **out, char *why, size_t n);
void rt_gpu_block_close(struct rt_gpu_block *b); // accepts NULL

void *rt_gpu_block_address(const struct rt_gpu_block *b); // of the device; 256-aligned
// Copy bytes [at, at + bytes) of the block, after everything that the default stream holds; done when they return.
steprt_status rt_gpu_block_put(struct rt_gpu_block *b, uint64_t at, const void *from,
                               uint64_t bytes, char *why, size_t n);
steprt_status rt_gpu_block_get(struct rt_gpu_block *b, uint64_t at, void *to,
                               uint64_t bytes, char *why, size_t n);

#endif
