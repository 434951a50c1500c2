// Any bytes as a safetensors file: refused with a message, or its tensors tile the data and can be read.
#include "file/safetensors.h"
#include "fuzz/fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(bool ok) {
  if (!ok) {
    abort();
  }
}

static void check_file(const struct st_file *f, const uint8_t *data, size_t size) {
  uint64_t bytes = 0;
  struct st_error err;
  for (uint32_t i = 0; i < f->n_tensors; i++) {
    const struct st_tensor *t = &f->tensor[i];
    check(t->rank <= ST_MAX_RANK && t->begin >= 8 && t->begin + t->bytes <= size);
    check(st_find(f, t->name) == t);
    char *into = malloc((size_t)t->bytes + 1);
    check(into != NULL && st_read(f, t, into, &err) == STEPRT_OK);
    check(memcmp(into, data + t->begin, (size_t)t->bytes) == 0);
    free(into);
    bytes += t->bytes;
  }
  uint64_t header;
  memcpy(&header, data, sizeof header);
  check(bytes + 8 + header == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = memfd_create("fuzz", MFD_CLOEXEC);
  check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  char path[64];
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  struct st_error err;
  struct st_file *f = st_open(path, &err);
  if (f != NULL) {
    check_file(f, data, size);
  } else {
    check(err.status == STEPRT_BAD_INPUT && err.text[0] != '\0');
  }
  st_close(f);
  (void)close(fd);
  return 0;
}
