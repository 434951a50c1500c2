// Libraries opened at run time.
#include "tool/library.h"

#include "core/env.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <string.h>

typedef int (*int_fn)(int *);
typedef int (*pair_fn)(int *, int *);
typedef void (*any_fn)(void);

// A symbol as a function pointer; the union is POSIX's reading of dlsym in ISO C.
static any_fn symbol(const struct library *l, const char *name) {
  union {
    void *object;
    any_fn function;
  } u = {.object = dlsym(l->handle, name)};
  return u.function;
}

static bool try_open(struct arena *a, struct library *l, struct str path,
                     struct buf *why) {
  l->handle = dlopen(str_cstr(a, path), RTLD_LAZY | RTLD_LOCAL);
  if (l->handle != NULL) {
    l->path = path;
    return true;
  }
  const char *error = dlerror();
  // A file that is not there is no news but for the loader's own search; one that does not load is.
  if (error != NULL &&
      (strchr(path.p, '/') == NULL || strstr(error, "No such file") == NULL)) {
    buf_printf(why, "%s%s", why->n != 0 ? "; " : "", error);
  }
  return false;
}

static bool search_folders(struct arena *a, struct library *l, const char *folders,
                           const char *file, struct buf *why) {
  while (folders != NULL && *folders != '\0') {
    size_t n = strcspn(folders, ":");
    if (n != 0 && try_open(a, l, str_fmt(a, "%.*s/%s", (int)n, folders, file), why)) {
      return true;
    }
    folders += n + (folders[n] == ':');
  }
  return false;
}

static bool search_toolkits(struct arena *a, struct library *l, const char *file,
                            struct buf *why) {
  static const char *const patterns[] = {"/usr/local/cuda/lib64/",
                                         "/usr/local/cuda-13*/lib64/",
                                         "/usr/local/cuda-13*/targets/*/lib/"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    glob_t found = {0};
    bool ok = false;
    if (glob(str_fmt(a, "%s%s", patterns[i], file).p, 0, NULL, &found) == 0) {
      for (size_t k = 0; k < found.gl_pathc && !ok; k++) {
        ok = try_open(a, l, str_copy(a, str_of(found.gl_pathv[k])), why);
      }
    }
    globfree(&found);
    if (ok) {
      return true;
    }
  }
  return false;
}

// The path that the loader took for a bare name.
static struct str loaded_path(struct arena *a, const struct library *l) {
  struct link_map *map = NULL;
  if (dlinfo(l->handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL) {
    return str_copy(a, str_of(map->l_name));
  }
  return l->path;
}

struct library library_open(struct arena *a, const struct library_spec *spec) {
  struct library l = {0};
  struct buf why = buf_new(a);
  if (search_folders(a, &l, rt_env(RT_ENV_LIBRARY_PATH), spec->file, &why)) {
    return l;
  }
  if (try_open(a, &l, str_of(spec->file), &why)) {
    l.path = loaded_path(a, &l);
    return l;
  }
  (void)search_toolkits(a, &l, spec->file, &why);
  l.why = buf_done(&why);
  return l;
}

void library_close(struct library *l) {
  if (l->handle != NULL) {
    (void)dlclose(l->handle);
    l->handle = NULL;
  }
}

struct str library_version(struct arena *a, const struct library *l,
                           const struct library_spec *spec) {
  any_fn fn = symbol(l, spec->version);
  int major = 0, minor = 0;
  if (fn == NULL) {
    return STR("unknown");
  }
  if (spec->unit == 0) {
    (void)((pair_fn)fn)(&major, &minor);
  } else {
    int packed = 0;
    (void)((int_fn)fn)(&packed);
    major = packed / spec->unit;
    minor = packed % spec->unit / (spec->unit / 100);
  }
  return str_fmt(a, "%d.%d", major, minor);
}

// The driver API's numbers (cuda.h): compute capability's two attributes.
enum { CU_MAJOR = 75, CU_MINOR = 76 };

static void add_device(struct arena *a, const struct library *l, int ordinal,
                       struct buf *out) {
  typedef int (*name_fn)(char *, int, int);
  typedef int (*attribute_fn)(int *, int, int);
  name_fn get_name = (name_fn)symbol(l, "cuDeviceGetName");
  attribute_fn get = (attribute_fn)symbol(l, "cuDeviceGetAttribute");
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
  static const struct library_spec driver = {"libcuda.so.1", NULL, 0};
  struct library l = library_open(a, &driver);
  struct buf out = buf_new(a);
  *why = STR("without the CUDA driver no device is seen");
  if (l.handle == NULL) {
    return STR("");
  }
  typedef int (*init_fn)(unsigned);
  init_fn init = (init_fn)symbol(&l, "cuInit");
  int_fn count = (int_fn)symbol(&l, "cuDeviceGetCount");
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
