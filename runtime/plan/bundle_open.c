// steprt_open_bundle: a handle that holds its program.
#include "plan/bundle.h"

#include "core/handle.h"

#include <stdlib.h>

steprt_status steprt_open_bundle(const char *dir, const struct steprt_options *options,
                                 struct steprt **out) {
  struct rt_bundle *b = NULL;
  char why[480] = "";
  if (!out) {
    return STEPRT_BAD_ARGUMENT;
  }
  *out = NULL;
  steprt_status s = dir ? rt_bundle_read(dir, &b, why, sizeof why) : STEPRT_BAD_ARGUMENT;
  if (s) {
    *out = calloc(1, sizeof **out);
    return !*out ? STEPRT_NO_MEMORY
           : dir ? rt_refuse(*out, s, "bundle '%s': %s", rt_show(dir).text, why)
                 : rt_refuse(*out, s, "open_bundle: no folder");
  }
  s = steprt_open(b->program, options, out);
  if (*out) {
    (*out)->bundle = b;
  } else {
    rt_bundle_free(b);
  }
  return s;
}
