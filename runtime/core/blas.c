// Finds and opens a serial BLAS.
//
// Order: the folders of STEPC_LIBRARY_PATH; then the folders of Debian's serial builds and the loader's own search.
// Of each two places the first of `kinds` is taken if it is there and usable. The order is fixed, never
// measured: which library multiplies decides bits, so one host must always take the same one (L1).
//
// BLIS goes first: it may be called from several threads whatever it was built with. A serial OpenBLAS may not unless
// it was built with locks, which it does not tell: two threads can be handed one packing buffer
// (OpenMathLib/OpenBLAS issue 2126). Debian's 0.3.21 failed one in some hundred checks of three threads on two busy
// cores, so it is called by one thread at a time, whatever the team's size.
#include "core/blas.h"
#include "core/env.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#  define MULTIARCH "/usr/lib/x86_64-linux-gnu/"
#elif defined(__aarch64__)
#  define MULTIARCH "/usr/lib/aarch64-linux-gnu/"
#else
#  define MULTIARCH "/usr/lib/"
#endif

// RTLD_NODELETE: a BLAS keeps pools for the life of the process; unloaded, it would leak them.
// RTLD_DEEPBIND: the library's own cblas_sgemm must call its own kernels, also in a process that has loaded another
// BLAS globally. Sanitizers refuse the flag.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define DEEPBIND 0
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#    define DEEPBIND 0
#  endif
#endif
#ifndef DEEPBIND
#  define DEEPBIND RTLD_DEEPBIND
#endif
enum { OPEN_FLAGS = RTLD_NOW | RTLD_NODELETE | DEEPBIND }; // RTLD_LOCAL is 0

static const char standard_folders[] =
    MULTIARCH "blis-serial:" MULTIARCH "openblas-serial";

// A growing text in a buffer of fixed size; what does not fit is left out.
struct text {
  char *at;
  size_t left;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *t,
                                                           const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->at, t->left, format, args);
  va_end(args);
  size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left ? t->left - 1 : 0;
  t->at += used;
  t->left -= used;
}

// A symbol as a function pointer; the union is POSIX's reading of dlsym in ISO C.
typedef void (*any_fn)(void);
static any_fn find(void *library, const char *symbol) {
  union {
    void *object;
    any_fn function;
  } u = {.object = dlsym(library, symbol)};
  return u.function;
}

static const char *call_text(void *library, const char *symbol) {
  const char *(*fn)(void) = (const char *(*)(void))find(library, symbol);
  const char *text = fn ? fn() : NULL;
  return text ? text : "?";
}

static int call_int(void *library, const char *symbol, int fallback) {
  int (*fn)(void) = (int (*)(void))find(library, symbol);
  return fn ? fn() : fallback;
}

// Each kind looks at a library before any of its products run: false with `why` where it must not be used; else
// `label` says what it is.

static bool blis_inspect(void *library, struct text *label, struct text *why) {
  const char *(*arch_text)(int) = (const char *(*)(int))find(library, "bli_arch_string");
  int arch = call_int(library, "bli_arch_query_id", -1);
  text_add(label, "BLIS %s (%s)", call_text(library, "bli_info_get_version_str"),
           arch_text && arch >= 0 ? arch_text(arch) : "?");
  int threads = call_int(library, "bli_thread_get_num_threads", 1);
  if (threads > 1) {
    text_add(why, "is set to %d threads", threads);
    return false;
  }
  return true;
}

// "OpenBLAS 0.3.21 ..." as 321; 0 where the text is another one.
static long openblas_version(const char *config) {
  static const char prefix[] = "OpenBLAS ";
  if (strncmp(config, prefix, sizeof prefix - 1) != 0) {
    return 0;
  }
  const char *at = config + sizeof prefix - 1;
  long version = 0;
  for (int i = 0; i < 3; i++) {
    char *end;
    version = version * 100 + strtol(at, &end, 10);
    if (end == at || (i < 2 && *end != '.')) {
      return 0;
    }
    at = end + 1;
  }
  return version;
}

static bool openblas_inspect(void *library, struct text *label, struct text *why) {
  const char *core = call_text(library, "openblas_get_corename");
  long version = openblas_version(call_text(library, "openblas_get_config"));
  if (version == 0) {
    text_add(why, "does not tell its version");
    return false;
  }
  text_add(label, "OpenBLAS %ld.%ld.%ld (%s)", version / 10000, version / 100 % 100,
           version % 100, core);
  if (call_int(library, "openblas_get_parallel", 0) != 0) {
    text_add(why, "starts threads of its own");
    return false;
  }
  // Kernels that crash cannot be tried in a process that must live: Sapphire Rapids was repaired in 0.3.24
  // (OpenMathLib/OpenBLAS pull request 4048: illegal instruction, wrong results).
  if (strcmp(core, "SapphireRapids") == 0 && version < 324) {
    text_add(why, "has kernels for this CPU that are known to crash (mended in 0.3.24)");
    return false;
  }
  return true;
}

