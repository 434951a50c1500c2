// The entry points of the driver that device/cuda calls, in host memory.
#include "fake_cuda_int.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake = {.version = 13000, .free = (size_t)1 << 40};

struct symbol {
  const char *name;
  int since;
  void (*function)(void);
};
static const struct symbol symbols[] = {
#define CU_FN(field, symbol, since, parameters)                                          \
  {symbol, since, (void (*)(void))fake_##field},
#include "device/cuda/driver.def"
#undef CU_FN
};
enum { N_SYMBOLS = sizeof symbols / sizeof *symbols };
static uint64_t calls[N_SYMBOLS];

static size_t symbol_of(const char *name) {
  size_t i = 0;
  while (i < N_SYMBOLS && strcmp(symbols[i].name, name) != 0) {
    i++;
  }
  return i;
}

// Counts the call; the error that it must return, or 0.
int fake_enter(const char *name) {
  size_t i = symbol_of(name);
  calls[i]++;
  if (fake.sticky != 0) {
    return fake.sticky;
  }
  if (fake.fail_call != 0 && strcmp(fake.fail_symbol, name) == 0 &&
      --fake.fail_call == 0) {
    fake.sticky = fake.fail_error >= 700 ? fake.fail_error : 0;
    return fake.fail_error;
  }
  return 0;
}
int fake_current(void) {
  return (int)((const char *)fake.stack[fake.depth - 1] - fake.context);
}

// ---- the library

int cuDriverGetVersion(int *version) {
  *version = fake.version;
  return 0;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *status) {
  union {
    void (*function)(void);
    void *object;
  } u = {NULL};
  size_t i = symbol_of(symbol);
  bool found = i < N_SYMBOLS && version == symbols[i].since && flags == 1 &&
               (fake.hidden == NULL || strcmp(fake.hidden, symbol) != 0);
  *status = found ? 0 : 1;
  u.function = found ? symbols[i].function : NULL;
  *function = u.object;
  return 0;
}

int fake_init(unsigned flags) {
  (void)flags;
  ENTER("cuInit");
  const char *error = getenv("FAKE_CUDA_ERROR"); // for tests of the tool
  return error != NULL ? (int)strtol(error, NULL, 10) : 0;
}

int fake_driver_version(int *version) {
  return cuDriverGetVersion(version);
}

int fake_error_name(int error, const char **name) {
  *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return 0;
}

int fake_error_text(int error, const char **text) {
  *text = error == 2 ? "out of memory" : "as the test asked";
  return 0;
}

// ---- devices and contexts

int fake_device_count(int *n) {
  ENTER("cuDeviceGetCount");
  *n = FAKE_DEVICES;
  return 0;
}

int fake_device_get(int *device, int ordinal) {
  ENTER("cuDeviceGet");
  *device = ordinal;
  return 0;
}

int fake_device_name(char *name, int n, int device) {
  ENTER("cuDeviceGetName");
  (void)snprintf(name, (size_t)n, "Fake %d", device);
  return 0;
}

int fake_device_memory(size_t *bytes, int device) {
  (void)device;
  ENTER("cuDeviceTotalMem");
  *bytes = (size_t)1 << 40;
  return 0;
}

int fake_device_attribute(int *value, int attribute, int device) {
  (void)device;
  ENTER("cuDeviceGetAttribute");
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 3 : 2;
  return 0;
}

int fake_device_bus(char *text, int n, int device) {
  ENTER("cuDeviceGetPCIBusId");
  (void)snprintf(text, (size_t)n, "FFFF:FF:1%d.0", device);
  return 0;
}

int fake_context_retain(void **context, int device) {
  ENTER("cuDevicePrimaryCtxRetain");
  *context = &fake.context[device];
  fake.retained++;
  return 0;
}

int fake_context_release(int device) {
  (void)device;
  fake.retained--;
  ENTER("cuDevicePrimaryCtxRelease");
  return 0;
}

// Push and pop go on after a sticky error: they say it and do it.
int fake_context_push(void *context) {
  int error = fake_enter("cuCtxPushCurrent");
  if (error != 0 && fake.sticky == 0) {
    return error; // nothing is pushed
  }
  if (fake.depth == FAKE_DEPTH) {
    abort();
  }
  fake.stack[fake.depth++] = context;
  return 0;
}

int fake_context_pop(void **context) {
  if (fake.depth == 0) {
    return 201;
  }
  *context = fake.stack[--fake.depth];
  ENTER("cuCtxPopCurrent");
  return 0;
}

int fake_priorities(int *least, int *greatest) {
  ENTER_CONTEXT("cuCtxGetStreamPriorityRange");
  *least = 0;
  *greatest = -5;
  return 0;
}

// ---- kernels

int fake_library_load(void **library, const void *image, int *jit_option,
                      void **jit_value, unsigned n_jit, int *option, void **value,
                      unsigned n) {
  (void)jit_option, (void)jit_value, (void)n_jit, (void)option, (void)value, (void)n;
  ENTER("cuLibraryLoadData");
  if (strncmp(image, FAKE_IMAGE, strlen(FAKE_IMAGE)) != 0) {
    return 200;
  }
  *library = &fake;
  fake.live.libraries++;
  return 0;
}

int fake_library_unload(void *library) {
  (void)library;
  fake.live.libraries--;
  ENTER("cuLibraryUnload");
  return 0;
}

int fake_library_kernel(void **kernel, void *library, const char *name) {
  (void)library;
  ENTER("cuLibraryGetKernel");
  for (uint32_t i = 0; i < fake.n_kernels; i++) {
    if (strcmp(fake.kernel[i]->name, name) == 0) {
      *kernel = &fake.kernel[i];
      return 0;
    }
  }
  return 500;
}

int fake_kernel_function(void **function, void *kernel) {
  ENTER_CONTEXT("cuKernelGetFunction");
  *function = kernel;
  return 0;
}

int fake_function_attribute(int *value, int attribute, void *function) {
  (void)attribute, (void)function;
  ENTER_CONTEXT("cuFuncGetAttribute");
  *value = 0;
  return 0;
}

int fake_occupancy(int *blocks, void *function, int threads, size_t shared) {
  (void)function, (void)shared;
  ENTER_CONTEXT("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = threads > 1024 ? 0 : 2;
  return 0;
}

int fake_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                void *stream, void **parameters, void **extra) {
  (void)shared, (void)extra;
  ENTER_CONTEXT("cuLaunchKernel");
  const struct fake_kernel *k = *(const struct fake_kernel **)function;
  struct fake_task t = {.kind = FAKE_LAUNCH, .kernel = k, .count = grid_x};
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_y != 1 ||
      block_z != 1) {
    return 1;
  }
  for (uint32_t i = 0; i < k->n_args; i++) {
    memcpy(&t.arg[i], parameters[i], k->arg_bytes[i]);
  }
  fake_enqueue(fake_stream_of(stream, fake_current()), &t);
  return 0;
}

