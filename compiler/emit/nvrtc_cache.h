// NVRTC's objects in the cache on disk.
#ifndef STEPC_EMIT_NVRTC_CACHE_H
#define STEPC_EMIT_NVRTC_CACHE_H

#include "emit/cache.h"
#include "emit/nvrtc.h"

// nvrtc_compile for what the cache does not hold; new objects without a fault go into it. An object's key is the
// digest of its text, the options and the compiler.
bool nvrtc_compile_cached(const struct nvrtc *n, const struct cache *c, struct arena *a,
                          const struct nvrtc_source *source, uint32_t n_sources,
                          struct str arch, struct nvrtc_object *out);

#endif
