// Libraries opened at run time, found in the order of ecosystem practice: our own variable first, then what the process
// has loaded already, then the loader's search.
#ifndef STEPRT_CUDA_LIBRARY_H
#define STEPRT_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct rt_library {
  void *
      handle; // NULL: not found. Never closed: drivers keep threads and state for the life of the process.
  char path[512];
  const char *how; // "STEPC_LIBRARY_PATH", "already loaded", "the loader's search"
};

// Opens `file` ("libcuda.so.1"). False: `tried` (at most n bytes) says where it was looked for and what was wrong.
bool rt_library_open(struct rt_library *l, const char *file, char *tried, size_t n);

typedef void (*rt_any_fn)(void);
rt_any_fn rt_library_function(const struct rt_library *l, const char *symbol);

// Appends to a text of at most n bytes; what does not fit is cut.
__attribute__((format(printf, 3, 4))) void rt_append(char *text, size_t n,
                                                     const char *format, ...);

#endif
