// Golden files: read, compare, rewrite on request.
#include "golden.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char *full_path(struct arena *a, const char *path) {
  return str_fmt(a, "%s/tests/data/%s", STEPC_SOURCE_DIR, path).p;
}

static bool read_file(struct arena *a, const char *path, struct str *out) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    return false;
  }
  struct buf b = buf_new(a);
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) {
    buf_put(&b, part, n);
  }
  (void)fclose(f);
  *out = buf_done(&b);
  return true;
}

struct str golden_read(struct arena *a, const char *path) {
  struct str text = {0};
  if (!read_file(a, full_path(a, path), &text)) {
    cr_assert(false, "cannot read tests/data/%s", path);
  }
  return text;
}

static int compare_names(const void *x, const void *y) {
  const struct str *a = x, *b = y;
  return str_cmp(*a, *b);
}

struct str *golden_list(struct arena *a, const char *folder, const char *suffix,
                        uint32_t *n) {
  VEC(struct str) name = {0};
  DIR *dir = opendir(full_path(a, folder));
  if (dir == NULL) {
    cr_assert(false, "cannot list tests/data/%s", folder);
  }
  for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
    if (str_ends(str_of(e->d_name), suffix)) {
      VEC_PUSH(a, name, str_copy(a, str_of(e->d_name)));
    }
  }
  (void)closedir(dir);
  if (name.n > 1) {
    qsort(name.v, name.n, sizeof *name.v, compare_names);
  }
  *n = name.n;
  return name.v;
}

static bool is_set(const char *name, const char *value) {
  const char *v = getenv(name);
  return v != NULL && strcmp(v, value) == 0;
}

static void write_golden(struct arena *a, const char *path, struct str actual) {
  if (is_set("CI", "true")) {
    cr_assert(false, "UPDATE_GOLDEN is refused when CI=true");
  }
  FILE *f = fopen(full_path(a, path), "wb");
  if (f == NULL || fwrite(actual.p, 1, actual.n, f) != actual.n) {
    cr_assert(false, "cannot write tests/data/%s", path);
  }
  (void)fclose(f);
}

static struct str line_at(struct str s, size_t at) {
  size_t begin = at, end = at;
  while (begin > 0 && s.p[begin - 1] != '\n') {
    begin--;
  }
  while (end < s.n && s.p[end] != '\n') {
    end++;
  }
  return (struct str){s.p + begin, end - begin};
}

void golden_check(struct arena *a, const char *path, struct str actual) {
  if (is_set("UPDATE_GOLDEN", "1")) {
    write_golden(a, path, actual);
    return;
  }
  struct str want = {0};
  if (!read_file(a, full_path(a, path), &want)) {
    cr_assert(false, "tests/data/%s is missing: UPDATE_GOLDEN=1 writes it", path);
  }
  size_t at = 0, line = 1;
  while (at < want.n && at < actual.n && want.p[at] == actual.p[at]) {
    line += want.p[at] == '\n';
    at++;
  }
  cr_assert(str_eq(want, actual), "tests/data/%s:%zu differs\n  file: %.*s\n   now: %.*s",
            path, line, STR_FMT(line_at(want, at)), STR_FMT(line_at(actual, at)));
}
