// Bundles, written: files into a new folder, the folder renamed into its place.
#include "plan/bundle.h"

#include "file/escape.h"
#include "file/io.h"
#include "plan/plan_json.h"
#include "plan/program_json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH = 4096 };

struct writer {
  const struct steprt_program *program;
  char dir[MAX_PATH];  // without slashes at its end
  char temp[MAX_PATH]; // the folder while it is filled; "": none
  int fd;              // of `temp`
  char *why;
  size_t n_why;
};

static steprt_status fail(struct writer *w, steprt_status s, const char *what,
                          const char *name, const char *reason) {
  char shown[200];
  (void)snprintf(w->why, w->n_why, "%s `%s`: %s", what,
                 rt_escape(shown, sizeof shown, name, strlen(name)), reason);
  return s;
}

static steprt_status fail_io(struct writer *w, const char *what, const char *name,
                             int error) {
  char buf[100];
  return fail(w, STEPRT_IO, what, name, rt_io_text(error, buf, sizeof buf));
}

static bool is_bundle_file(const char *name) {
  const char *dot = strrchr(name, '.');
  return strcmp(name, "program.json") == 0 || strcmp(name, "plan.json") == 0 ||
         (dot != NULL && (strcmp(dot, ".cubin") == 0 || strcmp(dot, ".ptx") == 0));
}

// Calls `fn` for every file of a folder that a bundle may have. False: there is another, or no folder.
static bool each_file(const char *dir, int (*fn)(int fd, const char *name)) {
  bool only = true;
  DIR *d = opendir(dir);
  for (const struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL;
       e = readdir(d)) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
      continue;
    }
    only = is_bundle_file(e->d_name) && fn(dirfd(d), e->d_name) == 0 && only;
  }
  if (d != NULL) {
    (void)closedir(d);
  }
  return d != NULL && only;
}

static int is_regular(int fd, const char *name) {
  struct stat st;
  return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) ? 0 : -1;
}

static int remove_file(int fd, const char *name) {
  return unlinkat(fd, name, 0);
}

static void remove_folder(const char *dir) {
  (void)each_file(dir, remove_file);
  (void)rmdir(dir);
}

static bool is_bundle(const char *dir) {
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  bool whole = fd >= 0 && is_regular(fd, "program.json") == 0 &&
               is_regular(fd, "plan.json") == 0 && each_file(dir, is_regular);
  if (fd >= 0) {
    (void)close(fd);
  }
  return whole;
}

// There is no bundle in its way but one to be replaced.
static steprt_status check_place(struct writer *w, bool *replaces) {
  struct stat st;
  *replaces = false;
  if (lstat(w->dir, &st) != 0) {
    return errno == ENOENT ? STEPRT_OK : fail_io(w, "cannot write", w->dir, errno);
  }
  *replaces = is_bundle(w->dir);
  return *replaces ? STEPRT_OK
                   : fail(w, STEPRT_IO, "cannot write", w->dir,
                          "something stands there that is no bundle");
}

static steprt_status check_program(struct writer *w, const struct steprt_program *p) {
  char file[RT_IMAGE_NAME];
  if (p->target == NULL || p->plan == NULL) {
    return fail(w, STEPRT_BAD_ARGUMENT, "cannot write", w->dir,
                "the program has no target or no plan");
  }
  if (strncmp(p->target, "cuda", 4) != 0) {
    return fail(w, STEPRT_BAD_ARGUMENT, "cannot write", w->dir,
                "machine code for the CPU lives in the process that made it; a bundle is "
                "of a program for CUDA");
  }
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    if (!rt_image_name(&p->kernel[i], file)) {
      return fail(w, STEPRT_BAD_ARGUMENT, "no image that a file may hold for kernel",
                  p->kernel[i].name == NULL ? "" : p->kernel[i].name,
                  "it was not compiled, or its name is no identifier");
    }
  }
  return STEPRT_OK;
}

static steprt_status write_file(struct writer *w, const char *name, const void *bytes,
                                uint64_t n) {
  int fd =
      openat(w->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) {
    return errno == EEXIST ? fail(w, STEPRT_BAD_ARGUMENT, "cannot write", name,
                                  "two kernels have this name")
                           : fail_io(w, "cannot write", name, errno);
  }
  int error = rt_write_all(fd, bytes, n);
  error = error == 0 && fsync(fd) != 0 ? errno : error;
  error = close(fd) != 0 && error == 0 ? errno : error;
  return error == 0 ? STEPRT_OK : fail_io(w, "cannot write", name, error);
}

