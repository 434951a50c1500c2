// Objects in the cache: lines of text, then the bytes of cubin and PTX.
//   kernel NAME registers shared stack spill_stores spill_loads
//   bytes CUBIN PTX
#include "emit/nvrtc_cache.h"

#include "file/sha256.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_FORMAT = 1 }; // of the entries and of what they mean

static void key_of(struct arena *a, const struct nvrtc *n, struct str text,
                   struct str arch, char hex[CACHE_KEY + 1]) {
  struct sha256 sha;
  struct str head = str_fmt(a, "nvrtc object %d\n%s\n%s\n", CACHE_FORMAT,
                            nvrtc_identity(a, n).p, nvrtc_options(a, arch).p);
  sha256_init(&sha);
  sha256_add(&sha, head.p, head.n);
  sha256_add(&sha, text.p, text.n);
  sha256_hex(&sha, hex);
}

static struct str write_entry(struct arena *a, const struct nvrtc_object *o) {
  struct buf b = buf_new(a);
  for (uint32_t i = 0; i < o->n_kernels; i++) {
    const struct nvrtc_usage *u = &o->kernel[i];
    buf_printf(&b, "kernel %.*s %u %u %u %u %u\n", STR_FMT(u->kernel), u->registers,
               u->shared, u->stack, u->spill_stores, u->spill_loads);
  }
  buf_printf(&b, "bytes %zu %zu\n", o->cubin.n, o->ptx.n);
  buf_str(&b, o->cubin);
  buf_str(&b, o->ptx);
  return buf_done(&b);
}

// One line without its end, as a terminated copy; NULL: there is none.
static const char *next_line(struct arena *a, struct str *text) {
  const char *end = memchr(text->p, '\n', text->n);
  if (end == NULL) {
    return NULL;
  }
  size_t n = (size_t)(end - text->p);
  const char *line = str_cstr(a, (struct str){text->p, n});
  *text = (struct str){end + 1, text->n - n - 1};
  return line;
}

// The next n numbers of a line, each after one space; false: they are not there, or more is.
static bool read_numbers(const char *at, size_t n, size_t *number) {
  for (size_t i = 0; i < n; i++) {
    if (at[0] != ' ' || at[1] < '0' || at[1] > '9') {
      return false;
    }
    char *end;
    number[i] = strtoull(at + 1, &end, 10);
    at = end;
  }
  return *at == '\0';
}

static bool read_usage(struct arena *a, const char *line, struct nvrtc_usage *u) {
  size_t name = strcspn(line, " "), number[5];
  if (!read_numbers(line + name, 5, number)) {
    return false;
  }
  *u = (struct nvrtc_usage){.kernel = str_copy(a, (struct str){line, name}),
                            .registers = (uint32_t)number[0],
                            .shared = (uint32_t)number[1],
                            .stack = (uint32_t)number[2],
                            .spill_stores = (uint32_t)number[3],
                            .spill_loads = (uint32_t)number[4]};
  return true;
}

static bool read_entry(struct arena *a, struct str text, struct nvrtc_object *o) {
  VEC(struct nvrtc_usage) kernel = {0};
  const char *line;
  size_t bytes[2]; // of cubin and PTX
  while ((line = next_line(a, &text)) != NULL && strncmp(line, "kernel ", 7) == 0) {
    struct nvrtc_usage u;
    if (!read_usage(a, line + 7, &u)) {
      return false;
    }
    VEC_PUSH(a, kernel, u);
  }
  if (line == NULL || strncmp(line, "bytes", 5) != 0 ||
      !read_numbers(line + 5, 2, bytes) || bytes[0] > text.n ||
      text.n - bytes[0] != bytes[1]) {
    return false;
  }
  *o = (struct nvrtc_object){.cubin = {text.p, bytes[0]},
                             .ptx = {text.p + bytes[0], bytes[1]},
                             .kernel = kernel.v,
                             .n_kernels = kernel.n,
                             .cached = true};
  return true;
}

static bool find(const struct nvrtc *n, const struct cache *c, struct arena *a,
                 struct str text, struct str arch, struct nvrtc_object *o) {
  char key[CACHE_KEY + 1];
  struct str bytes;
  key_of(a, n, text, arch, key);
  return cache_get(c, a, key, &bytes) && read_entry(a, bytes, o);
}

static void keep(const struct nvrtc *n, const struct cache *c, struct arena *a,
                 struct str text, struct str arch, const struct nvrtc_object *o) {
  char key[CACHE_KEY + 1];
  if (o->fault.n == 0) {
    key_of(a, n, text, arch, key);
    (void)cache_put(c, a, key, write_entry(a, o)); // the object is there all the same
  }
}

bool nvrtc_compile_cached(const struct nvrtc *n, const struct cache *c, struct arena *a,
                          const struct nvrtc_source *source, uint32_t n_sources,
                          struct str arch, struct nvrtc_object *out) {
  struct nvrtc_source *todo = ARENA_ARRAY(a, struct nvrtc_source, n_sources);
  struct nvrtc_object *made = ARENA_ARRAY(a, struct nvrtc_object, n_sources);
  uint32_t *place = ARENA_ARRAY(a, uint32_t, n_sources), n_todo = 0;
  for (uint32_t i = 0; i < n_sources; i++) {
    if (!find(n, c, a, source[i].text, arch, &out[i])) {
      place[n_todo] = i;
      todo[n_todo++] = source[i];
    }
  }
  bool fine = nvrtc_compile(n, a, todo, n_todo, arch, made);
  for (uint32_t i = 0; i < n_todo; i++) {
    out[place[i]] = made[i];
    keep(n, c, a, todo[i].text, arch, &made[i]);
  }
  return fine;
}
