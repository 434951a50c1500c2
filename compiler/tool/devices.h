// CUDA devices, as the driver sees them.
#ifndef STEPC_TOOL_DEVICES_H
#define STEPC_TOOL_DEVICES_H

#include "base/str.h"

// "NVIDIA H200 (sm_90), ..." of every CUDA device; an empty text, and `why`, without any.
struct str cuda_devices(struct arena *a, struct str *why);

#endif
