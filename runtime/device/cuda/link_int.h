// Inside a link: for the probe, which times parts of its copies. Private to device/cuda/.
#ifndef STEPRT_CUDA_LINK_INT_H
#define STEPRT_CUDA_LINK_INT_H

#include "device/cuda/driver.h"
#include "device/cuda/link.h"
#include "tier/host.h"

enum { LINK_UP, LINK_DOWN, LINK_WAYS };

struct rt_link {
  struct cu_driver cu;
  int device;
  void *context; // NULL: not retained
  struct cu_way {
    void *stream, *begun, *ended; // timed events
    uint64_t at;                  // its buffer on the device
  } way[LINK_WAYS];
  uint64_t room;       // of one way's buffers
  struct rt_slab slab; // one half per way
  bool pinned;
};

struct why {
  char *text;
  size_t n;
};

steprt_status link_fail(const struct rt_link *l, int error, enum cu_call call,
                        struct why why);
// Returns from the caller when the driver refuses a call.
#define LINK_TRY(l, field, ...)                                                          \
  do {                                                                                   \
    int try_error = (l)->cu.field(__VA_ARGS__);                                          \
    if (try_error != CU_SUCCESS) {                                                       \
      return link_fail((l), try_error, CU_CALL_##field, why);                            \
    }                                                                                    \
  } while (0)

static inline char *link_host(const struct rt_link *l, int way) {
  return (char *)l->slab.at + (uint64_t)way * l->room;
}
// One copy of `n` bytes, `at` bytes into the way's buffers.
steprt_status link_enqueue(struct rt_link *l, int way, uint64_t at, uint64_t n,
                           struct why why);

#endif
