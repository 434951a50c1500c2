// Memory on a device for callers without a framework.
#include "device/cuda/block.h"

#include "device/cuda/driver.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct rt_gpu_block {
  struct cu_driver cu;
  int device;
  void *context; // NULL: not retained
  uint64_t at, bytes;
};

// The driver's error as a status with text; `call` has failed.
static steprt_status fail(const struct rt_gpu_block *b, int error, enum cu_call call,
                          char *why, size_t n) {
  why[0] = '\0';
  rt_append(why, n, "%s: ", cu_symbol(call));
  cu_append_error(&b->cu, error, why, n);
  return error == CU_OUT_OF_MEMORY ? STEPRT_NO_MEMORY : STEPRT_FAILED;
}

static steprt_status allocate(struct rt_gpu_block *b, char *why, size_t n) {
  void *popped;
  int error = b->cu.context_push(b->context);
  if (error != CU_SUCCESS) {
    return fail(b, error, CU_CALL_context_push, why, n);
  }
  error = b->cu.memory_alloc(&b->at, b->bytes);
  (void)b->cu.context_pop(&popped);
  if (error == CU_SUCCESS) {
    return STEPRT_OK;
  }
  steprt_status s = fail(b, error, CU_CALL_memory_alloc, why, n);
  rt_append(why, n, ": %llu bytes", (unsigned long long)b->bytes);
  return s;
}

static steprt_status open_block(struct rt_gpu_block *b, int32_t ordinal, char *why,
                                size_t n) {
  int count = 0;
  steprt_status s = cu_driver_open(&b->cu, why, n);
  if (s != STEPRT_OK) {
    return s;
  }
  int error = b->cu.device_count(&count);
  if (error == CU_SUCCESS && (ordinal < 0 || ordinal >= count)) {
    rt_append(why, n, "there is no CUDA device %d: the driver shows %d", ordinal, count);
    return STEPRT_BAD_ARGUMENT;
  }
  error = error != CU_SUCCESS ? error : b->cu.device_get(&b->device, ordinal);
  if (error != CU_SUCCESS) {
    return fail(b, error, CU_CALL_device_get, why, n);
  }
  error = b->cu.context_retain(&b->context, b->device);
  return error != CU_SUCCESS ? fail(b, error, CU_CALL_context_retain, why, n)
                             : allocate(b, why, n);
}

steprt_status rt_gpu_block_open(int32_t ordinal, uint64_t bytes,
                                struct rt_gpu_block **out, char *why, size_t n) {
  struct rt_gpu_block *b = calloc(1, sizeof *b);
  why[0] = '\0';
  *out = NULL;
  if (b == NULL) {
    rt_append(why, n, "out of memory");
    return STEPRT_NO_MEMORY;
  }
  b->bytes = bytes != 0 ? bytes : 1;
  steprt_status s = open_block(b, ordinal, why, n);
  if (s != STEPRT_OK) {
    rt_gpu_block_close(b);
    return s;
  }
  *out = b;
  return STEPRT_OK;
}

void rt_gpu_block_close(struct rt_gpu_block *b) {
  void *popped;
  if (b == NULL) {
    return;
  }
  if (b->at != 0 && b->cu.context_push(b->context) == CU_SUCCESS) {
    (void)b->cu.memory_free(b->at);
    (void)b->cu.context_pop(&popped);
  }
  if (b->context != NULL) {
    (void)b->cu.context_release(b->device);
  }
  free(b);
}

void *rt_gpu_block_address(const struct rt_gpu_block *b) {
  void *address;
  _Static_assert(sizeof address == sizeof b->at, "an address of the device is a pointer");
  memcpy(&address, &b->at, sizeof address);
  return address;
}

// One copy with the context pushed: to the device from `from`, or where that is NULL to `to`.
static steprt_status copy(struct rt_gpu_block *b, uint64_t at, const void *from, void *to,
                          uint64_t bytes, char *why, size_t n) {
  void *popped;
  bool put = from != NULL;
  enum cu_call call = put ? CU_CALL_to_device : CU_CALL_to_host;
  int error = b->cu.context_push(b->context);
  if (error != CU_SUCCESS) {
    return fail(b, error, CU_CALL_context_push, why, n);
  }
  error = put ? b->cu.to_device(b->at + at, from, bytes)
              : b->cu.to_host(to, b->at + at, bytes);
  if (put && error == CU_SUCCESS) {
    call = CU_CALL_stream_synchronize; // see cu_put
    error = b->cu.stream_synchronize(NULL);
  }
  (void)b->cu.context_pop(&popped);
  return error == CU_SUCCESS ? STEPRT_OK : fail(b, error, call, why, n);
}

steprt_status rt_gpu_block_put(struct rt_gpu_block *b, uint64_t at, const void *from,
                               uint64_t bytes, char *why, size_t n) {
  return bytes == 0 ? STEPRT_OK : copy(b, at, from, NULL, bytes, why, n);
}

steprt_status rt_gpu_block_get(struct rt_gpu_block *b, uint64_t at, void *to,
                               uint64_t bytes, char *why, size_t n) {
  return bytes == 0 ? STEPRT_OK : copy(b, at, NULL, to, bytes, why, n);
}
