// Copies over the link between pinned host memory and a GPU, both ways at once and nothing else: the floor under a step
// that streams.
#ifndef STEPRT_CUDA_LINK_H
#define STEPRT_CUDA_LINK_H

#include "steprt.h"

#include <stdint.h>

// Buffers of `room` bytes each way, on device `ordinal` and pinned on the host near it; streams like those of a step.
// STEPRT_NO_LIBRARY, BAD_ARGUMENT, NO_MEMORY or FAILED with `why` (at most n bytes); *out is NULL then.
struct rt_link;
steprt_status rt_link_open(int32_t ordinal, uint64_t room, struct rt_link **out,
                           char *why, size_t n);
void rt_link_close(struct rt_link *l); // accepts NULL

// `up` bytes to the device and `down` bytes to the host, by copies of `piece` bytes (at most `room`; the last ones may
// be shorter) that go round in the buffers. Done when it returns; the caller's clock tells how long it took.
steprt_status rt_link_copy(struct rt_link *l, uint64_t up, uint64_t down, uint64_t piece,
                           char *text, size_t n);

#endif
