// CUDA devices, in words.
#ifndef STEPC_TOOL_DEVICES_H
#define STEPC_TOOL_DEVICES_H

#include "base/str.h"

#include "device/cuda/probe.h"

// The architecture of the first CUDA device, "sm_90a", where this machine can also compile for it; else empty.
struct str usable_arch(struct arena *a, bool *has_device);
// "/usr/lib/libcuda.so.1 (the loader's search), for CUDA 13.0".
struct str driver_text(struct arena *a, const struct rt_gpus *g);
// "NVIDIA H200 (sm_90), 150 GB, 132 multiprocessors, bus 0000:3b:00.0, NUMA node 0".
struct str device_text(struct arena *a, const struct rt_gpu *g);

#endif
