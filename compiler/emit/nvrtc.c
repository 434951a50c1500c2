// NVRTC: opening it, and compiling in parallel.
#include "emit/nvrtc.h"

#include "emit/library.h"
#include "emit/nvrtc_log.h"

#include "core/team.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct nvrtc {
  struct library library, builtins;
  int major, minor;
  int *arch; // compute capabilities times 10, rising
  uint32_t n_archs;
#define NVRTC_FN(name, parameters) int(*name) parameters;
#include "emit/nvrtc.def"
#undef NVRTC_FN
};

// Major version 13: its SONAME. It knows every option below (--no-cache came with 12.9).
static const struct library_spec nvrtc_spec = {
    .file = "libnvrtc.so.13", .wheel = "nvidia/cu13/lib", .version = "nvrtcVersion"};

static const char *const fixed_options[] = {
    "--std=c++17",        "--fmad=false",     "--ftz=false",
    "--prec-div=true",    "--prec-sqrt=true",
    "--minimal",  // no CUDA library of the compiler's own: kernels bring all they need
    "--no-cache", // NVRTC would open the driver for a cache of its own
    "--ptxas-options=-v", // resources and warnings in the log
};
enum { N_FIXED = sizeof fixed_options / sizeof *fixed_options, N_OPTIONS = N_FIXED + 1 };

