// Texts in and out.
#include "tool/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(struct str *why) {
  *why = str_of(strerror(errno));
  return false;
}

bool file_read_stdin(struct arena *a, struct str *text, struct str *why) {
  enum { MOST = 64 << 20 };
  struct buf b = buf_new(a);
  char piece[1 << 14];
  for (;;) {
    ssize_t n = read(0, piece, sizeof piece);
    if (n == 0) {
      *text = buf_done(&b);
      return true;
    }
    if (n < 0 && errno != EINTR) {
      return failed(why);
    }
    if (n > 0) {
      buf_put(&b, piece, (size_t)n);
    }
    if (b.n > MOST) {
      *why = STR("more than 64 MB of text");
      return false;
    }
  }
}

static bool write_all(int fd, struct str text) {
  while (text.n != 0) {
    ssize_t n = write(fd, text.p, text.n);
    if (n < 0 && errno != EINTR) {
      return false;
    }
    if (n > 0) {
      text.p += n;
      text.n -= (size_t)n;
    }
  }
  return true;
}

// The file that PATH names, through links; PATH itself where it is new.
static const char *resolve(struct arena *a, struct str path) {
  char real[PATH_MAX];
  const char *name = str_cstr(a, path);
  return realpath(name, real) != NULL ? str_cstr(a, str_of(real)) : name;
}

// NAME.XXXXXX made beside NAME, to become it; `temporary` is what it is called. -1: errno says why not.
static int open_temporary(struct arena *a, const char *name, char **temporary) {
  size_t length = strlen(name);
  *temporary = arena_alloc(a, length + sizeof ".XXXXXX", 1);
  memcpy(*temporary, name, length);
  memcpy(*temporary + length, ".XXXXXX", sizeof ".XXXXXX");
  return mkostemp(*temporary, O_CLOEXEC);
}

bool file_replace(struct arena *a, struct str path, struct str text, struct str *why) {
  const char *name = resolve(a, path);
  struct stat old;
  bool exists = stat(name, &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    *why = STR("not a regular file");
    return false;
  }
  char *temporary = NULL;
  int fd = open_temporary(a, name, &temporary);
  if (fd < 0) {
    return failed(why);
  }
  mode_t mask = umask(0);
  (void)umask(mask);
  mode_t mode = exists ? old.st_mode & 0777u : 0666u & ~mask;
  bool ok = write_all(fd, text) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
  int error = errno;
  ok = close(fd) == 0 && ok;
  if (ok && rename(temporary, name) == 0) {
    return true;
  }
  errno = ok ? errno : error;
  (void)failed(why);
  (void)unlink(temporary);
  return false;
}

bool file_can_write(struct arena *a, struct str path, struct str *why) {
  const char *name = resolve(a, path);
  struct stat st;
  if (stat(name, &st) == 0 && !S_ISREG(st.st_mode)) {
    *why = STR("not a regular file");
    return false;
  }
  char *temporary = NULL;
  int fd = open_temporary(a, name, &temporary);
  if (fd < 0) {
    return failed(why);
  }
  (void)close(fd);
  (void)unlink(temporary);
  return true;
}

bool file_make_folder(struct arena *a, struct str path, struct str *why) {
  const char *name = str_cstr(a, path);
  struct stat st;
  if (mkdir(name, 0777) == 0 ||
      (errno == EEXIST && stat(name, &st) == 0 && S_ISDIR(st.st_mode))) {
    return true;
  }
  return failed(why);
}
