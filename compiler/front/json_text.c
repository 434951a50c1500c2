// JSON inputs as sources.
#include "front/json_text.h"

#include "file/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 100 << 20 };

static bool cannot_read(struct front *f, struct str path, int error) {
  char text[200];
  DIAG(f->diags, NO_SPAN, E0001, path, str_of(rt_io_text(error, text, sizeof text)));
  return false;
}

// The buffer is allocated before the file is opened: running out of memory must not leave it open.
static bool read_text(struct front *f, struct str path, struct str *text) {
  const char *name = str_cstr(f->arena, path);
  struct stat st;
  if (stat(name, &st) != 0) {
    return cannot_read(f, path, errno);
  }
  if (!S_ISREG(st.st_mode) || st.st_size > MAX_BYTES) {
    return cannot_read(f, path,
                       S_ISDIR(st.st_mode)   ? EISDIR
                       : S_ISREG(st.st_mode) ? EFBIG
                                             : RT_IO_NOT_REGULAR);
  }
  size_t n = (size_t)st.st_size;
  char *buf = arena_alloc(f->arena, n + 1, 1);
  int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return cannot_read(f, path, errno);
  }
  int error = rt_pread_all(fd, buf, n, 0);
  (void)close(fd);
  *text = (struct str){buf, n};
  return error == 0 || cannot_read(f, path, error);
}

bool json_text_parse(struct front *f, struct str path, struct str text,
                     struct json_text *t) {
  t->file = source_add(f->sources, path, text);
  struct json_error err;
  t->doc = json_parse(text.p, text.n, &err);
  if (t->doc != NULL) {
    return true;
  }
  if (err.no_memory) {
    return cannot_read(f, path, ENOMEM);
  }
  uint32_t at = (uint32_t)err.at, end = at < text.n ? at + 1 : at;
  struct str why = str_of(err.text);
  (void)diag_report_safe(f->diags, (struct span){t->file, at, end}, E0501, &why, 1);
  return false;
}

bool json_text_open(struct front *f, struct str path, struct json_text *t) {
  struct str text;
  *t = (struct json_text){0};
  return read_text(f, path, &text) && json_text_parse(f, path, text, t);
}

struct span json_span(uint32_t file, const struct json *v) {
  struct json_range at = json_range(v);
  bool is_group = json_kind(v) == JSON_OBJECT || json_kind(v) == JSON_ARRAY;
  return (struct span){file, at.at, is_group ? at.at + 1 : at.end};
}

struct span json_key_span(const struct sources *s, uint32_t file, const struct json *v) {
  const char *p = s->file.v[file].text.p;
  uint32_t at = json_range(v).key, end = at + 1;
  while (p[end] != '"') {
    end += p[end] == '\\' ? 2 : 1;
  }
  return (struct span){file, at, end + 1};
}

struct str json_str(const struct json *v) {
  struct str s;
  s.p = json_string(v, &s.n);
  return s;
}
