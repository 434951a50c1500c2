// A root file and what it imports: resolving paths, loading each file once, looking names up.
#include "front/load.h"

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
  buf_puts(&b, is_absolute ? "/" : parts.n == 0 ? "." : "");
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
  if (ok && text.n > LOAD_MAX_FILE) {
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
    return; // reported by the parser
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
  if (l->key.n == LOAD_MAX_FILES) {
    DIAG(f->diags, i->span, E0117, str_fmt(f->arena, "%d", (int)LOAD_MAX_FILES));
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
  load_check_cycles(f, l.program);
  load_check_names(f, l.program);
  return l.program;
}

struct str decl_name(const struct decl *d, struct span *at) {
  struct str name = STR("");
  struct span span = d->span;
  switch (d->kind) {
  case DECL_IMPORT: break;
  case DECL_OPTIMIZER:
    name = d->optimizer->name;
    span = d->optimizer->name_span;
    break;
  case DECL_ITERATION:
    name = d->iteration->name;
    span = d->iteration->name_span;
    break;
  case DECL_RECIPE:
    name = d->recipe->name;
    span = d->recipe->name_span;
    break;
  }
  if (at != NULL) {
    *at = span;
  }
  return name;
}

static const struct decl *find_decl(const struct program *p, enum decl_kind kind,
                                    struct str name) {
  for (uint32_t m = 0; m < p->module.n; m++) {
    for (uint32_t i = 0; i < p->module.v[m]->decl.n; i++) {
      const struct decl *d = &p->module.v[m]->decl.v[i];
      if (d->kind == kind && str_eq(decl_name(d, NULL), name)) {
        return d;
      }
    }
  }
  return NULL;
}

const struct optimizer *program_optimizer(const struct program *p, struct str name) {
  const struct decl *d = find_decl(p, DECL_OPTIMIZER, name);
  return d == NULL ? NULL : d->optimizer;
}

const struct iteration *program_iteration(const struct program *p, struct str name) {
  const struct decl *d = find_decl(p, DECL_ITERATION, name);
  return d == NULL ? NULL : d->iteration;
}

const struct recipe *program_recipe(const struct program *p, struct str name) {
  const struct decl *d = find_decl(p, DECL_RECIPE, name);
  return d == NULL ? NULL : d->recipe;
}
