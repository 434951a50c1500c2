// Which CUDA devices there are, and how fast they copy: for `stepc doctor` and `stepc probe`.
#ifndef STEPRT_CUDA_PROBE_H
#define STEPRT_CUDA_PROBE_H

#include "steprt.h"

#include <stdint.h>

enum { RT_MAX_GPUS = 16, RT_MAX_RATES = 8 };

struct rt_gpu {
  char name[96], bus[24];
  int major, minor, multiprocessors, copy_engines;
  uint64_t memory, free; // bytes; free 0: not asked, for that needs a context
  int32_t node;          // NUMA node of its slot; -1: none, or not told
};
struct rt_gpus {
  char driver[512]; // its file
  const char *how;  // by which it was found
  int version;      // 13000: CUDA 13.0
  struct rt_gpu gpu[RT_MAX_GPUS];
  uint32_t n;
};

// Makes no context. STEPRT_NO_LIBRARY: `why` (at most n bytes) says what was tried and what is wrong.
steprt_status rt_gpus(struct rt_gpus *out, char *why, size_t n);

// Bytes per second from the host, to the host, and the sum of both at once.
struct rt_rates {
  uint64_t bytes; // of one copy
  double load, store, both;
};
struct rt_probe {
  struct rt_rates rate[RT_MAX_RATES]; // of one device, by size of the copies
  uint32_t n_rates;
  double device_copy;     // read plus written
  double products;        // FLOP per second, bf16; 0: not measured
  char products_why[256]; // why not
  struct rt_rates
      all; // each of n_all devices while all of them copy; n_all < 2: not measured
  uint32_t n_all;
};

// Copies between pinned memory and device `ordinal`, `most` bytes each way by copies of 2 MiB to `most`; then all
// devices at once. Takes 2 `most` bytes of host memory, and as much on the device; medians of several rounds.
// STEPRT_NO_LIBRARY, BAD_ARGUMENT, NO_MEMORY or FAILED with `why`.
steprt_status rt_probe(int32_t ordinal, uint64_t most, struct rt_probe *out, char *why,
                       size_t n);

// NUMA node of a device by its PCI bus id ("0000:3B:00.0"), from sysfs below `root` ("": the system's); -1: none.
int32_t rt_gpu_node(const char *root, const char *bus);

#endif
