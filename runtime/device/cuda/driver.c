// The CUDA driver.
#include "device/cuda/driver.h"

#include <string.h>

// cuGetProcAddress of CUDA 12; how it says why it found nothing.
typedef int (*get_fn)(const char *symbol, void **function, int version, uint64_t flags,
                      int *status);
enum { GET_LEGACY_STREAM = 1 };

static steprt_status refuse_symbol(const struct cu_driver *d, const char *symbol,
                                   int since, char *why, size_t n) {
  rt_append(why, n, "%s (CUDA %d.%d) has no %s of CUDA %d.%d", d->library.path,
            d->version / 1000, d->version % 1000 / 10, symbol, since / 1000,
            since % 1000 / 10);
  return STEPRT_NO_LIBRARY;
}

static steprt_status bind_functions(struct cu_driver *d, get_fn get, char *why,
                                    size_t n) {
  union { // POSIX's reading of dlsym in ISO C
    void *object;
    rt_any_fn function;
  } u;
  int status;
#define CU_FN(field, symbol, since, parameters)                                          \
  u.object = NULL;                                                                       \
  if (get(symbol, &u.object, since, GET_LEGACY_STREAM, &status) || u.object == NULL) {   \
    return refuse_symbol(d, symbol, since, why, n);                                      \
  }                                                                                      \
  d->field = (int(*) parameters)u.function;
#include "device/cuda/driver.def"
#undef CU_FN
  return STEPRT_OK;
}

// The version comes first, by the oldest symbol there is: a driver too old has no cuGetProcAddress_v2.
static steprt_status check_version(struct cu_driver *d, char *why, size_t n) {
  int (*version)(int *) =
      (int (*)(int *))rt_library_function(&d->library, "cuDriverGetVersion");
  if (version == NULL || version(&d->version) != CU_SUCCESS) {
    rt_append(why, n, "%s is no CUDA driver: no version", d->library.path);
    return STEPRT_NO_LIBRARY;
  }
  if (d->version < CU_DRIVER_LEAST) {
    rt_append(
        why, n,
        "the CUDA driver %s is too old: it is for CUDA %d.%d, at least %d.%d is needed",
        d->library.path, d->version / 1000, d->version % 1000 / 10,
        CU_DRIVER_LEAST / 1000, CU_DRIVER_LEAST % 1000 / 10);
    return STEPRT_NO_LIBRARY;
  }
  return STEPRT_OK;
}

static steprt_status init_driver(struct cu_driver *d, char *why, size_t n) {
  int count = 0, error = d->init(0);
  error = error == CU_SUCCESS ? d->device_count(&count) : error;
  if (error != CU_SUCCESS) {
    rt_append(why, n, "the CUDA driver %s does not start: ", d->library.path);
    cu_append_error(d, error, why, n);
    return STEPRT_NO_LIBRARY;
  }
  if (count == 0) {
    rt_append(why, n, "the CUDA driver %s sees no device", d->library.path);
    return STEPRT_NO_LIBRARY;
  }
  return STEPRT_OK;
}

steprt_status cu_driver_open(struct cu_driver *d, char *why, size_t n) {
  char tried[480];
  *d = (struct cu_driver){0};
  why[0] = '\0';
  if (!rt_library_open(&d->library, "libcuda.so.1", tried, sizeof tried)) {
    rt_append(why, n, "no CUDA driver (libcuda.so.1): %s", tried);
    return STEPRT_NO_LIBRARY;
  }
  steprt_status s = check_version(d, why, n);
  if (s != STEPRT_OK) {
    return s;
  }
  get_fn get = (get_fn)rt_library_function(&d->library, "cuGetProcAddress_v2");
  if (get == NULL) {
    return refuse_symbol(d, "cuGetProcAddress_v2", CU_DRIVER_LEAST, why, n);
  }
  s = bind_functions(d, get, why, n);
  return s != STEPRT_OK ? s : init_driver(d, why, n);
}

const char *cu_symbol(enum cu_call call) {
  static const char *const symbols[] = {
#define CU_FN(field, symbol, since, parameters) symbol,
#include "device/cuda/driver.def"
#undef CU_FN
  };
  return symbols[call];
}

void cu_append_error(const struct cu_driver *d, int error, char *text, size_t n) {
  const char *name = NULL, *what = NULL;
  if (d->error_name(error, &name) != CU_SUCCESS || name == NULL) {
    name = "unknown error";
  }
  if (d->error_text(error, &what) != CU_SUCCESS || what == NULL) {
    what = "?";
  }
  rt_append(text, n, "%s (%d: %s)", name, error, what);
}
