// NVRTC's log: ptxas reports each kernel in a few lines (CUDA 12.9 to 13.2):
//   ptxas info    : 0 bytes gmem
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 20 registers, used 1 barriers, 256 bytes smem
//   ptxas info    : Compile time = 18.248 ms
// Any other line is a warning, those that ptxas calls info too ("Potential Performance Loss").
#include "emit/nvrtc_log.h"

#include <stdlib.h>
#include <string.h>

struct reader {
  struct arena *arena;
  VEC(struct nvrtc_usage) kernel;
  struct buf rest;
};

// The text after `prefix` and any spaces; NULL: the line begins otherwise.
static const char *after(const char *line, const char *prefix) {
  size_t n = strlen(prefix);
  if (strncmp(line, prefix, n) != 0) {
    return NULL;
  }
  return line + n + strspn(line + n, " ");
}

static void begin_kernel(struct reader *r, const char *name) {
  size_t n = strcspn(name, "'");
  struct nvrtc_usage u = {.kernel = str_copy(r->arena, (struct str){name, n})};
  VEC_PUSH(r->arena, r->kernel, u);
}

// "256" of "... 256 bytes smem": the number that ends where `unit` begins; 0: it is not there.
static uint32_t amount(const char *text, const char *unit) {
  const char *at = strstr(text, unit), *p = at;
  if (at == NULL) {
    return 0;
  }
  while (p > text && p[-1] >= '0' && p[-1] <= '9') {
    p--;
  }
  return (uint32_t)strtoul(p, NULL, 10);
}

// Functions that were not inlined report a frame of their own: what a kernel calls counts as its own.
static bool read_frame(struct reader *r, const char *text) {
  if (strstr(text, " bytes stack frame") == NULL || r->kernel.n == 0) {
    return false;
  }
  struct nvrtc_usage *u = &r->kernel.v[r->kernel.n - 1];
  u->stack += amount(text, " bytes stack frame");
  u->spill_stores += amount(text, " bytes spill stores");
  u->spill_loads += amount(text, " bytes spill loads");
  return true;
}

static bool read_info(struct reader *r, const char *text) {
  const char *name = after(text, "Compiling entry function '");
  if (name != NULL) {
    begin_kernel(r, name);
    return true;
  }
  if (after(text, "Used ") != NULL && r->kernel.n != 0) {
    struct nvrtc_usage *u = &r->kernel.v[r->kernel.n - 1];
    u->registers = amount(text, " registers");
    u->shared = amount(text, " bytes smem");
    return true;
  }
  return strstr(text, " bytes gmem") != NULL || after(text, "Function properties for") ||
         after(text, "Compile time =");
}

static void read_line(struct reader *r, const char *line) {
  const char *info = after(line, "ptxas info"), *more = after(line, "ptxas         .");
  info = info != NULL ? after(info, ":") : NULL;
  if (line[strspn(line, " \t\r")] == '\0' || (info != NULL && read_info(r, info)) ||
      (more != NULL && read_frame(r, more))) {
    return;
  }
  buf_printf(&r->rest, "%s\n", line);
}

static int by_name(const void *x, const void *y) {
  return str_cmp(((const struct nvrtc_usage *)x)->kernel,
                 ((const struct nvrtc_usage *)y)->kernel);
}

struct str nvrtc_read_log(struct arena *a, struct str log, struct nvrtc_object *o) {
  struct reader r = {.arena = a, .rest = buf_new(a)};
  for (size_t at = 0; at < log.n;) {
    const char *end = memchr(log.p + at, '\n', log.n - at);
    size_t n = end == NULL ? log.n - at : (size_t)(end - log.p) - at;
    read_line(&r, str_cstr(a, (struct str){log.p + at, n}));
    at += n + 1;
  }
  if (r.kernel.n != 0) {
    qsort(r.kernel.v, r.kernel.n, sizeof *r.kernel.v, by_name);
  }
  o->kernel = r.kernel.v;
  o->n_kernels = r.kernel.n;
  return buf_done(&r.rest);
}