static bool bind_functions(struct nvrtc *n, const char **missing) {
#define NVRTC_FN(name, parameters)                                                       \
  n->name = (int(*) parameters)library_function(&n->library, #name);                     \
  if (n->name == NULL) {                                                                 \
    *missing = #name;                                                                    \
    return false;                                                                        \
  }
#include "emit/nvrtc.def"
#undef NVRTC_FN
  return true;
}

static bool read_archs(struct arena *a, struct nvrtc *n) {
  int count = 0;
  if (n->nvrtcGetNumSupportedArchs(&count) != 0 || count <= 0) {
    return false;
  }
  n->arch = ARENA_ARRAY(a, int, (size_t)count);
  n->n_archs = (uint32_t)count;
  return n->nvrtcGetSupportedArchs(n->arch) == 0;
}

// NVRTC opens its built-ins by their bare name, which the loader does not find in a wheel or an unlisted toolkit: a
// copy from beside it, loaded before, answers to that name.
static void open_builtins(struct arena *a, struct nvrtc *n) {
  const char *path = str_cstr(a, n->library.path), *slash = strrchr(path, '/');
  struct str file = str_fmt(a, "libnvrtc-builtins.so.%d.%d", n->major, n->minor);
  int folder = slash == NULL ? 0 : (int)(slash - path) + 1;
  n->builtins = library_open_file(a, str_fmt(a, "%.*s%s", folder, path, file.p));
}

static bool set_up(struct arena *a, struct nvrtc *n, struct str *why) {
  const char *path = str_escape(a, n->library.path).p, *missing = NULL;
  if (!bind_functions(n, &missing)) {
    *why = str_fmt(a, "%s has no %s", path, missing);
    return false;
  }
  if (n->nvrtcVersion(&n->major, &n->minor) != 0 || n->major != 13) {
    *why =
        str_fmt(a, "%s is version %d.%d; stepc works with 13", path, n->major, n->minor);
    return false;
  }
  if (!read_archs(a, n)) {
    *why = str_fmt(a, "%s does not say what it compiles for", path);
    return false;
  }
  open_builtins(a, n);
  return true;
}

struct nvrtc *nvrtc_open(struct arena *a, struct str *why) {
  struct nvrtc *n = ARENA_NEW(a, struct nvrtc);
  n->library = library_open(a, &nvrtc_spec);
  if (n->library.handle == NULL) {
    *why = n->library.why;
    return NULL;
  }
  if (!set_up(a, n, why)) {
    nvrtc_close(n);
    return NULL;
  }
  return n;
}

void nvrtc_close(struct nvrtc *n) {
  if (n != NULL) {
    library_close(&n->library);
    library_close(&n->builtins);
  }
}

struct str nvrtc_version(struct arena *a, const struct nvrtc *n) {
  return str_fmt(a, "%d.%d", n->major, n->minor);
}

struct str nvrtc_path(const struct nvrtc *n) {
  return n->library.path;
}

const char *nvrtc_how(const struct nvrtc *n) {
  return n->library.how;
}

struct str nvrtc_builtins(const struct nvrtc *n, struct str *why) {
  *why = n->builtins.why;
  return n->builtins.handle != NULL ? n->builtins.path : STR("");
}

bool nvrtc_knows(const struct nvrtc *n, struct str arch) {
  if (!str_starts(arch, "sm_") || arch.n < 5) {
    return false;
  }
  size_t end = arch.n - (arch.p[arch.n - 1] == 'a' || arch.p[arch.n - 1] == 'f');
  int number = 0;
  for (size_t i = 3; i < end; i++) {
    if (arch.p[i] < '0' || arch.p[i] > '9' || number > 1000) {
      return false;
    }
    number = 10 * number + (arch.p[i] - '0');
  }
  for (uint32_t i = 0; i < n->n_archs; i++) {
    if (n->arch[i] == number) {
      return end == arch.n || number >= 90; // suffixes came with Hopper
    }
  }
  return false;
}

struct str nvrtc_archs(struct arena *a, const struct nvrtc *n) {
  struct buf b = buf_new(a);
  for (uint32_t i = 0; i < n->n_archs; i++) {
    buf_printf(&b, "%ssm_%d", i != 0 ? ", " : "", n->arch[i]);
  }
  return buf_done(&b);
}

struct str nvrtc_newest(struct arena *a, const struct nvrtc *n) {
  return str_fmt(a, "sm_%d", n->arch[n->n_archs - 1]);
}

static void fill_options(struct arena *a, struct str arch,
                         const char *option[N_OPTIONS]) {
  option[0] = str_fmt(a, "--gpu-architecture=%.*s", STR_FMT(arch)).p;
  memcpy(option + 1, fixed_options, sizeof fixed_options);
}

struct str nvrtc_options(struct arena *a, struct str arch) {
  const char *option[N_OPTIONS];
  fill_options(a, arch, option);
  struct buf b = buf_new(a);
  for (uint32_t i = 0; i < N_OPTIONS; i++) {
    buf_printf(&b, "%s%s", i != 0 ? " " : "", option[i]);
  }
  return buf_done(&b);
}

// Builds of one version differ in size; where a library lies does not matter.
struct str nvrtc_identity(struct arena *a, const struct nvrtc *n) {
  struct stat st;
  bool known = stat(str_cstr(a, n->library.path), &st) == 0;
  return str_fmt(a, "NVRTC %d.%d, %lld bytes", n->major, n->minor,
                 known ? (long long)st.st_size : -1);
}

// ---- compiling

struct task { // what a worker touches: no arena
  const char *name, *text;
  void *program; // nvrtcProgram
  int result;
  double seconds;
};

struct work {
  const struct nvrtc *nvrtc;
  const char *option[N_OPTIONS];
  struct task *task;
};

static double now(void) {
  struct timespec ts;
  (void)clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void compile_one(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct work *w = ctx;
  struct task *t = &w->task[item];
  double start = now();
  t->result = w->nvrtc->nvrtcCreateProgram(&t->program, t->text, t->name, 0, NULL, NULL);
  if (t->result == 0) {
    t->result = w->nvrtc->nvrtcCompileProgram(t->program, N_OPTIONS, w->option);
  }
  t->seconds = now() - start;
}

static void compile_all(struct work *w, uint32_t n) {
  struct rt_team *team = NULL;
  if (n > 1 && rt_team_new(0, &team) == STEPRT_OK) {
    rt_team_run(team, n, compile_one, w);
    rt_team_free(team);
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    compile_one(w, i, 0);
  }
}

// One of NVRTC's results: its size first, then its bytes. Texts count their NUL.
static struct str fetch(struct arena *a, void *program, int (*size)(void *, size_t *),
                        int (*get)(void *, char *)) {
  size_t n = 0;
  if (program == NULL || size(program, &n) != 0 || n == 0) {
    return STR("");
  }
  char *p = arena_alloc(a, n + 1, 8);
  return get(program, p) == 0 ? (struct str){p, n} : STR("");
}

static struct str fetch_text(struct arena *a, void *program,
                             int (*size)(void *, size_t *), int (*get)(void *, char *)) {
  struct str s = fetch(a, program, size, get);
  while (s.n > 0 && s.p[s.n - 1] == '\0') {
    s.n--;
  }
  return s;
}

static struct str resource_fault(struct arena *a, const char *name,
                                 const struct nvrtc_object *o) {
  struct buf b = buf_new(a);
  for (uint32_t i = 0; i < o->n_kernels; i++) {
    const struct nvrtc_usage *u = &o->kernel[i];
    if (u->stack != 0 || u->spill_stores != 0 || u->spill_loads != 0) {
      buf_printf(
          &b,
          "%s: kernel %.*s takes %u bytes of local memory and spills registers (%u "
          "bytes stored, %u loaded)\n",
          name, STR_FMT(u->kernel), u->stack, u->spill_stores, u->spill_loads);
    }
  }
  return buf_done(&b);
}

static void harvest(const struct nvrtc *n, struct arena *a, const struct task *t,
                    struct nvrtc_object *o) {
  *o = (struct nvrtc_object){.seconds = t->seconds};
  struct str log =
      fetch_text(a, t->program, n->nvrtcGetProgramLogSize, n->nvrtcGetProgramLog);
  struct str rest = nvrtc_read_log(a, log, o);
  if (t->result != 0) {
    o->fault = str_fmt(a, "%s does not compile (NVRTC's error %d):\n%.*s", t->name,
                       t->result, STR_FMT(log));
    return;
  }
  o->cubin = fetch(a, t->program, n->nvrtcGetCUBINSize, n->nvrtcGetCUBIN);
  o->ptx = fetch_text(a, t->program, n->nvrtcGetPTXSize, n->nvrtcGetPTX);
  o->fault = resource_fault(a, t->name, o);
  if (rest.n != 0) {
    o->fault = str_fmt(a, "%s compiles with warnings:\n%.*s", t->name, STR_FMT(rest));
  } else if (o->fault.n == 0 && (o->cubin.n == 0 || o->n_kernels == 0)) {
    o->fault = str_fmt(a, "%s gives no kernel:\n%.*s", t->name, STR_FMT(log));
  }
}

bool nvrtc_compile(const struct nvrtc *n, struct arena *a,
                   const struct nvrtc_source *source, uint32_t n_sources, struct str arch,
                   struct nvrtc_object *out) {
  struct work w = {.nvrtc = n, .task = ARENA_ARRAY(a, struct task, n_sources)};
  fill_options(a, arch, w.option);
  for (uint32_t i = 0; i < n_sources; i++) {
    w.task[i].name = str_cstr(a, source[i].name);
    w.task[i].text = str_cstr(a, source[i].text);
  }
  compile_all(&w, n_sources);
  bool fine = true;
  for (uint32_t i = 0; i < n_sources; i++) {
    harvest(n, a, &w.task[i], &out[i]);
    fine = fine && out[i].fault.n == 0;
    if (w.task[i].program != NULL) {
      (void)n->nvrtcDestroyProgram(&w.task[i].program);
    }
  }
  return fine;
}
