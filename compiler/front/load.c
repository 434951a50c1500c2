// A root file and what it imports: reading, resolving paths, cycles, names that meet.
#include "front/ast.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  MAX_FILE = 16 << 20, // bytes; the longest spec we know has 200 lines
  MAX_FILES = 256,     // of one program
};

// ---- reading

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
  bool is_sized = S_ISREG(st.st_mode) && st.st_size >= 0 && st.st_size < MAX_FILE;
  size_t cap = (is_sized ? (size_t)st.st_size : (size_t)MAX_FILE) + 1;
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

// ---- paths

// `dir/of/file` + `../x.opt` -> `dir/x.opt`: "." and ".." are resolved in the text, so that one file has one name.
static struct str path_resolve(struct arena *a, struct str path) {
  VEC(struct str) parts = {0};
  bool is_absolute = path.n > 0 && path.p[0] == '/';
  for (size_t i = 0; i < path.n;) {
    size_t end = i;
    while (end < path.n && path.p[end] != '/') {
      end++;
    }
    struct str part = {path.p + i, end - i};
    bool is_up = str_is(part, "..");
    if (is_up && parts.n > 0 && !str_is(parts.v[parts.n - 1], "..")) {
      parts.n--;
    } else if (part.n != 0 && !str_is(part, ".") && !(is_up && is_absolute)) {
      VEC_PUSH(a, parts, part);
    }
    i = end + 1;
  }
  struct buf b = buf_new(a);
  buf_puts(&b, is_absolute ? "/" : "");
  for (uint32_t i = 0; i < parts.n; i++) {
    buf_puts(&b, i == 0 ? "" : "/");
    buf_str(&b, parts.v[i]);
  }
  return buf_done(&b);
}

static struct str path_beside(struct arena *a, struct str file, struct str relative) {
  size_t dir = file.n;
  while (dir > 0 && file.p[dir - 1] != '/') {
    dir--;
  }
  return path_resolve(a, str_fmt(a, "%.*s%.*s", (int)dir, file.p, STR_FMT(relative)));
}

// ---- loading

struct loader {
  struct front *f;
  struct file_reader reader;
  struct program *program;
  VEC(struct str) key; // the resolved path of each module
};

static uint32_t find_module(const struct loader *l, struct str key) {
  for (uint32_t i = 0; i < l->key.n; i++) {
    if (str_eq(l->key.v[i], key)) {
      return i;
    }
  }
  return UINT32_MAX;
}

// Reads and parses one more file. False: it was refused, which is reported at `at`.
static bool load_file(struct loader *l, struct str path, struct str key, struct span at) {
  struct front *f = l->f;
  struct str text, why = STR("");
  bool ok = l->reader.read(l->reader.ctx, f->arena, path, &text, &why);
  if (ok && text.n > MAX_FILE) {
    ok = false;
    why = STR("it is larger than 16 MiB");
  }
  if (!ok) {
    DIAG(f->diags, at, E0001, path, why);
    return false;
  }
  VEC_PUSH(f->arena, l->key, key);
  uint32_t file = source_add(f->sources, path, text);
  VEC_PUSH(f->arena, l->program->module, parse_module(f, file));
  return true;
}

static void load_import(struct loader *l, struct import *i, struct str from) {
  struct front *f = l->f;
  if (i->path.n == 0) {
    return; // reported by the parser, or `import ""`, which no file answers to
  }
  if (i->path.p[0] == '/') {
    DIAG(f->diags, i->span, E0116, i->path);
    return;
  }
  struct str key = path_beside(f->arena, from, i->path);
  i->target = find_module(l, key);
  if (i->target != UINT32_MAX) {
    return;
  }
  if (l->key.n == MAX_FILES) {
    DIAG(f->diags, i->span, E0117, str_fmt(f->arena, "%d", (int)MAX_FILES));
    return;
  }
  if (load_file(l, key, key, i->span)) {
    i->target = l->key.n - 1;
  }
}

static void load_imports(struct loader *l, const struct module *m) {
  struct str from = l->f->sources->file.v[m->file].path;
  for (uint32_t i = 0; i < m->decl.n; i++) {
    if (m->decl.v[i].kind == DECL_IMPORT) {
      load_import(l, &m->decl.v[i].import, from);
    }
  }
}

// ---- cycles

struct walk {
  struct front *f;
  const struct program *program;
  enum { UNSEEN, OPEN, DONE } state[MAX_FILES];
  uint32_t path[MAX_FILES], depth; // the open modules, outermost first
};

static void report_cycle(struct walk *w, const struct import *i) {
  struct buf b = buf_new(w->f->arena);
  uint32_t k = 0;
  while (w->path[k] != i->target) {
    k++;
  }
  for (; k < w->depth; k++) {
    buf_str(&b, w->f->sources->file.v[w->program->module.v[w->path[k]]->file].path);
    buf_puts(&b, " -> ");
  }
  buf_str(&b, w->f->sources->file.v[w->program->module.v[i->target]->file].path);
  DIAG(w->f->diags, i->span, E0115, buf_done(&b));
}

