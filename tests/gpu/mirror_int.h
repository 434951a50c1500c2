// Inside the mirror.
#ifndef TESTS_GPU_MIRROR_INT_H
#define TESTS_GPU_MIRROR_INT_H

#include "mirror.h"

#include "core/handle.h"

static inline uint64_t mirror_bytes(const struct steprt_program *p, uint32_t buffer) {
  return p->buffer[buffer].numel * rt_storage_bytes(p->buffer[buffer].storage);
}

// The kernel of each operation, by the names that the CUDA target gives. False: one has none; said.
bool mirror_match(struct mirror *m);

#endif
