// Texts in and out.
#include "tool/file.h"

#include "file/io.h"

#include <errno.h>
#include <fcntl.h>
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

static bool say(struct arena *a, int error, struct str *why) {
  char buf[100];
  *why = error == 0 ? STR("") : str_copy(a, str_of(rt_io_text(error, buf, sizeof buf)));
  return error == 0;
}

// The buffer is allocated before the file is opened: running out of memory must not leave it open.
bool file_read(struct arena *a, struct str path, struct str *text, struct str *why) {
  enum { MOST = 1 << 30 };
  const char *name = str_cstr(a, path);
  struct stat st;
  if (stat(name, &st) != 0) {
    return failed(why);
  }
  if (!S_ISREG(st.st_mode) || st.st_size > MOST) {
    return say(a,
               S_ISDIR(st.st_mode)   ? EISDIR
               : S_ISREG(st.st_mode) ? EFBIG
                                     : RT_IO_NOT_REGULAR,
               why);
  }
  size_t n = (size_t)st.st_size;
  char *bytes = arena_alloc(a, n + 1, 1);
  int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return failed(why);
  }
  int error = rt_pread_all(fd, bytes, n, 0);
  (void)close(fd);
  *text = (struct str){bytes, n};
  return say(a, error, why);
}

bool file_replace(struct arena *a, struct str path, struct str text, struct str *why) {
  struct rt_new_file f;
  int error = rt_new_file_open(&f, str_cstr(a, path));
  if (error == 0) {
    error = rt_new_file_write(&f, text.p, text.n);
  }
  if (error == 0) {
    error = rt_new_file_commit(&f);
  }
  return say(a, error, why);
}

bool file_can_write(struct arena *a, struct str path, struct str *why) {
  struct rt_new_file f;
  int error = rt_new_file_open(&f, str_cstr(a, path));
  if (error == 0) {
    rt_new_file_discard(&f);
  }
  return say(a, error, why);
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

static bool is_same_node(const char *x, const char *y) {
  struct stat a, b;
  return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static const char *folder_of(struct arena *a, const char *path) {
  return str_fmt(a, "%.*s.", (int)(last_part(path) - path), path).p; // "x/.", or "."
}

bool file_is_same(struct arena *a, const char *x, const char *y) {
  return is_same_node(x, y) || (strcmp(last_part(x), last_part(y)) == 0 &&
                                is_same_node(folder_of(a, x), folder_of(a, y)));
}
