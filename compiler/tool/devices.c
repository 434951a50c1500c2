// CUDA devices: the few calls of the driver API that name them.
#include "tool/devices.h"

#include "emit/library.h"

// The driver API's numbers (cuda.h): compute capability's two attributes.
enum { CU_MAJOR = 75, CU_MINOR = 76 };

static void add_device(struct arena *a, const struct library *l, int ordinal,
                       struct buf *out) {
  typedef int (*name_fn)(char *, int, int);
  typedef int (*attribute_fn)(int *, int, int);
  name_fn get_name = (name_fn)library_function(l, "cuDeviceGetName");
  attribute_fn get = (attribute_fn)library_function(l, "cuDeviceGetAttribute");
  char name[128] = "?";
  int major = 0, minor = 0;
  if (get_name != NULL && get != NULL) {
    (void)get_name(name, sizeof name, ordinal);
    (void)get(&major, CU_MAJOR, ordinal);
    (void)get(&minor, CU_MINOR, ordinal);
  }
  buf_printf(out, "%s%s (sm_%d%d)", out->n != 0 ? ", " : "",
             str_escape(a, str_of(name)).p, major, minor);
}

struct str cuda_devices(struct arena *a, struct str *why) {
  static const struct library_spec driver = {.file = "libcuda.so.1"};
  struct library l = library_open(a, &driver);
  struct buf out = buf_new(a);
  *why = STR("without the CUDA driver no device is seen");
  if (l.handle == NULL) {
    return STR("");
  }
  typedef int (*init_fn)(unsigned);
  init_fn init = (init_fn)library_function(&l, "cuInit");
  typedef int (*count_fn)(int *);
  count_fn count = (count_fn)library_function(&l, "cuDeviceGetCount");
  int n = 0, error = init == NULL || count == NULL ? -1 : init(0);
  error = error == 0 ? count(&n) : error;
  *why = error != 0 ? str_fmt(a, "the CUDA driver's error %d", error)
                    : STR("the CUDA driver sees no device");
  for (int i = 0; error == 0 && i < n; i++) {
    add_device(a, &l, i, &out);
  }
  library_close(&l);
  return buf_done(&out);
}