struct kind {
  const char *file;
  bool (*inspect)(void *library, struct text *label, struct text *why);
  bool one_at_a_time;
};
static const struct kind kinds[] = {{"libblis.so.4", blis_inspect, false},
                                    {"libopenblas.so.0", openblas_inspect, true}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

// One for the process, as the library's buffers are: handles that step in different threads share it.
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void rt_blas_enter(const struct rt_blas *b) {
  if (b->one_at_a_time) {
    pthread_mutex_lock(&one_at_a_time);
  }
}

void rt_blas_leave(const struct rt_blas *b) {
  if (b->one_at_a_time) {
    pthread_mutex_unlock(&one_at_a_time);
  }
}

// Opens one file; `b` is filled on success. On refusal "; FILE: reason" goes to `why`, unless there is no such file.
static steprt_status try_file(const char *path, const struct kind *kind,
                              struct rt_blas *b, struct text *why) {
  steprt_status status = STEPRT_NO_LIBRARY;
  char reason[160] = "", label[160] = "";
  struct text reason_text = {reason, sizeof reason}, label_text = {label, sizeof label};
  b->library = dlopen(path, OPEN_FLAGS);
  if (!b->library) {
    const char *error = dlerror();
    if (!error || !strstr(error, "No such file")) {
      text_add(why, "; %s", error ? error : path); // it names the file
    }
    return STEPRT_NO_LIBRARY;
  }
  b->sgemm = (rt_sgemm_fn)find(b->library, "cblas_sgemm");
  if (!b->sgemm) {
    text_add(&reason_text, "has no cblas_sgemm");
    goto fail;
  }
  if (!kind->inspect(b->library, &label_text, &reason_text)) {
    goto fail;
  }
  b->one_at_a_time = kind->one_at_a_time;
  status = rt_blas_check(b);
  if (status == STEPRT_OK) {
    snprintf(b->name, sizeof b->name, "%s, %s%s", label, path,
             b->one_at_a_time ? ", one thread at a time" : "");
    return STEPRT_OK;
  }
  if (status == STEPRT_NO_MEMORY) {
    text_add(&reason_text, "could not be checked: out of memory or threads");
  } else {
    text_add(&reason_text, "computes wrong products on this CPU");
  }
fail:
  text_add(why, "; %s%s%s: %s", path, *label ? ", " : "", label, reason);
  dlclose(b->library);
  b->library = NULL;
  return status == STEPRT_NO_MEMORY ? status : STEPRT_NO_LIBRARY;
}

// One kind in each folder (separated by ':'), then by the loader's own search where `loader` is set.
static steprt_status try_kind(const struct kind *kind, const char *folders, bool loader,
                              struct rt_blas *b, struct text *why) {
  for (const char *at = folders; *at; at += *at == ':') {
    size_t n = strcspn(at, ":");
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%.*s/%s", (int)n, at, kind->file);
    at += n;
    if (n == 0 || used < 0 || (size_t)used >= sizeof path) {
      continue;
    }
    steprt_status status = try_file(path, kind, b, why);
    if (status != STEPRT_NO_LIBRARY) {
      return status;
    }
  }
  return loader ? try_file(kind->file, kind, b, why) : STEPRT_NO_LIBRARY;
}

static steprt_status try_all(const char *folders, bool loader, struct rt_blas *b,
                             struct text *why) {
  for (uint32_t i = 0; i < N_KINDS; i++) {
    steprt_status status = try_kind(&kinds[i], folders, loader, b, why);
    if (status != STEPRT_NO_LIBRARY) {
      return status;
    }
  }
  return STEPRT_NO_LIBRARY;
}

steprt_status rt_blas_open_in(const char *first, const char *folders, bool loader,
                              struct rt_blas **out, char *why, size_t n) {
  *out = NULL;
  char refused[1024] = "";
  struct text text = {refused, sizeof refused};
  struct rt_blas *b = calloc(1, sizeof *b);
  steprt_status status = b ? try_all(first, false, b, &text) : STEPRT_NO_MEMORY;
  if (status == STEPRT_NO_LIBRARY) {
    status = try_all(folders, loader, b, &text);
  }
  if (status == STEPRT_OK) {
    snprintf(why, n, "%s%s", *refused ? "refused: " : "", *refused ? refused + 2 : "");
    *out = b;
    return STEPRT_OK;
  }
  if (status == STEPRT_NO_MEMORY) {
    snprintf(why, n, "out of memory while opening a BLAS%s", refused);
  } else {
    snprintf(why, n,
             "install libblis4-serial or libopenblas0-serial, or name the folder of "
             "libblis.so.4 or libopenblas.so.0 in %s%s%s",
             rt_env_name(RT_ENV_LIBRARY_PATH), *refused ? "; refused: " : "",
             *refused ? refused + 2 : "");
  }
  free(b);
  return status;
}

steprt_status rt_blas_open(struct rt_blas **out, char *why, size_t n) {
  const char *first = rt_env(RT_ENV_LIBRARY_PATH);
  return rt_blas_open_in(first ? first : "", standard_folders, true, out, why, n);
}

void rt_blas_close(struct rt_blas *b) {
  if (!b) {
    return;
  }
  dlclose(b->library);
  free(b);
}

const char *rt_blas_name(const struct rt_blas *b) {
  return b->name;
}
