// NVRTC, opened at run time: CUDA C text to cubins and PTX, with or without a GPU. Needs no CUDA header.
//
// The options are fixed: no contraction, no flush to zero, exact division and square root, no include path, no
// driver-side cache. Equal text, architecture and NVRTC give equal bytes.
#ifndef STEPC_EMIT_NVRTC_H
#define STEPC_EMIT_NVRTC_H

#include "base/str.h"

struct nvrtc; // the opened library; memory of the arena that it was opened on
// NULL: `why` says where it was looked for and what is wrong with what was found.
struct nvrtc *nvrtc_open(struct arena *a, struct str *why);
void nvrtc_close(struct nvrtc *n); // accepts NULL
// "13.0", "/usr/local/cuda/lib64/libnvrtc.so.13", "a CUDA toolkit".
struct str nvrtc_version(struct arena *a, const struct nvrtc *n);
struct str nvrtc_path(const struct nvrtc *n);
const char *nvrtc_how(const struct nvrtc *n);
// The library with the device functions that NVRTC links in, beside it; an empty text: not found, `why` says so.
struct str nvrtc_builtins(const struct nvrtc *n, struct str *why);

// Can this NVRTC compile for `arch` ("sm_90a")? A suffix a or f is judged by the number before it.
bool nvrtc_knows(const struct nvrtc *n, struct str arch);
struct str nvrtc_archs(struct arena *a, const struct nvrtc *n);  // "sm_75, sm_80, ..."
struct str nvrtc_newest(struct arena *a, const struct nvrtc *n); // the last of them

struct nvrtc_source {
  struct str name; // as messages show it, "adamw.cu"
  struct str text;
};

// What ptxas says of one kernel; bytes.
struct nvrtc_usage {
  struct str kernel;
  uint32_t registers, shared, stack, spill_stores, spill_loads;
};

struct nvrtc_object {
  struct str cubin, ptx;
  struct nvrtc_usage *kernel; // sorted by name
  uint32_t n_kernels;
  double seconds; // of the compilation; 0 where it was cached
  bool cached;
  struct str fault; // empty: fine. Else what is wrong, with NVRTC's log
};

// Compiles every source for `arch`, in parallel, into out[0, n). A warning, a spill or local memory is a fault like
// an error. False: some object has a fault.
bool nvrtc_compile(const struct nvrtc *n, struct arena *a,
                   const struct nvrtc_source *source, uint32_t n_sources, struct str arch,
                   struct nvrtc_object *out);

// What decides the bytes beside the text, for a cache's key: the options, separated by spaces, and the library.
struct str nvrtc_options(struct arena *a, struct str arch);
struct str nvrtc_identity(struct arena *a, const struct nvrtc *n);

#endif
