#include "support/golden.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

bool golden_read(struct arena *a, const char *path, struct str *text) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    return false;
  }
  struct buf b = buf_new(a);
  char chunk[4096];
  size_t n;
  while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
    buf_put(&b, chunk, n);
  }
  (void)fclose(f);
  *text = buf_done(&b);
  return true;
}

static bool is_set(const char *name, const char *value) {
  const char *v = getenv(name);
  return v != NULL && strcmp(v, value) == 0;
}

static struct str write_golden(struct arena *a, const char *path, struct str text) {
  FILE *f = fopen(path, "wb");
  if (f == NULL) {
    return str_fmt(a, "%s: cannot write the golden file", path);
  }
  size_t n = fwrite(text.p, 1, text.n, f);
  return fclose(f) == 0 && n == text.n ? STR("") : str_fmt(a, "%s: write failed", path);
}

static struct str line_of(struct str s, size_t at) {
  size_t begin = at, end = at;
  while (begin > 0 && s.p[begin - 1] != '\n') {
    begin--;
  }
  while (end < s.n && s.p[end] != '\n') {
    end++;
  }
  return (struct str){s.p + begin, end - begin};
}

struct str golden_compare(struct arena *a, const char *path, struct str actual) {
  struct str expected;
  bool exists = golden_read(a, path, &expected);
  if (exists && str_eq(expected, actual)) {
    return STR("");
  }
  if (is_set("UPDATE_GOLDEN", "1")) {
    return is_set("CI", "true") ? STR("UPDATE_GOLDEN is refused in CI")
                                : write_golden(a, path, actual);
  }
  if (!exists) {
    return str_fmt(a, "%s: no golden file; UPDATE_GOLDEN=1 writes it. Actual text:\n%.*s",
                   path, STR_FMT(actual));
  }
  size_t at = 0, line = 1;
  while (at < expected.n && at < actual.n && expected.p[at] == actual.p[at]) {
    line += expected.p[at++] == '\n';
  }
  return str_fmt(a, "%s:%zu: differs\n  expected: %.*s\n  actual:   %.*s", path, line,
                 STR_FMT(line_of(expected, at)), STR_FMT(line_of(actual, at)));
}

static int by_bytes(const void *a, const void *b) {
  return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

uint32_t golden_list(struct arena *a, const char *folder, const char *suffix,
                     struct str **names) {
  VEC(struct str) list = {0};
  DIR *d = opendir(folder);
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    struct str name = str_of(e->d_name);
    if (str_ends(name, suffix)) {
      VEC_PUSH(a, list, str_copy(a, name));
    }
  }
  if (d != NULL) {
    (void)closedir(d);
  }
  if (list.n != 0) {
    qsort(list.v, list.n, sizeof list.v[0], by_bytes);
  }
  *names = list.v;
  return list.n;
}
