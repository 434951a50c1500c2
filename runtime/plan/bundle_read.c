// Bundles, read: sizes and digests checked, no link followed.
#include "plan/bundle.h"

#include "file/escape.h"
#include "file/io.h"
#include "file/sha256.h"
#include "plan/plan_json.h"
#include "plan/program_json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TEXT = 512 << 20, MAX_IMAGE = 256 << 20 };

struct bundle_file {
  struct rt_bundle bundle; // first: what the caller has
  struct rt_plan *plan;
  void **image; // by kernel
};

struct reader {
  struct bundle_file *b;
  int fd; // of the folder
  char *why;
  size_t n_why;
};

static steprt_status fail(struct reader *r, steprt_status s, const char *file,
                          const char *reason) {
  char shown[RT_IMAGE_NAME];
  (void)snprintf(r->why, r->n_why, "%s: %s",
                 rt_escape(shown, sizeof shown, file, strlen(file)), reason);
  return s;
}

static steprt_status fail_io(struct reader *r, const char *file, int error) {
  char buf[100];
  const char *reason = error == ELOOP ? "a symbolic link, which a bundle has none of"
                                      : rt_io_text(error, buf, sizeof buf);
  return fail(r, STEPRT_IO, file, reason);
}

// A regular file of at most `most` bytes, whole, from malloc; a NUL behind it, where the driver looks for the end of PTX.
static steprt_status read_file(struct reader *r, const char *file, uint64_t most,
                               char **out, uint64_t *n) {
  struct stat st;
  int fd = openat(r->fd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  *out = NULL;
  if (fd < 0) {
    return fail_io(r, file, errno);
  }
  int error = fstat(fd, &st) != 0           ? errno
              : !S_ISREG(st.st_mode)        ? RT_IO_NOT_REGULAR
              : (uint64_t)st.st_size > most ? EFBIG
                                            : 0;
  if (error == 0) {
    *n = (uint64_t)st.st_size;
    *out = malloc(*n + 1);
    error = *out == NULL ? ENOMEM : rt_pread_all(fd, *out, *n, 0);
  }
  if (error == 0) {
    (*out)[*n] = '\0';
  }
  (void)close(fd);
  if (error != 0) {
    free(*out);
    *out = NULL;
    return error == ENOMEM ? fail(r, STEPRT_NO_MEMORY, file, "out of memory")
                           : fail_io(r, file, error);
  }
  return STEPRT_OK;
}

static steprt_status read_image(struct reader *r, uint32_t kernel,
                                const struct rt_image_ref *ref) {
  char *bytes, hex[65];
  uint64_t n;
  if (*ref->file == '\0') {
    return fail(r, STEPRT_BAD_INPUT, r->b->bundle.program->kernel[kernel].name,
                "this kernel has no image");
  }
  if (ref->bytes > MAX_IMAGE) {
    return fail(r, STEPRT_BAD_INPUT, ref->file, "an image has at most 256 MiB");
  }
  steprt_status s = read_file(r, ref->file, MAX_IMAGE, &bytes, &n);
  if (s != STEPRT_OK) {
    return s;
  }
  r->b->image[kernel] = bytes;
  struct sha256 sha;
  sha256_init(&sha);
  sha256_add(&sha, bytes, n);
  sha256_hex(&sha, hex);
  if (n != ref->bytes || strcmp(hex, ref->sha256) != 0) {
    return fail(r, STEPRT_BAD_INPUT, ref->file,
                n != ref->bytes ? "its size is not what program.json says"
                                : "its digest is not what program.json says");
  }
  rt_program_set_image(r->b->bundle.program, kernel, bytes, n);
  return STEPRT_OK;
}

// Puts the file's name before a reason that came from within its text.
static steprt_status name_file(struct reader *r, const char *file, steprt_status s) {
  char reason[400];
  (void)snprintf(reason, sizeof reason, "%s", r->why);
  (void)snprintf(r->why, r->n_why, "%s: %s", file, reason);
  return s;
}

static steprt_status read_program(struct reader *r, const struct rt_image_ref **images) {
  char *text;
  uint64_t n;
  steprt_status s = read_file(r, "program.json", MAX_TEXT, &text, &n);
  if (s != STEPRT_OK) {
    return s;
  }
  s = rt_program_from_json(text, n, &r->b->bundle.program, images, r->why, r->n_why);
  free(text);
  if (s != STEPRT_OK) {
    return name_file(r, "program.json", s);
  }
  return strncmp(r->b->bundle.program->target, "cuda", 4) == 0
             ? STEPRT_OK
             : fail(r, STEPRT_BAD_INPUT, "program.json",
                    "it is for the CPU, whose machine code lives in the process that "
                    "made it; a bundle is for CUDA");
}

static steprt_status read_plan(struct reader *r) {
  char *text;
  uint64_t n;
  steprt_status s = read_file(r, "plan.json", MAX_TEXT, &text, &n);
  if (s != STEPRT_OK) {
    return s;
  }
  s = rt_plan_from_json(text, n, &r->b->plan, r->why, r->n_why);
  free(text);
  if (s == STEPRT_OK) {
    s = rt_plan_check(r->b->plan, r->b->bundle.program, r->why, r->n_why);
    s = s == STEPRT_BAD_PROGRAM ? STEPRT_BAD_INPUT : s;
  }
  if (s != STEPRT_OK) {
    return name_file(r, "plan.json", s);
  }
  r->b->bundle.program->plan = r->b->plan;
  return STEPRT_OK;
}

static steprt_status read_all(struct reader *r) {
  const struct rt_image_ref *images;
  steprt_status s = read_program(r, &images);
  if (s != STEPRT_OK) {
    return s;
  }
  uint32_t n = r->b->bundle.program->n_kernels;
  r->b->image = calloc((size_t)n + 1, sizeof *r->b->image);
  if (r->b->image == NULL) {
    return fail(r, STEPRT_NO_MEMORY, "program.json", "out of memory");
  }
  for (uint32_t i = 0; i < n && s == STEPRT_OK; i++) {
    s = read_image(r, i, &images[i]);
  }
  return s == STEPRT_OK ? read_plan(r) : s;
}

steprt_status rt_bundle_read(const char *dir, struct rt_bundle **out, char *why,
                             size_t n_why) {
  *out = NULL;
  struct reader r = {.b = calloc(1, sizeof *r.b), .why = why, .n_why = n_why};
  if (r.b == NULL) {
    return fail(&r, STEPRT_NO_MEMORY, dir, "out of memory");
  }
  r.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  steprt_status s = r.fd < 0 ? fail_io(&r, dir, errno) : read_all(&r);
  if (r.fd >= 0) {
    (void)close(r.fd);
  }
  if (s == STEPRT_OK) {
    *out = &r.b->bundle;
  } else {
    rt_bundle_free(&r.b->bundle);
  }
  return s;
}

void rt_bundle_free(struct rt_bundle *b) {
  if (b == NULL) {
    return;
  }
  struct bundle_file *f = (struct bundle_file *)b;
  for (uint32_t i = 0; f->image != NULL && i < b->program->n_kernels; i++) {
    free(f->image[i]);
  }
  free(f->image);
  rt_program_free(b->program);
  rt_plan_free(f->plan);
  free(f);
}
