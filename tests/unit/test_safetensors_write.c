// The safetensors writer: what it writes reads back, and a failure at any call leaves the old file and nothing else.
#include "file/io.h"
#include "file/safetensors.h"
#include "random.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 12, MOST_BYTES = 8 * 6 * 6 * 6 };

static uint32_t random_tensors(uint64_t *seed, struct st_out *out, char (*names)[32],
                               unsigned char *data) {
  uint32_t n = (uint32_t)random_below(seed, MANY + 1);
  for (uint32_t i = 0; i < n; i++) {
    (void)snprintf(names[i], 32, "%s.%u\"\\\n\x01\xc3\xa9", i % 2 != 0 ? "w" : "b", i);
    out[i] = (struct st_out){.name = names[i], .data = data + (size_t)i * MOST_BYTES};
    out[i].dtype = (enum st_dtype)random_below(seed, N_ST_DTYPES);
    out[i].rank = (uint32_t)random_below(seed, 4);
    for (uint32_t k = 0; k < out[i].rank; k++) {
      out[i].dim[k] = random_below(seed, 7);
    }
    if (out[i].rank == 0 && st_dtype_bits(out[i].dtype) < 8) {
      out[i].dtype = ST_DT_F32;
    } else if (st_dtype_bits(out[i].dtype) < 8) {
      out[i].dim[0] = 4; // whole bytes
    }
  }
  return n;
}

Test(safetensors_write, random_tensors_read_back) {
  struct tempdir d = tempdir_new();
  char path[400], names[MANY][32];
  unsigned char *data = malloc(MANY * MOST_BYTES), *back = malloc(MOST_BYTES);
  for (size_t i = 0; i < MANY * MOST_BYTES; i++) {
    data[i] = (unsigned char)(i * 131 >> 3);
  }
  tempdir_join(&d, "x.safetensors", path);
  uint64_t seed = 7;
  for (int round = 0; round < 100; round++) {
    struct st_out out[MANY];
    struct st_error err;
    uint32_t n = random_tensors(&seed, out, names, data);
    cr_assert_eq(st_write(path, out, n, &err), STEPRT_OK, "%s", err.text);
    struct st_file *f = st_open(path, &err);
    cr_assert_not_null(f, "%s", err.text);
    cr_assert_eq(f->n_tensors, n);
    for (uint32_t i = 0; i < n; i++) {
      const struct st_tensor *t = st_find(f, out[i].name);
      cr_assert(t != NULL && t->dtype == out[i].dtype && t->rank == out[i].rank);
      cr_assert_eq(memcmp(t->dim, out[i].dim, sizeof t->dim), 0);
      cr_assert_eq(st_read(f, t, back, &err), STEPRT_OK);
      cr_assert_eq(memcmp(back, out[i].data, t->bytes), 0);
      uint32_t bytes = st_dtype_bits(t->dtype) / 8;
      cr_assert(bytes == 0 || t->begin % bytes == 0, "an element across its alignment");
    }
    st_close(f);
  }
  cr_assert_eq(tempdir_count(&d), 1);
  free(data);
  free(back);
  tempdir_remove(&d);
}

Test(safetensors_write, same_tensors_in_any_order_give_the_same_bytes) {
  struct tempdir d = tempdir_new();
  char path[2][400], bytes[2][1000];
  float x[4] = {1, 2, 3, 4};
  struct st_out ab[2] = {{"a", ST_DT_BF16, 1, {4}, x}, {"b", ST_DT_F32, 2, {2, 2}, x}};
  struct st_out ba[2] = {ab[1], ab[0]};
  struct st_error err;
  cr_assert_eq(st_write(tempdir_join(&d, "1", path[0]), ab, 2, &err), STEPRT_OK);
  cr_assert_eq(st_write(tempdir_join(&d, "2", path[1]), ba, 2, &err), STEPRT_OK);
  size_t n[2];
  for (int i = 0; i < 2; i++) {
    FILE *f = fopen(path[i], "rb");
    n[i] = fread(bytes[i], 1, sizeof bytes[i], f);
    (void)fclose(f);
  }
  cr_assert(n[0] == n[1] && memcmp(bytes[0], bytes[1], n[0]) == 0);
  cr_assert_eq((n[0] - 24) % 8, 0, "header not padded");
  tempdir_remove(&d);
}

