// Libraries opened at run time.
#include "emit/library.h"

#include "core/env.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct search {
  struct arena *arena;
  const struct library_spec *spec;
  struct library found;
  struct buf tried; // "; not in ..."
};

library_fn library_function(const struct library *l, const char *name) {
  // A symbol as a function pointer; the union is POSIX's reading of dlsym in ISO C.
  union {
    void *object;
    library_fn function;
  } u = {.object = dlsym(l->handle, name)};
  return u.function;
}

static void note(struct search *s, const char *what, struct str where) {
  buf_printf(&s->tried, "%s%s%.*s", s->tried.n != 0 ? "; " : "", what, STR_FMT(where));
}

static bool try_open(struct search *s, struct str path, const char *how) {
  s->found.handle = dlopen(str_cstr(s->arena, path), RTLD_LAZY | RTLD_LOCAL);
  if (s->found.handle != NULL) {
    s->found.path = path;
    s->found.how = how;
    return true;
  }
  // A file that is not there is no news; one that does not load is.
  const char *error = dlerror();
  if (error != NULL && strstr(error, "No such file") == NULL) {
    note(s, "", str_of(error));
  }
  return false;
}

static bool search_path(struct search *s) {
  const char *folders = rt_env(RT_ENV_LIBRARY_PATH), *all = folders;
  while (folders != NULL && *folders != '\0') {
    size_t n = strcspn(folders, ":");
    struct str path = str_fmt(s->arena, "%.*s/%s", (int)n, folders, s->spec->file);
    if (n != 0 && try_open(s, path, rt_env_name(RT_ENV_LIBRARY_PATH))) {
      return true;
    }
    folders += n + (folders[n] == ':');
  }
  note(s, rt_env_name(RT_ENV_LIBRARY_PATH),
       all == NULL ? STR(" is not set") : str_fmt(s->arena, " (%s) has none", all));
  return false;
}

// The path that the loader took for a bare name.
static void set_loaded_path(struct search *s) {
  struct link_map *map = NULL;
  if (dlinfo(s->found.handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL) {
    s->found.path = str_copy(s->arena, str_of(map->l_name));
  }
}

// A library that torch or another has brought must be shared: two NCCL in one process do not know of each other.
static bool search_process(struct search *s) {
  s->found.handle = dlopen(s->spec->file, RTLD_LAZY | RTLD_NOLOAD);
  if (s->found.handle != NULL) {
    s->found.how = "already loaded";
    set_loaded_path(s);
  }
  return s->found.handle != NULL;
}

static bool search_loader(struct search *s) {
  if (try_open(s, str_of(s->spec->file), "the loader's search")) {
    set_loaded_path(s);
    return true;
  }
  note(s, "the loader's search has none", STR(""));
  return false;
}

// Files that match ROOT/PATTERN/FILE, the newest name first; ROOT is taken as it is.
static bool search_pattern(struct search *s, struct str root, const char *pattern,
                           const char *how) {
  struct buf b = buf_new(s->arena);
  for (size_t i = 0; i < root.n; i++) {
    if (strchr("*?[\\", root.p[i]) != NULL) {
      buf_char(&b, '\\');
    }
    buf_char(&b, root.p[i]);
  }
  buf_printf(&b, "/%s/%s", pattern, s->spec->file);
  glob_t match = {0};
  bool ok = false;
  if (glob(b.p, 0, NULL, &match) == 0) {
    for (size_t k = match.gl_pathc; k-- > 0 && !ok;) {
      ok = try_open(s, str_copy(s->arena, str_of(match.gl_pathv[k])), how);
    }
  }
  globfree(&match);
  return ok;
}

static bool search_wheel(struct search *s, struct str venv) {
  struct str in = str_fmt(s->arena, "lib/python3*/site-packages/%s", s->spec->wheel);
  if (search_pattern(s, venv, in.p, "Python's wheel")) {
    return true;
  }
  note(s, "no wheel in ", venv);
  return false;
}

// What lies in the folder is run. Above a program in /tmp it may be anybody's: it must belong to who owns the program,
// who runs it, or root.
static bool is_trusted(const char *folder) {
  struct stat st, exe;
  return stat(folder, &st) == 0 && stat("/proc/self/exe", &exe) == 0 &&
         (st.st_mode & S_IWOTH) == 0 &&
         (st.st_uid == exe.st_uid || st.st_uid == geteuid() || st.st_uid == 0);
}

// The folder of the program's file and its two parents: build/release/stepc beside .venv is the repository's layout.
static bool search_beside_program(struct search *s) {
  char exe[4096];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
  struct str at = {exe, n > 0 && (size_t)n < sizeof exe ? (size_t)n : 0};
  for (int up = 0; up < 3; up++) {
    do {
      at.n -= at.n != 0;
    } while (at.n > 0 && at.p[at.n] != '/');
    struct str venv = str_fmt(s->arena, "%.*s/.venv", STR_FMT(at));
    if (at.n == 0 || access(venv.p, F_OK) != 0) {
      continue;
    }
    if (!is_trusted(venv.p)) {
      note(s, "not trusted, for it is another user's or all may write to it: ", venv);
    } else if (search_wheel(s, venv)) {
      return true;
    }
  }
  return false;
}

static bool search_wheels(struct search *s) {
  static const enum rt_env roots[] = {RT_ENV_VIRTUAL_ENV, RT_ENV_CONDA_PREFIX};
  if (s->spec->wheel == NULL) {
    return false;
  }
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    const char *root = rt_env(roots[i]);
    if (root != NULL && (search_wheel(s, str_of(root)) ||
                         search_pattern(s, str_of(root), "lib", "conda's package"))) {
      return true;
    }
  }
  return search_beside_program(s);
}

