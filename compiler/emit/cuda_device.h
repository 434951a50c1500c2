// Which CUDA device there is to compile for.
#ifndef STEPC_EMIT_CUDA_DEVICE_H
#define STEPC_EMIT_CUDA_DEVICE_H

#include "base/str.h"

// The architecture of device `ordinal`, "sm_90a" with the letter that gives all of its instructions; empty, and `why`,
// when there is no driver or no such device. Makes no context.
struct str cuda_device_arch(struct arena *a, uint32_t ordinal, struct str *why);

#endif
