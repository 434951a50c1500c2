// The architecture of a device, as the runtime sees it: one way to find and ask the driver.
#include "emit/cuda_device.h"

#include "device/cuda/probe.h" // runtime/

// From 9.0 on an `a` behind the number unlocks instructions that exist on that architecture alone
// (docs.nvidia.com/cuda/nvrtc, --gpu-architecture).
enum { FIRST_WITH_SUFFIX = 9 };

struct str cuda_device_arch(struct arena *a, uint32_t ordinal, struct str *why) {
  struct rt_gpus *found = ARENA_NEW(a, struct rt_gpus);
  char text[1024] = "";
  steprt_status s = rt_gpus(found, text, sizeof text);
  *why = s != STEPRT_OK
             ? str_escape(a, str_of(text))
             : str_fmt(a, "the CUDA driver shows %u devices, none of number %u", found->n,
                       ordinal);
  if (s != STEPRT_OK || ordinal >= found->n) {
    return STR("");
  }
  const struct rt_gpu *g = &found->gpu[ordinal];
  return str_fmt(a, "sm_%d%d%s", g->major, g->minor,
                 g->major >= FIRST_WITH_SUFFIX ? "a" : "");
}
