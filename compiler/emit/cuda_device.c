// The few calls of the CUDA driver that name a device's architecture.
#include "emit/cuda_device.h"

#include "emit/library.h"

// cuda.h: the attributes of compute capability. From 9.0 on an `a` behind the number unlocks instructions that exist on
// that architecture alone (docs.nvidia.com/cuda/nvrtc, --gpu-architecture).
enum { CU_MAJOR = 75, CU_MINOR = 76, FIRST_WITH_SUFFIX = 9 };

typedef int (*init_fn)(unsigned);
typedef int (*count_fn)(int *);
typedef int (*device_fn)(int *, int);
typedef int (*attribute_fn)(int *, int, int);

static struct str read_arch(struct arena *a, const struct library *l, int ordinal,
                            struct str *why) {
  init_fn init = (init_fn)library_function(l, "cuInit");
  count_fn count = (count_fn)library_function(l, "cuDeviceGetCount");
  device_fn device = (device_fn)library_function(l, "cuDeviceGet");
  attribute_fn attribute = (attribute_fn)library_function(l, "cuDeviceGetAttribute");
  int n = 0, id = 0, major = 0, minor = 0;
  *why = str_fmt(a, "%s lacks functions of the CUDA driver", str_escape(a, l->path).p);
  if (init == NULL || count == NULL || device == NULL || attribute == NULL) {
    return STR("");
  }
  int error = init(0);
  error = error != 0 ? error : count(&n);
  *why = error != 0 ? str_fmt(a, "the CUDA driver gives error %d", error)
                    : str_fmt(a, "the CUDA driver shows %d devices, none of number %d", n,
                              ordinal);
  if (error != 0 || ordinal < 0 || ordinal >= n) {
    return STR("");
  }
  error = device(&id, ordinal);
  error = error != 0 ? error : attribute(&major, CU_MAJOR, id);
  error = error != 0 ? error : attribute(&minor, CU_MINOR, id);
  *why = str_fmt(a, "the CUDA driver gives error %d for device %d", error, ordinal);
  return error != 0 ? STR("")
                    : str_fmt(a, "sm_%d%d%s", major, minor,
                              major >= FIRST_WITH_SUFFIX ? "a" : "");
}

struct str cuda_device_arch(struct arena *a, int ordinal, struct str *why) {
  static const struct library_spec driver = {.file = "libcuda.so.1"};
  struct library l = library_open(a, &driver);
  if (l.handle == NULL) {
    *why = l.why;
    return STR("");
  }
  struct str arch = read_arch(a, &l, ordinal, why);
  library_close(&l);
  return arch;
}
