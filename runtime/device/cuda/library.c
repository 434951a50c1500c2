// Libraries opened at run time.
#include "device/cuda/library.h"

#include "core/env.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rt_append(char *text, size_t n, const char *format, ...) {
  size_t used = strnlen(text, n);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text + used, n - used, format, args);
  va_end(args);
}

rt_any_fn rt_library_function(const struct rt_library *l, const char *symbol) {
  // A symbol as a function pointer; the union is POSIX's reading of dlsym in ISO C.
  union {
    void *object;
    rt_any_fn function;
  } u = {.object = dlsym(l->handle, symbol)};
  return u.function;
}

// The file that the loader took for a bare name.
static void set_path(struct rt_library *l, const char *asked) {
  struct link_map *map = NULL;
  bool known = dlinfo(l->handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL;
  l->path[0] = '\0';
  rt_append(l->path, sizeof l->path, "%s", known ? map->l_name : asked);
}

static bool try_open(struct rt_library *l, const char *path, int flags, const char *how,
                     char *tried, size_t n) {
  l->handle = dlopen(path, flags | RTLD_NOW | RTLD_LOCAL);
  if (l->handle != NULL) {
    l->how = how;
    set_path(l, path);
    return true;
  }
  const char *why = dlerror();
  if (!(flags & RTLD_NOLOAD)) {
    rt_append(tried, n, "; %s", why != NULL ? why : path);
  }
  return false;
}

bool rt_library_open(struct rt_library *l, const char *file, char *tried, size_t n) {
  const char *folders = rt_env(RT_ENV_LIBRARY_PATH),
             *name = rt_env_name(RT_ENV_LIBRARY_PATH);
  *l = (struct rt_library){0};
  tried[0] = '\0';
  rt_append(tried, n, folders != NULL ? "%s=%s" : "%s is not set", name, folders);
  while (folders != NULL && *folders != '\0') {
    size_t length = strcspn(folders, ":");
    char path[4096];
    int used = snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, file);
    if (length != 0 && used > 0 && (size_t)used < sizeof path &&
        try_open(l, path, 0, name, tried, n)) {
      return true;
    }
    folders += length + (folders[length] == ':');
  }
  return try_open(l, file, RTLD_NOLOAD, "already loaded", tried, n) ||
         try_open(l, file, 0, "the loader's search", tried, n);
}
