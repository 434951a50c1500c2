// Retrying reads and writes, and replacing a file as a whole.
//
// The order of commit is the usual one for crash safety: data to the disk, name into the folder, folder to the
// disk (a rename without fsync has lost data: riffle #589, ClickHouse #111414).
#include "file/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  PIECE = 64 << 20
}; // one call moves at most this much: a signal or a failure shows within a piece

const char *rt_io_text(int error, char *buf, size_t n) {
  return error == RT_IO_END ? "the file ended early: it was cut while it was read"
         : error == RT_IO_NOT_REGULAR
             ? "not a regular file"
             : strerror_r(error, buf, n); // GNU: perhaps not in `buf`
}

int rt_pread_all(int fd, void *into, size_t n, uint64_t at) {
  char *p = into;
  while (n != 0) {
    ssize_t got = pread(fd, p, n < PIECE ? n : PIECE, (off_t)at);
    if (got == 0) {
      return RT_IO_END;
    }
    if (got < 0 && errno != EINTR) {
      return errno;
    }
    if (got > 0) {
      p += got;
      n -= (size_t)got;
      at += (uint64_t)got;
    }
  }
  return 0;
}

int rt_write_all(int fd, const void *from, size_t n) {
  const char *p = from;
  while (n != 0) {
    ssize_t put = write(fd, p, n < PIECE ? n : PIECE);
    if (put == 0) {
      return EIO; // a regular file never does this
    }
    if (put < 0 && errno != EINTR) {
      return errno;
    }
    if (put > 0) {
      p += put;
      n -= (size_t)put;
    }
  }
  return 0;
}

// Splits the path, with links resolved, into an open folder and a name in it.
static int open_folder(struct rt_new_file *f, const char *path, bool is_link) {
  char *whole = is_link ? realpath(path, NULL) : strdup(path);
  if (whole == NULL) {
    return errno;
  }
  int error = 0;
  char *slash = strrchr(whole, '/');
  const char *base = slash == NULL ? whole : slash + 1;
  if (strlen(base) >= sizeof f->base) {
    error = ENAMETOOLONG;
  } else if (*base == '\0') {
    error = *whole == '\0' ? ENOENT : EISDIR;
  } else {
    memcpy(f->base, base, strlen(base) + 1);
    if (slash != NULL) {
      slash[slash == whole ? 1 : 0] = '\0'; // "/name" lies in "/"
    }
    f->dir = open(slash == NULL ? "." : whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    error = f->dir < 0 ? errno : 0;
  }
  free(whole);
  return error;
}

static uint64_t random_bits(void) {
  uint64_t bits;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits) {
    struct timespec t; // early boot or an old kernel; O_EXCL still keeps names apart
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    bits = (uint64_t)t.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid();
  }
  return bits;
}

// O_EXCL refuses whatever stands under that name, a planted link too.
static int create_temp(struct rt_new_file *f) {
  for (int attempt = 0; attempt < 100; attempt++) {
    (void)snprintf(f->temp, sizeof f->temp, ".stepc-%016llx.tmp",
                   (unsigned long long)random_bits());
    // Mode 0666 lets the kernel apply umask and the folder's default ACL; umask(2) cannot be read without
    // changing it under other threads.
    f->fd = openat(f->dir, f->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   0666);
    if (f->fd >= 0 || errno != EEXIST) {
      return f->fd >= 0 ? 0 : errno;
    }
  }
  return EEXIST;
}

int rt_new_file_open(struct rt_new_file *f, const char *path) {
  *f = (struct rt_new_file){.dir = -1, .fd = -1};
  struct stat link, old;
  bool there = lstat(path, &link) == 0, is_link = there && S_ISLNK(link.st_mode);
  if (there && stat(path, &old) != 0) {
    return errno; // a dangling link
  }
  if (there && !S_ISREG(old.st_mode)) {
    return S_ISDIR(old.st_mode) ? EISDIR : RT_IO_NOT_REGULAR;
  }
  int error = open_folder(f, path, is_link);
  if (error == 0) {
    error = create_temp(f);
  }
  if (error == 0 && there && fchmod(f->fd, old.st_mode & 0777) != 0) {
    error = errno;
  }
  if (error != 0) {
    rt_new_file_discard(f);
  }
  return error;
}

static int keep_or_discard(struct rt_new_file *f, int error) {
  if (error != 0) {
    rt_new_file_discard(f);
  }
  return error;
}

int rt_new_file_reserve(struct rt_new_file *f, uint64_t bytes) {
  if (bytes == 0 || fallocate(f->fd, 0, 0, (off_t)bytes) == 0) {
    return 0;
  }
  bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT || errno == EIO;
  return full ? keep_or_discard(f, errno) : 0;
}

int rt_new_file_write(struct rt_new_file *f, const void *from, size_t n) {
  return keep_or_discard(f, rt_write_all(f->fd, from, n));
}

int rt_new_file_commit(struct rt_new_file *f) {
  if (fsync(f->fd) != 0) {
    return keep_or_discard(f, errno);
  }
  int fd = f->fd;
  f->fd = -1;
  if (close(fd) != 0 || renameat(f->dir, f->temp, f->dir, f->base) != 0) {
    int error = errno;
    (void)unlinkat(f->dir, f->temp, 0);
    return keep_or_discard(f, error);
  }
  // Some file systems cannot sync a folder and say EINVAL.
  int error = fsync(f->dir) != 0 && errno != EINVAL ? errno : 0;
  rt_new_file_discard(f);
  return error;
}

void rt_new_file_discard(struct rt_new_file *f) {
  if (f->fd >= 0) {
    (void)close(f->fd);
  }
  if (f->dir >= 0) {
    if (f->fd >= 0) {
      (void)unlinkat(f->dir, f->temp, 0);
    }
    (void)close(f->dir);
  }
  f->fd = f->dir = -1;
}
