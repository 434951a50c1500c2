// Libraries opened at run time: where they are looked for, and why one is not found.
#ifndef STEPC_EMIT_LIBRARY_H
#define STEPC_EMIT_LIBRARY_H

#include "base/str.h"

struct library_spec {
  const char *file; // "libnvrtc.so.13"
  // its folder under site-packages, "nvidia/cu13/lib"; NULL: in no wheel
  const char *wheel;
  const char *version; // function that tells its version; NULL: none is asked
  int unit; // how that number packs: 1000 or 10000 per major; 0: (int *major, int *minor)
};

struct library {
  void *handle;    // NULL: not found
  struct str path; // of what was found
  const char *how; // "already loaded"
  // where it was looked for in vain, and what the loader said of files that do not load
  struct str why;
};

// Looks in the folders of STEPC_LIBRARY_PATH, among the libraries already in the process, in the wheels of the active
// virtual environment and of one beside the tool, where the loader looks, and in CUDA toolkits; the first that loads wins.
struct library library_open(struct arena *a, const struct library_spec *spec);
// One file at one place.
struct library library_open_file(struct arena *a, struct str path);
// The library stays in the process. Accepts one that was not found.
void library_close(struct library *l);
// The address of a function; NULL: the library has none of this name.
typedef void (*library_fn)(void);
library_fn library_function(const struct library *l, const char *name);
// False: the library does not say.
bool library_version(const struct library *l, const struct library_spec *spec, int *major,
                     int *minor);

#endif