// Depth first; at most MAX_FILES deep.
static void find_cycles(struct walk *w, uint32_t module) {
  const struct module *m = w->program->module.v[module];
  w->state[module] = OPEN;
  w->path[w->depth++] = module;
  for (uint32_t i = 0; i < m->decl.n; i++) {
    const struct decl *d = &m->decl.v[i];
    if (d->kind != DECL_IMPORT || d->import.target == UINT32_MAX) {
      continue;
    }
    if (w->state[d->import.target] == OPEN) {
      report_cycle(w, &d->import);
    } else if (w->state[d->import.target] == UNSEEN) {
      find_cycles(w, d->import.target);
    }
  }
  w->depth--;
  w->state[module] = DONE;
}

// ---- names

struct named {
  struct str name;
  struct span span;
  uint32_t order;
};

static bool decl_name(const struct decl *d, struct named *out) {
  switch (d->kind) {
  case DECL_IMPORT: return false;
  case DECL_OPTIMIZER:
    *out = (struct named){.name = d->optimizer->name, .span = d->optimizer->name_span};
    break;
  case DECL_ITERATION:
    *out = (struct named){.name = d->iteration->name, .span = d->iteration->name_span};
    break;
  case DECL_RECIPE:
    *out = (struct named){.name = d->recipe->name, .span = d->recipe->name_span};
    break;
  }
  return out->name.n != 0;
}

static int by_name(const void *a, const void *b) {
  const struct named *x = a, *y = b;
  int c = str_cmp(x->name, y->name);
  return c != 0 ? c : (x->order > y->order) - (x->order < y->order);
}

// One name space for optimizers, iterations and recipes, over all files: SPEC:name must say which.
static void check_names(struct front *f, const struct program *p) {
  VEC(struct named) all = {0};
  for (uint32_t m = 0; m < p->module.n; m++) {
    for (uint32_t i = 0; i < p->module.v[m]->decl.n; i++) {
      struct named n;
      if (decl_name(&p->module.v[m]->decl.v[i], &n)) {
        n.order = all.n;
        VEC_PUSH(f->arena, all, n);
      }
    }
  }
  if (all.n == 0) {
    return;
  }
  qsort(all.v, all.n, sizeof all.v[0], by_name);
  for (uint32_t i = 1, first = 0; i < all.n; i++) {
    if (!str_eq(all.v[i].name, all.v[first].name)) {
      first = i;
      continue;
    }
    struct diag *d = DIAG(f->diags, all.v[i].span, E0118, all.v[i].name);
    diag_note(f->diags, d, all.v[first].span, STR("it is defined here"));
  }
}

// ---- the whole

struct program *parse_program(struct front *f, struct str path,
                              struct file_reader reader) {
  struct loader l = {
      .f = f, .reader = reader, .program = ARENA_NEW(f->arena, struct program)};
  if (!load_file(&l, path, path_resolve(f->arena, path), NO_SPAN)) {
    return NULL;
  }
  for (uint32_t i = 0; i < l.program->module.n; i++) { // grows meanwhile
    load_imports(&l, l.program->module.v[i]);
  }
  struct walk w = {.f = f, .program = l.program};
  find_cycles(&w, 0);
  check_names(f, l.program);
  return l.program;
}

const struct optimizer *program_optimizer(const struct program *p, struct str name) {
  for (uint32_t m = 0; m < p->module.n; m++) {
    for (uint32_t i = 0; i < p->module.v[m]->decl.n; i++) {
      const struct decl *d = &p->module.v[m]->decl.v[i];
      if (d->kind == DECL_OPTIMIZER && str_eq(d->optimizer->name, name)) {
        return d->optimizer;
      }
    }
  }
  return NULL;
}

const struct iteration *program_iteration(const struct program *p, struct str name) {
  for (uint32_t m = 0; m < p->module.n; m++) {
    for (uint32_t i = 0; i < p->module.v[m]->decl.n; i++) {
      const struct decl *d = &p->module.v[m]->decl.v[i];
      if (d->kind == DECL_ITERATION && str_eq(d->iteration->name, name)) {
        return d->iteration;
      }
    }
  }
  return NULL;
}

const struct recipe *program_recipe(const struct program *p, struct str name) {
  for (uint32_t m = 0; m < p->module.n; m++) {
    for (uint32_t i = 0; i < p->module.v[m]->decl.n; i++) {
      const struct decl *d = &p->module.v[m]->decl.v[i];
      if (d->kind == DECL_RECIPE && str_eq(d->recipe->name, name)) {
        return d->recipe;
      }
    }
  }
  return NULL;
}
