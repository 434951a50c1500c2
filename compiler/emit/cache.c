// The cache on disk. A file is "stepc-cache 1\n", the SHA-256 of what follows in hexadecimal, "\n", the bytes.
#include "emit/cache.h"

#include "core/env.h"
#include "file/io.h"
#include "file/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "stepc-cache 1\n";
enum { MAGIC = sizeof magic - 1, HEAD = MAGIC + CACHE_KEY + 1, MOST_BYTES = 256 << 20 };

// ---- the folder

// Empty: the user has no home.
static struct str choose_folder(struct arena *a) {
  const char *own = rt_env(RT_ENV_CACHE_DIR), *xdg = rt_env(RT_ENV_XDG_CACHE_HOME),
             *home = rt_env(RT_ENV_HOME);
  if (own != NULL) {
    return str_copy(a, str_of(own));
  }
  if (xdg != NULL &&
      *xdg == '/') { // a relative one is to be ignored, says its specification
    (void)mkdir(xdg, 0700);
    return str_fmt(a, "%s/stepc", xdg);
  }
  if (home == NULL) {
    return STR("");
  }
  (void)mkdir(str_fmt(a, "%s/.cache", home).p, 0700);
  return str_fmt(a, "%s/.cache/stepc", home);
}

static const char *why_not(const struct stat *st) {
  return st->st_uid != geteuid()                    ? "it belongs to another user"
         : (st->st_mode & (S_IWGRP | S_IWOTH)) != 0 ? "others may write to it"
                                                    : NULL;
}

static const char *check_folder(const char *path) {
  struct stat st;
  if (mkdir(path, 0700) != 0 && errno != EEXIST) {
    return strerror(errno);
  }
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return strerror(errno);
  }
  const char *why = fstat(fd, &st) != 0 ? strerror(errno) : why_not(&st);
  (void)close(fd);
  return why;
}

struct cache cache_open(struct arena *a, struct str *note) {
  struct cache c = {choose_folder(a)};
  const char *why = c.folder.n != 0 ? check_folder(str_cstr(a, c.folder)) : NULL;
  *note = STR("");
  if (why != NULL) {
    *note = str_fmt(a, "the cache `%s` is not used: %s", str_escape(a, c.folder).p, why);
    c.folder = STR("");
  }
  return c;
}

// ---- files

static void hash(struct str bytes, char hex[CACHE_KEY + 1]) {
  struct sha256 sha;
  sha256_init(&sha);
  sha256_add(&sha, bytes.p, bytes.n);
  sha256_hex(&sha, hex);
}

static struct str path_of(const struct cache *c, struct arena *a, const char *key) {
  return str_fmt(a, "%.*s/%s", STR_FMT(c->folder), key);
}

static bool read_file(struct arena *a, int fd, struct str *text) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || why_not(&st) != NULL ||
      st.st_size < HEAD || st.st_size > MOST_BYTES) {
    return false;
  }
  char *p = arena_alloc(a, (size_t)st.st_size + 1, 8);
  p[st.st_size] = '\0';
  *text = (struct str){p, (size_t)st.st_size};
  return rt_pread_all(fd, p, text->n, 0) == 0;
}

static bool is_intact(struct str text, struct str *bytes) {
  char hex[CACHE_KEY + 1];
  *bytes = (struct str){text.p + HEAD, text.n - HEAD};
  hash(*bytes, hex);
  return memcmp(text.p, magic, MAGIC) == 0 &&
         memcmp(text.p + MAGIC, hex, CACHE_KEY) == 0 && text.p[HEAD - 1] == '\n';
}

bool cache_get(const struct cache *c, struct arena *a, const char *key,
               struct str *bytes) {
  if (c->folder.n == 0) {
    return false;
  }
  int fd = open(path_of(c, a, key).p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  struct str text;
  bool found = read_file(a, fd, &text) && is_intact(text, bytes);
  (void)close(fd);
  return found;
}

bool cache_put(const struct cache *c, struct arena *a, const char *key,
               struct str bytes) {
  struct rt_new_file f;
  char hex[CACHE_KEY + 1];
  hash(bytes, hex);
  // Before the file is open: the arena may not return.
  struct str path = path_of(c, a, key), head = str_fmt(a, "%s%s\n", magic, hex);
  if (c->folder.n == 0 || rt_new_file_open(&f, path.p) != 0) {
    return false;
  }
  if (fchmod(f.fd, 0600) != 0) {
    rt_new_file_discard(&f);
    return false;
  }
  return rt_new_file_write(&f, head.p, head.n) == 0 &&
         rt_new_file_write(&f, bytes.p, bytes.n) == 0 && rt_new_file_commit(&f) == 0;
}