static steprt_status write_text(struct writer *w, const char *name, char *text,
                                uint64_t n) {
  steprt_status s = text == NULL
                        ? fail(w, STEPRT_NO_MEMORY, "cannot write", name, "out of memory")
                        : write_file(w, name, text, n);
  free(text);
  return s;
}

static steprt_status write_files(struct writer *w) {
  const struct steprt_program *p = w->program;
  uint64_t n;
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    char file[RT_IMAGE_NAME];
    (void)rt_image_name(&p->kernel[i], file);
    steprt_status s = write_file(w, file, p->kernel[i].image, p->kernel[i].image_bytes);
    if (s != STEPRT_OK) {
      return s;
    }
  }
  char *text = rt_plan_to_json(p->plan, &n);
  steprt_status s = write_text(w, "plan.json", text, n);
  if (s != STEPRT_OK) {
    return s;
  }
  text = rt_program_to_json(p, &n);
  return write_text(w, "program.json", text, n);
}

static int sync_parent(const char *dir) {
  char parent[MAX_PATH];
  (void)snprintf(parent, sizeof parent, "%s", dir);
  char *slash = strrchr(parent, '/');
  if (slash != NULL) {
    slash[slash == parent ? 1 : 0] = '\0';
  }
  int fd = open(slash == NULL ? "." : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int error = fd < 0 || (fsync(fd) != 0 && errno != EINVAL) ? errno : 0;
  if (fd >= 0) {
    (void)close(fd);
  }
  return error;
}

// Puts the filled folder into its place; what stood there goes last.
static steprt_status put_in_place(struct writer *w, bool replaces) {
  char old[MAX_PATH + 8];
  (void)snprintf(old, sizeof old, "%s.old", w->temp);
  if (fsync(w->fd) != 0 && errno != EINVAL) {
    return fail_io(w, "cannot write", w->dir, errno);
  }
  if (replaces && rename(w->dir, old) != 0) {
    return fail_io(w, "cannot replace", w->dir, errno);
  }
  if (rename(w->temp, w->dir) != 0) {
    int error = errno;
    if (replaces) {
      (void)rename(old, w->dir);
    }
    return fail_io(w, "cannot write", w->dir, error);
  }
  *w->temp = '\0';
  if (replaces) {
    remove_folder(old);
  }
  int error = sync_parent(w->dir);
  return error == 0 ? STEPRT_OK : fail_io(w, "cannot write", w->dir, error);
}

// A new folder beside the place, with the access that the caller's umask gives.
static int make_folder(struct writer *w) {
  for (int attempt = 0; attempt < 100; attempt++) {
    (void)snprintf(w->temp, sizeof w->temp, "%.4000s.tmp-%ld-%d", w->dir, (long)getpid(),
                   attempt);
    if (mkdir(w->temp, 0777) == 0) {
      return 0;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  *w->temp = '\0';
  return errno;
}

static steprt_status fill_and_place(struct writer *w, bool replaces) {
  int error = make_folder(w);
  if (error != 0) {
    return fail_io(w, "cannot make a folder beside", w->dir, error);
  }
  w->fd = open(w->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (w->fd < 0) {
    return fail_io(w, "cannot open", w->temp, errno);
  }
  steprt_status s = write_files(w);
  return s == STEPRT_OK ? put_in_place(w, replaces) : s;
}

steprt_status rt_bundle_write(const struct steprt_program *program, const char *dir,
                              char *why, size_t n_why) {
  struct writer w = {.program = program, .fd = -1, .why = why, .n_why = n_why};
  size_t n = strlen(dir);
  while (n > 1 && dir[n - 1] == '/') {
    n--;
  }
  if (n == 0 || n > 4000) {
    return fail(&w, STEPRT_BAD_ARGUMENT, "cannot write", dir, "no path of a folder");
  }
  memcpy(w.dir, dir, n);
  bool replaces;
  steprt_status s = check_program(&w, program);
  s = s == STEPRT_OK ? check_place(&w, &replaces) : s;
  s = s == STEPRT_OK ? fill_and_place(&w, replaces) : s;
  if (w.fd >= 0) {
    (void)close(w.fd);
  }
  if (*w.temp != '\0') {
    remove_folder(w.temp);
  }
  return s;
}
