// The CUDA driver, opened at run time: the few functions that we call, with declarations of our own, so that neither the
// toolkit's headers nor the library are needed to build.
#ifndef STEPRT_CUDA_DRIVER_H
#define STEPRT_CUDA_DRIVER_H

#include "device/cuda/library.h"
#include "steprt.h"

#include <stdint.h>

// Numbers of cuda.h.
enum {
  CU_SUCCESS = 0,
  CU_OUT_OF_MEMORY = 2,
  CU_NO_BINARY_FOR_GPU = 209, // made for another architecture
  CU_UNSUPPORTED_PTX = 222,   // of a newer toolkit than the driver's
  CU_NOT_READY = 600,

  CU_DEVICE_MULTIPROCESSORS = 16, // CUdevice_attribute
  CU_DEVICE_COPY_ENGINES = 40,
  CU_DEVICE_MAJOR = 75,
  CU_DEVICE_MINOR = 76,

  CU_FUNCTION_SHARED = 1, // CUfunction_attribute
  CU_FUNCTION_LOCAL = 3,
  CU_FUNCTION_REGISTERS = 4,

  CU_POINTER_MEMORY_TYPE = 2, // CUpointer_attribute
  CU_POINTER_ORDINAL = 9,
  CU_POINTER_RANGE_START = 11,
  CU_POINTER_RANGE_BYTES = 12,
  CU_MEMORY_HOST = 1, // CUmemorytype
  CU_MEMORY_DEVICE = 2,

  CU_NON_BLOCKING = 1,
  CU_LAST_DEFAULT_STREAM =
      2, // handles up to this: default streams of the current context
  CU_NO_TIMING = 2,
  CU_CAPTURE_RELAXED = 2, // CUstreamCaptureMode
  CU_HOST_PORTABLE =
      1, // of cuMemHostAlloc and cuMemHostRegister: pinned for every context
};

enum cu_call {
#define CU_FN(field, symbol, since, parameters) CU_CALL_##field,
#include "device/cuda/driver.def"
#undef CU_FN
};
const char *cu_symbol(enum cu_call call); // "cuLaunchKernel"

struct cu_driver {
  struct rt_library library;
  int version; // 13000: CUDA 13.0
#define CU_FN(field, symbol, since, parameters) int(*field) parameters;
#include "device/cuda/driver.def"
#undef CU_FN
};

// The oldest driver that serves: its cuLibrary functions load kernels without a context.
enum { CU_DRIVER_LEAST = 12000 };

// Opens libcuda.so.1 and initialises the driver. STEPRT_NO_LIBRARY with `why` (at most n bytes): the library is not
// there (what was tried), lacks a function or is too old (both versions), or has no device.
steprt_status cu_driver_open(struct cu_driver *d, char *why, size_t n);

// Appends "CUDA_ERROR_NAME (its text)".
void cu_append_error(const struct cu_driver *d, int error, char *text, size_t n);

#endif
