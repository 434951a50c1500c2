// Libraries opened at run time, for `stepc doctor`: where they are, and why not.
#ifndef STEPC_TOOL_LIBRARY_H
#define STEPC_TOOL_LIBRARY_H

#include "base/str.h"

struct library_spec {
  const char *file;    // "libnvrtc.so.13"
  const char *version; // function that tells its version; NULL: none is asked
  int unit; // how that number packs: 1000 or 10000 per major; 0: (int *major, int *minor)
};

struct library {
  void *handle; // NULL: not found
  struct str path, why;
};

// Looks in the folders of STEPC_LIBRARY_PATH, where the loader looks, then where CUDA toolkits lie.
struct library library_open(struct arena *a, const struct library_spec *spec);
void library_close(struct library *l);
struct str library_version(struct arena *a, const struct library *l,
                           const struct library_spec *spec);

// "NVIDIA H200 (sm_90), ..." of every CUDA device; an empty text, and `why`, without any.
struct str cuda_devices(struct arena *a, struct str *why);

#endif