Test(safetensors_write, refuses_what_the_format_cannot_hold) {
  struct tempdir d = tempdir_new();
  char path[400];
  tempdir_join(&d, "x", path);
  struct st_error err;
  const struct {
    struct st_out t[2];
    uint32_t n;
    const char *message;
  } cases[] = {
      {{{"a", ST_DT_U8, 1, {0}, NULL}, {"a", ST_DT_F32, 1, {0}, NULL}},
       2,
       "tensor `a`: the name stands twice"},
      {{{"__metadata__", ST_DT_U8, 1, {0}, NULL}},
       1,
       "tensor `__metadata__`: the format keeps this name for itself"},
      {{{"\xff", ST_DT_U8, 1, {0}, NULL}}, 1, "tensor `\\xff`: the name is no UTF-8"},
      {{{"a", ST_DT_U8, 2, {1ull << 40, 1ull << 40}, NULL}},
       1,
       "tensor `a`: its shape is too large"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cr_assert_eq(st_write(path, cases[i].t, cases[i].n, &err), STEPRT_BAD_ARGUMENT);
    cr_assert_str_eq(err.text, cases[i].message, "%s", err.text);
  }
  cr_assert_eq(tempdir_count(&d), 0);
  tempdir_remove(&d);
}

// ---- failures: the linker sends the library's calls here; call number `fail_at` fails
static int fail_at, call, fail_errno;

static bool fails(void) {
  if (++call == fail_at) {
    errno = fail_errno;
    return true;
  }
  return false;
}

#define WRAP(type, name, params, args)                                                   \
  type __real_##name params;                                                             \
  type __wrap_##name params;                                                             \
  type __wrap_##name params {                                                            \
    return fails() ? -1 : __real_##name args;                                            \
  }
WRAP(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(int, renameat, (int a, const char *b, int c, const char *d), (a, b, c, d))

ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n) {
  return fails() ? -1 : __real_write(fd, from, n > 64 ? 64 : n); // always short
}

static float value_in(const char *path) {
  struct st_error err;
  float x[256];
  struct st_file *f = st_open(path, &err);
  cr_assert_not_null(f, "%s", err.text);
  cr_assert_eq(st_read(f, st_find(f, "x"), x, &err), STEPRT_OK);
  st_close(f);
  return x[0];
}

// For every call k of a write: when it fails, the old file is there whole and nothing else is. The sync of the
// folder comes last, when the new file is in place.
static void fail_at_every_call(int error) {
  struct tempdir d = tempdir_new();
  char path[400];
  tempdir_join(&d, "x", path);
  float was[256] = {1}, now[256] = {2};
  struct st_out old = {"x", ST_DT_F32, 1, {256}, was},
                new = {"x", ST_DT_F32, 1, {256}, now};
  struct st_error err;
  bool done = false;
  int late = 0;
  for (int k = 1; !done; k++) {
    cr_assert_lt(k, 100);
    fail_at = 0;
    cr_assert_eq(st_write(path, &old, 1, &err), STEPRT_OK, "%s", err.text);
    fail_at = k;
    fail_errno = error;
    call = 0;
    steprt_status s = st_write(path, &new, 1, &err);
    done = call < k; // the failure did not come to pass
    float value = value_in(path);
    late += s != STEPRT_OK && value == 2 ? 1 : 0;
    cr_assert(s != STEPRT_OK || value == 2);
    cr_assert(s == STEPRT_OK || strcmp(err.text, strerror(error)) == 0, "%s", err.text);
    cr_assert_eq(tempdir_count(&d), 1, "call %d left a file", k);
  }
  cr_assert_leq(late, 1, "only the sync of the folder may fail behind the rename");
  tempdir_remove(&d);
}

