// One CUDA device through the driver, opened at run time. Any failure is final: the program says it and ends, since
// nothing after a failed call on a device can be trusted.
#ifndef TESTS_GPU_GPU_H
#define TESTS_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu {
  void *library;
  int device, major, minor, driver;
  char name[128];
#define GPU_FN(field, symbol, parameters) int(*field) parameters;
#include "gpu.def"
#undef GPU_FN
};

// False: this machine has no CUDA device; said.
bool gpu_open(struct gpu *g);
void gpu_close(struct gpu *g);
// Ends the program with 3 when `error` is not 0.
void gpu_check(const struct gpu *g, int error, const char *what);
#define GPU(g, call) gpu_check((g), (g)->call, #call)

uint64_t gpu_new(const struct gpu *g, size_t bytes); // filled with 0xa5
void gpu_launch(const struct gpu *g, void *function, unsigned blocks, unsigned threads,
                void **parameters);

#endif
