// Opening and reading safetensors files.
#include "file/safetensors.h"

#include "file/io.h"
#include "file/safetensors_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  const char *text;
  uint32_t bits;
} dtypes[N_ST_DTYPES] = {
#define ST_DTYPE(id, text, bits) {text, bits},
#include "file/dtypes.def"
#undef ST_DTYPE
};

const char *st_dtype_name(enum st_dtype t) {
  return dtypes[t].text;
}

uint32_t st_dtype_bits(enum st_dtype t) {
  return dtypes[t].bits;
}

void st_fail(struct st_error *err, steprt_status status, const char *fmt, ...) {
  err->status = status;
  va_list ap;
  va_start(ap, fmt);
  (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
  va_end(ap);
}

bool st_shape_bytes(const uint64_t *dim, uint32_t rank, enum st_dtype dtype,
                    uint64_t *numel, uint64_t *bytes) {
  uint64_t product =
      1; // of the non-zero dimensions: any later product of some dimensions fits as well
  bool empty = false;
  for (uint32_t i = 0; i < rank; i++) {
    empty = empty || dim[i] == 0;
    if (dim[i] != 0 && __builtin_mul_overflow(product, dim[i], &product)) {
      return false;
    }
  }
  uint64_t bits;
  if (product > INT64_MAX ||
      __builtin_mul_overflow(product, st_dtype_bits(dtype), &bits)) {
    return false;
  }
  *numel = empty ? 0 : product;
  *bytes = empty ? 0 : bits / 8;
  return empty || bits % 8 == 0;
}

// Reads length and JSON of the header. NULL: `err` is filled.
static char *read_header(int fd, uint64_t file_size, size_t *n, struct st_error *err) {
  unsigned char head[8];
  char buf[100];
  if (file_size < sizeof head) {
    st_fail(err, STEPRT_BAD_INPUT,
            "no safetensors file: %llu bytes, shorter than a header",
            (unsigned long long)file_size);
    return NULL;
  }
  int error = rt_pread_all(fd, head, sizeof head, 0);
  if (error != 0) {
    st_fail(err, STEPRT_IO, "%s", rt_io_text(error, buf, sizeof buf));
    return NULL;
  }
  uint64_t size = 0;
  for (int i = 7; i >= 0; i--) {
    size = size << 8 | head[i];
  }
  if (size > ST_MAX_HEADER || size > file_size - sizeof head) {
    st_fail(err, STEPRT_BAD_INPUT,
            size > ST_MAX_HEADER
                ? "no safetensors file: a header of %llu bytes (at most 100000000; file: "
                  "%llu)"
                : "a header of %llu bytes is longer than the file of %llu",
            (unsigned long long)size, (unsigned long long)file_size);
    return NULL;
  }
  char *json = malloc((size_t)size + 1);
  if (json == NULL) {
    st_fail(err, STEPRT_NO_MEMORY, "out of memory");
    return NULL;
  }
  error = rt_pread_all(fd, json, (size_t)size, sizeof head);
  if (error != 0) {
    st_fail(err, STEPRT_IO, "%s", rt_io_text(error, buf, sizeof buf));
    free(json);
    return NULL;
  }
  *n = (size_t)size;
  return json;
}

struct st_file *st_open(const char *path, struct st_error *err) {
  struct st_file *f = NULL;
  char *json = NULL;
  char buf[100];
  struct stat s;
  // O_NONBLOCK: opening a pipe must not wait for its writer; regular files do not care.
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &s) != 0) {
    st_fail(err, STEPRT_IO, "%s", rt_io_text(errno, buf, sizeof buf));
    goto fail;
  }
  if (!S_ISREG(s.st_mode)) {
    st_fail(err, STEPRT_IO, "%s",
            rt_io_text(S_ISDIR(s.st_mode) ? EISDIR : RT_IO_NOT_REGULAR, buf, sizeof buf));
    goto fail;
  }
  size_t n;
  json = read_header(fd, (uint64_t)s.st_size, &n, err);
  if (json == NULL) {
    goto fail;
  }
  f = st_parse(json, n, (uint64_t)s.st_size, err);
  if (f == NULL) {
    goto fail;
  }
  f->path = strdup(path);
  if (f->path == NULL) {
    st_fail(err, STEPRT_NO_MEMORY, "out of memory");
    goto fail;
  }
  f->fd = fd;
  free(json);
  return f;
fail:
  free(json);
  st_close(f);
  if (fd >= 0) {
    (void)close(fd);
  }
  return NULL;
}

void st_close(struct st_file *f) {
  if (f == NULL) {
    return;
  }
  if (f->fd >= 0) {
    (void)close(f->fd);
  }
  free(f->path);
  free(f->tensor);
  free(f->by_name);
  free(f->names);
  free(f);
}

const struct st_tensor *st_find(const struct st_file *f, const char *name) {
  uint32_t lo = 0, hi = f->n_tensors;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    const struct st_tensor *t = &f->tensor[f->by_name[mid]];
    int c = strcmp(t->name, name);
    if (c == 0) {
      return t;
    }
    if (c < 0) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return NULL;
}

steprt_status st_read(const struct st_file *f, const struct st_tensor *t, void *into,
                      struct st_error *err) {
  int error = rt_pread_all(f->fd, into, (size_t)t->bytes, t->begin);
  if (error != 0) {
    char buf[100];
    st_fail(err, STEPRT_IO, "%s", rt_io_text(error, buf, sizeof buf));
    return STEPRT_IO;
  }
  return STEPRT_OK;
}