Test(safetensors_write, a_full_disk_at_any_call_keeps_the_old_file) {
  fail_at_every_call(ENOSPC);
}

Test(safetensors_write, a_broken_disk_at_any_call_keeps_the_old_file) {
  fail_at_every_call(EIO);
}

Test(safetensors_write, interrupted_writes_are_retried) {
  struct tempdir d = tempdir_new();
  char path[400];
  float x[256] = {3};
  struct st_out out = {"x", ST_DT_F32, 1, {256}, x};
  struct st_error err;
  fail_at = 5; // a write: the file is new, so that nothing but fallocate comes before
  fail_errno = EINTR;
  cr_assert_eq(st_write(tempdir_join(&d, "x", path), &out, 1, &err), STEPRT_OK);
  cr_assert_eq(value_in(path), 3);
  tempdir_remove(&d);
}

Test(safetensors_write, a_file_size_limit_keeps_the_old_file) {
  struct tempdir d = tempdir_new();
  char path[400];
  static const float x[4096] = {5};
  struct st_out small = {"x", ST_DT_F32, 1, {256}, x},
                big = {"x", ST_DT_F32, 1, {4096}, x};
  struct st_error err;
  cr_assert_eq(st_write(tempdir_join(&d, "x", path), &small, 1, &err), STEPRT_OK);
  (void)signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = {4096, RLIM_INFINITY};
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  cr_assert_eq(st_write(path, &big, 1, &err), STEPRT_IO);
  cr_assert_str_eq(err.text, strerror(EFBIG), "%s", err.text);
  limit.rlim_cur = RLIM_INFINITY;
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  cr_assert_eq(value_in(path), 5);
  cr_assert_eq(tempdir_count(&d), 1);
  tempdir_remove(&d);
}

Test(safetensors_write, paths_that_cannot_be_written) {
  struct tempdir d = tempdir_new();
  char path[400];
  tempdir_write(&d, "file", "x", 1);
  const struct {
    const char *name;
    int error;
  } cases[] = {
      {"file/x", ENOTDIR}, {"none/x", ENOENT}, {"", EISDIR}, {"pipe", RT_IO_NOT_REGULAR}};
  cr_assert_eq(mkfifo(tempdir_join(&d, "pipe", path), 0600), 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct st_error err;
    cr_assert_eq(st_write(tempdir_join(&d, cases[i].name, path), NULL, 0, &err),
                 STEPRT_IO);
    char buf[100];
    cr_assert_str_eq(err.text, rt_io_text(cases[i].error, buf, sizeof buf), "%s: %s",
                     cases[i].name, err.text);
  }
  cr_assert_eq(tempdir_count(&d), 2);
  tempdir_remove(&d);
}

Test(safetensors_write, links_are_followed_and_access_bits_kept) {
  struct tempdir d = tempdir_new();
  char file[400], link[400];
  struct st_error err;
  struct stat s;
  (void)umask(022);
  cr_assert_eq(st_write(tempdir_join(&d, "x", file), NULL, 0, &err), STEPRT_OK);
  cr_assert_eq(stat(file, &s), 0);
  cr_assert_eq(s.st_mode & 0777, 0644);
  cr_assert_eq(chmod(file, 0600), 0);
  cr_assert_eq(symlink("x", tempdir_join(&d, "l", link)), 0);
  uint8_t one = 1;
  struct st_out out = {"t", ST_DT_U8, 1, {1}, &one};
  cr_assert_eq(st_write(link, &out, 1, &err), STEPRT_OK);
  cr_assert_eq(lstat(link, &s), 0);
  cr_assert(S_ISLNK(s.st_mode));
  cr_assert_eq(stat(file, &s), 0);
  cr_assert_eq(s.st_mode & 0777, 0600);
  cr_assert_gt(s.st_size, 16);
  tempdir_remove(&d);
}
