// The cache on disk: what comes back, and what is not trusted.
#include "emit/cache.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char key[] =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

struct fixture {
  struct arena *arena;
  struct tempdir dir;
  struct cache cache;
  const char *file; // of `key`
};

static struct fixture fixture_new(void) {
  struct fixture f = {.arena = arena_new(0), .dir = tempdir_new()};
  struct str note;
  char folder[400];
  setenv("STEPC_CACHE_DIR", tempdir_join(&f.dir, "cache", folder), 1);
  f.cache = cache_open(f.arena, &note);
  cr_assert_eq(note.n, 0, "%.*s", STR_FMT(note));
  f.file = str_fmt(f.arena, "%s/%s", folder, key).p;
  return f;
}

static void fixture_free(struct fixture *f) {
  tempdir_remove(&f->dir);
  arena_free(f->arena);
}

static mode_t mode_of(const char *path) {
  struct stat st;
  cr_assert_eq(stat(path, &st), 0);
  return st.st_mode & 0777;
}

static bool holds(struct fixture *f, struct str bytes) {
  struct str got;
  return cache_get(&f->cache, f->arena, key, &got) && str_eq(got, bytes);
}

Test(cache, gives_back_what_was_put) {
  struct fixture f = fixture_new();
  const struct str one = STR("one\0two\n"), none = STR("");
  cr_assert_not(holds(&f, one));
  cr_assert(cache_put(&f.cache, f.arena, key, one));
  cr_assert(holds(&f, one));
  cr_assert(cache_put(&f.cache, f.arena, key, none));
  cr_assert(holds(&f, none));
  cr_assert_eq(mode_of(f.cache.folder.p), 0700);
  cr_assert_eq(mode_of(f.file), 0600);
  fixture_free(&f);
}

// The driver looks for a NUL behind PTX; what lies behind in the arena is another's.
Test(cache, a_nul_follows) {
  struct fixture f = fixture_new();
  for (size_t n = 0; n < 8; n++) {
    struct str bytes = {"12345678", n}, got;
    cr_assert(cache_put(&f.cache, f.arena, key, bytes));
    cr_assert(cache_get(&f.cache, f.arena, key, &got));
    memset(arena_alloc(f.arena, 16, 1), 0x55, 16);
    cr_assert_eq(got.p[got.n], '\0', "%zu", n);
  }
  fixture_free(&f);
}

Test(cache, a_damaged_file_is_none) {
  struct fixture f = fixture_new();
  const struct str bytes = STR("bytes of a kernel");
  cr_assert(cache_put(&f.cache, f.arena, key, bytes));
  long size = 14 + 64 + 1 + (long)bytes.n;
  for (long at = 0; at < size; at++) { // any byte changed
    FILE *file = fopen(f.file, "r+b");
    cr_assert_neq(file, NULL);
    cr_assert_eq(fseek(file, at, SEEK_SET), 0);
    int c = getc(file);
    cr_assert_eq(fseek(file, at, SEEK_SET), 0);
    (void)putc(c ^ 1, file);
    (void)fflush(file);
    cr_assert_not(holds(&f, bytes), "byte %ld", at);
    cr_assert_eq(fseek(file, at, SEEK_SET), 0);
    (void)putc(c, file);
    (void)fclose(file);
  }
  cr_assert(holds(&f, bytes));
  for (long n = 0; n < size; n++) { // cut short
    cr_assert(cache_put(&f.cache, f.arena, key, bytes));
    cr_assert_eq(truncate(f.file, n), 0);
    cr_assert_not(holds(&f, bytes), "%ld bytes", n);
  }
  cr_assert(cache_put(&f.cache, f.arena, key, bytes));
  cr_assert(holds(&f, bytes));
  fixture_free(&f);
}

Test(cache, files_that_others_may_write_or_links_are_none) {
  struct fixture f = fixture_new();
  const struct str bytes = STR("bytes");
  char aside[400];
  cr_assert(cache_put(&f.cache, f.arena, key, bytes));
  cr_assert_eq(chmod(f.file, 0622), 0);
  cr_assert_not(holds(&f, bytes));
  cr_assert_eq(chmod(f.file, 0600), 0);
  cr_assert(holds(&f, bytes));
  cr_assert_eq(rename(f.file, tempdir_join(&f.dir, "aside", aside)), 0);
  cr_assert_eq(symlink(aside, f.file), 0);
  cr_assert_not(holds(&f, bytes));
  fixture_free(&f);
}

Test(cache, a_folder_that_others_may_write_is_not_used) {
  struct fixture f = fixture_new();
  struct str note;
  cr_assert(cache_put(&f.cache, f.arena, key, STR("bytes")));
  cr_assert_eq(chmod(f.cache.folder.p, 0770), 0);
  struct cache c = cache_open(f.arena, &note);
  cr_assert(str_ends(note, "is not used: others may write to it"), "%.*s", STR_FMT(note));
  cr_assert_eq(c.folder.n, 0);
  struct str bytes;
  cr_assert_not(cache_get(&c, f.arena, key, &bytes));
  cr_assert_not(cache_put(&c, f.arena, key, STR("bytes")));
  fixture_free(&f);
}

Test(cache, a_folder_that_cannot_be_made_is_said) {
  struct arena *a = arena_new(0);
  struct str note;
  setenv("STEPC_CACHE_DIR", "/nonexistent/cache", 1);
  cr_assert_eq(cache_open(a, &note).folder.n, 0);
  cr_assert(str_ends(note, "No such file or directory"), "%.*s", STR_FMT(note));
  arena_free(a);
}

Test(cache, lies_in_the_users_folders) {
  struct arena *a = arena_new(0);
  struct tempdir d = tempdir_new();
  struct str note;
  char path[400];
  unsetenv("STEPC_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", d.path, 1);
  cr_assert(str_is(cache_open(a, &note).folder, tempdir_join(&d, ".cache/stepc", path)));
  setenv("XDG_CACHE_HOME", tempdir_join(&d, "xdg", path), 1);
  cr_assert(str_is(cache_open(a, &note).folder, tempdir_join(&d, "xdg/stepc", path)));
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  cr_assert_eq(cache_open(a, &note).folder.n, 0);
  cr_assert_eq(note.n, 0, "no home is nothing to speak of");
  tempdir_remove(&d);
  arena_free(a);
}
