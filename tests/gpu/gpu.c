// The CUDA driver.
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// cuda.h: CUdevice_attribute.
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

void gpu_check(const struct gpu *g, int error, const char *what) {
  const char *name = NULL;
  if (error == 0) {
    return;
  }
  if (g->error_name == NULL || g->error_name(error, &name) != 0 || name == NULL) {
    name = "?";
  }
  (void)fprintf(stderr, "gpu: %s: error %d (%s)\n", what, error, name);
  exit(3);
}

static bool bind_functions(struct gpu *g) {
  union { // POSIX's reading of dlsym in ISO C
    void *object;
    void (*function)(void);
  } u;
#define GPU_FN(field, symbol, parameters)                                                \
  u.object = dlsym(g->library, symbol);                                                  \
  g->field = (int(*) parameters)u.function;                                              \
  if (g->field == NULL) {                                                                \
    (void)fprintf(stderr, "gpu: the driver has no %s\n", symbol);                        \
    return false;                                                                        \
  }
#include "gpu.def"
#undef GPU_FN
  return true;
}

bool gpu_open(struct gpu *g) {
  *g = (struct gpu){.library = dlopen("libcuda.so.1", RTLD_NOW)};
  void *context;
  if (g->library == NULL) {
    (void)fprintf(stderr, "gpu: %s\n", dlerror());
    return false;
  }
  if (!bind_functions(g)) {
    return false;
  }
  GPU(g, init(0));
  GPU(g, driver_version(&g->driver));
  GPU(g, device_get(&g->device, 0));
  GPU(g, device_name(g->name, sizeof g->name, g->device));
  GPU(g, device_attribute(&g->major, CAPABILITY_MAJOR, g->device));
  GPU(g, device_attribute(&g->minor, CAPABILITY_MINOR, g->device));
  GPU(g, context_retain(&context, g->device));
  GPU(g, context_set(context));
  return true;
}

void gpu_close(struct gpu *g) {
  GPU(g, context_release(g->device));
  (void)dlclose(g->library);
}

uint64_t gpu_new(const struct gpu *g, size_t bytes) {
  uint64_t at;
  size_t n = bytes != 0 ? bytes : 1;
  GPU(g, mem_alloc(&at, n));
  GPU(g, mem_set(at, 0xa5, n));
  return at;
}

void gpu_launch(const struct gpu *g, void *function, unsigned blocks, unsigned threads,
                void **parameters) {
  GPU(g, launch(function, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL));
}