static bool search_toolkit(struct search *s, struct str root) {
  static const char *const folders[] = {"lib64", "lib", "targets/*/lib"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    if (search_pattern(s, root, folders[i], "a CUDA toolkit")) {
      return true;
    }
  }
  return false;
}

static bool search_toolkits(struct search *s) {
  static const enum rt_env roots[] = {RT_ENV_CUDA_HOME, RT_ENV_CUDA_PATH};
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    const char *root = rt_env(roots[i]);
    if (root != NULL && search_toolkit(s, str_of(root))) {
      return true;
    }
  }
  if (search_toolkit(s, STR("/usr/local/cuda")) ||
      search_pattern(s, STR("/usr/local"), "cuda-*/lib64", "a CUDA toolkit") ||
      search_pattern(s, STR("/usr/local"), "cuda-*/lib", "a CUDA toolkit") ||
      search_pattern(s, STR("/usr/local"), "cuda-*/targets/*/lib", "a CUDA toolkit")) {
    return true;
  }
  note(s, "no toolkit in CUDA_HOME, CUDA_PATH or /usr/local/cuda* has it", STR(""));
  return false;
}

struct library library_open(struct arena *a, const struct library_spec *spec) {
  struct search s = {.arena = a, .spec = spec, .tried = buf_new(a)};
  if (!search_path(&s) && !search_process(&s) && !search_wheels(&s) &&
      !search_loader(&s) && !search_toolkits(&s)) {
    s.found.why =
        str_fmt(a, "%s not found: %.*s", spec->file, STR_FMT(buf_done(&s.tried)));
  }
  return s.found;
}

struct library library_open_file(struct arena *a, struct str path) {
  struct library l = {.path = path, .how = "named"};
  l.handle = dlopen(str_cstr(a, path), RTLD_LAZY | RTLD_LOCAL);
  if (l.handle == NULL) {
    const char *error = dlerror();
    l.why = str_copy(a, str_of(error != NULL ? error : "dlopen fails without a reason"));
  }
  return l;
}

// It stays loaded: NVRTC carries a C++ runtime whose pools leak when it is unloaded.
void library_close(struct library *l) {
  l->handle = NULL;
}

bool library_version(const struct library *l, const struct library_spec *spec, int *major,
                     int *minor) {
  typedef int (*packed_fn)(int *);
  typedef int (*pair_fn)(int *, int *);
  library_fn fn = spec->version == NULL ? NULL : library_function(l, spec->version);
  if (fn == NULL) {
    return false;
  }
  if (spec->unit == 0) {
    return ((pair_fn)fn)(major, minor) == 0;
  }
  int packed = 0;
  if (((packed_fn)fn)(&packed) != 0) {
    return false;
  }
  *major = packed / spec->unit;
  *minor = packed % spec->unit / (spec->unit / 100);
  return true;
}
