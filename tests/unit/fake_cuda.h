// A CUDA driver in host memory, for tests of the CUDA device on machines without one: two devices, streams as queues
// whose tasks run only when somebody waits, in an order drawn from a seed that events allow. Kernels are functions that
// the test registers. cuInit returns FAKE_CUDA_ERROR of the environment where that is set.
#ifndef TESTS_FAKE_CUDA_H
#define TESTS_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#  define FAKE_API __attribute__((visibility("default")))
#else
#  define FAKE_API
#endif

// A kernel: `run` gets copies of the arguments, arg_bytes[i] each, and the number of blocks.
struct fake_kernel {
  const char *name;
  void (*run)(const struct fake_kernel *k, void *const *arg, unsigned blocks);
  const void *ctx;
  uint32_t n_args, arg_bytes[8];
};
// What an image must begin with.
#define FAKE_IMAGE "fake cubin"

// All as at the start: no kernels, no errors, everything seen. What is live is forgotten.
FAKE_API void fake_cuda_reset(uint64_t seed);
FAKE_API void fake_cuda_register(const struct fake_kernel *k); // must stay
// Call number `call` (from 1, counted from now) of `symbol` returns `error`; from 700 on every later call does.
FAKE_API void fake_cuda_fail(const char *symbol, uint64_t call, int error);
FAKE_API void fake_cuda_hide(
    const char *symbol); // cuGetProcAddress does not find it; NULL: all are there
// Addresses that the driver does not know count as memory of device 0.
FAKE_API void fake_cuda_trust(void);
FAKE_API void fake_cuda_set_version(int version);
FAKE_API void fake_cuda_set_free(size_t bytes);        // of each device
FAKE_API uint64_t fake_cuda_calls(const char *symbol); // since reset
FAKE_API uint64_t fake_cuda_waits(void); // calls that waited for unfinished work

// The caller's own memory, to be freed by free() after a reset, and streams, on device 0 or 1.
FAKE_API void *fake_cuda_alloc(int device, size_t bytes);
FAKE_API void *fake_cuda_stream(int device);
FAKE_API void fake_cuda_synchronize(void *stream);
// What the caller enqueues: `from` must stay until the stream has passed.
FAKE_API void fake_cuda_copy(void *stream, void *to, const void *from, size_t bytes);

struct fake_live {
  uint32_t streams, events, allocations, pinned, libraries, graphs,
      contexts; // contexts: pushed or retained
};
FAKE_API struct fake_live fake_cuda_live(void);

#endif
