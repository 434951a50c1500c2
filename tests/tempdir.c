// Folders for tests, under $TMPDIR or /tmp.
#include "tempdir.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tempdir tempdir_new(void) {
  struct tempdir d;
  const char *base = getenv("TMPDIR");
  (void)snprintf(d.path, sizeof d.path, "%s/stepc-test-XXXXXX",
                 base != NULL && strlen(base) < 40 ? base : "/tmp");
  cr_assert_not_null(mkdtemp(d.path), "no temporary folder");
  return d;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f) {
  (void)s;
  (void)type;
  (void)f;
  return remove(path);
}

void tempdir_remove(const struct tempdir *d) {
  cr_assert_eq(nftw(d->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

char *tempdir_join(const struct tempdir *d, const char *name, char out[400]) {
  (void)snprintf(out, 400, "%s/%s", d->path, name);
  return out;
}

void tempdir_write(const struct tempdir *d, const char *name, const void *bytes,
                   size_t n) {
  char path[400];
  FILE *f = fopen(tempdir_join(d, name, path), "wb");
  cr_assert_not_null(f, "%s", path);
  cr_assert_eq(fwrite(bytes, 1, n, f), n);
  cr_assert_eq(fclose(f), 0);
}

int tempdir_count(const struct tempdir *d) {
  DIR *dir = opendir(d->path);
  cr_assert_not_null(dir);
  int n = -2; // "." and ".."
  while (readdir(dir) != NULL) {
    n++;
  }
  (void)closedir(dir);
  return n;
}