// ---- for the test

void fake_cuda_register(const struct fake_kernel *k) {
  if (fake.n_kernels == FAKE_KERNELS) {
    abort();
  }
  fake.kernel[fake.n_kernels++] = k;
}

void fake_cuda_reset(uint64_t seed) {
  fake_drop_all();
  memset(calls, 0, sizeof calls);
  fake = (struct fake){.version = 13000, .free = (size_t)1 << 40, .random = seed};
}

void fake_cuda_fail(const char *symbol, uint64_t call, int error) {
  fake.fail_symbol = symbol;
  fake.fail_call = call;
  fake.fail_error = error;
}

void fake_cuda_hide(const char *symbol) {
  fake.hidden = symbol;
}

void fake_cuda_trust(void) {
  fake.trusts = true;
}

void fake_cuda_set_version(int version) {
  fake.version = version;
}

void fake_cuda_set_free(size_t bytes) {
  fake.free = bytes;
}

uint64_t fake_cuda_calls(const char *symbol) {
  size_t i = symbol_of(symbol);
  return i < N_SYMBOLS ? calls[i] : 0;
}

uint64_t fake_cuda_waits(void) {
  return fake.waits;
}

void *fake_cuda_alloc(int device, size_t bytes) {
  void *p = NULL;
  if (posix_memalign(&p, 512, bytes) != 0) {
    abort();
  }
  fake_add_range(p, bytes, FAKE_DEVICE, device);
  return p;
}

void *fake_cuda_stream(int device) {
  return fake_new_stream(device);
}

struct fake_live fake_cuda_live(void) {
  struct fake_live l = fake.live;
  l.contexts = fake.depth + fake.retained;
  return l;
}
