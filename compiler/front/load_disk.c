// Reading spec files from disk.
#include "front/load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t read_all(int fd, char *buf, size_t cap) {
  size_t n = 0;
  while (n < cap) {
    ssize_t got = read(fd, buf + n, cap - n);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return SIZE_MAX;
    }
    if (got == 0) {
      break;
    }
    n += (size_t)got;
  }
  return n;
}

static bool refuse(struct str *why, struct arena *a, int error) {
  char text[256];
  *why = str_copy(a, str_of(strerror_r(error, text, sizeof text)));
  return false;
}

// The buffer is allocated before the file is opened: running out of memory must not leave it open.
static bool read_disk(void *ctx, struct arena *a, struct str path, struct str *text,
                      struct str *why) {
  (void)ctx;
  const char *name = str_cstr(a, path);
  struct stat st;
  if (stat(name, &st) != 0) {
    return refuse(why, a, errno);
  }
  if (S_ISDIR(st.st_mode)) {
    return refuse(why, a, EISDIR);
  }
  bool is_sized = S_ISREG(st.st_mode) && st.st_size >= 0 && st.st_size < LOAD_MAX_FILE;
  size_t cap = (is_sized ? (size_t)st.st_size : (size_t)LOAD_MAX_FILE) + 1;
  char *buf = arena_alloc(a, cap, 1);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return refuse(why, a, errno);
  }
  size_t n = read_all(fd, buf, cap);
  int error = errno;
  (void)close(fd);
  if (n == SIZE_MAX) {
    return refuse(why, a, error);
  }
  *text = (struct str){buf, n};
  return true;
}

struct file_reader file_reader_disk(void) {
  return (struct file_reader){.read = read_disk};
}
