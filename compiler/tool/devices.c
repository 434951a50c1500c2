// CUDA devices, in words.
#include "tool/devices.h"

#include "tool/table.h"

#include "emit/cuda_device.h"
#include "emit/nvrtc.h"

struct str usable_arch(struct arena *a, bool *has_device) {
  struct str why, arch = cuda_device_arch(a, 0, &why);
  *has_device = arch.n != 0;
  struct nvrtc *n = *has_device ? nvrtc_open(a, &why) : NULL;
  bool found = n != NULL;
  nvrtc_close(n);
  return found ? arch : STR("");
}

struct str driver_text(struct arena *a, const struct rt_gpus *g) {
  return str_fmt(a, "%s (%s), for CUDA %d.%d", g->driver, g->how, g->version / 1000,
                 g->version % 1000 / 10);
}

struct str device_text(struct arena *a, const struct rt_gpu *g) {
  struct str node =
      g->node >= 0 ? str_fmt(a, "NUMA node %d", g->node) : STR("no NUMA node told");
  return str_fmt(a, "%s (sm_%d%d), %s, %d multiprocessors, %d copy engines, bus %s, %s",
                 g->name, g->major, g->minor, text_bytes(a, (double)g->memory).p,
                 g->multiprocessors, g->copy_engines, g->bus, node.p);
}
