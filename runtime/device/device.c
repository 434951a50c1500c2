// Which device runs which target.
#include "device/device.h"

#include <string.h>

const struct rt_device_class *rt_device_class(const char *target) {
  size_t n = strcspn(target, ":");
  return n == 3 && strncmp(target, "cpu", n) == 0    ? &rt_device_cpu
         : n == 4 && strncmp(target, "cuda", n) == 0 ? &rt_device_cuda
                                                     : NULL;
}
