// Opening cuBLASLt.
#include "device/cuda/blaslt.h"

#include <string.h>

static bool bind_functions(struct lt_blas *b, const char **missing) {
#define LT_FN(field, symbol, parameters)                                                 \
  *missing = symbol;                                                                     \
  b->field = (int(*) parameters)rt_library_function(&b->library, symbol);                \
  if (!b->field) {                                                                       \
    return false;                                                                        \
  }
#include "device/cuda/blaslt.def"
#undef LT_FN
  return true;
}

steprt_status lt_open(struct lt_blas *b, char *why, size_t n) {
  static const char *const files[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
  const char *missing = NULL;
  bool found = false;
  *why = '\0';
  for (size_t i = 0; i < sizeof files / sizeof *files && !found; i++) {
    size_t used = strlen(why);
    found = rt_library_open(&b->library, files[i], why + used, n - used);
  }
  if (!found) {
    return STEPRT_NO_LIBRARY;
  }
  *why = '\0';
  if (!bind_functions(b, &missing)) {
    rt_append(why, n, "%s has no %s", b->library.path, missing);
    return STEPRT_NO_LIBRARY;
  }
  int error = b->create(&b->handle);
  if (error) {
    b->handle = NULL;
    rt_append(why, n, "%s: cublasLtCreate gives status %d", b->library.path, error);
    return STEPRT_NO_LIBRARY;
  }
  return STEPRT_OK;
}

void lt_close(struct lt_blas *b) {
  if (b->handle) {
    b->destroy(b->handle);
    b->handle = NULL;
  }
}
