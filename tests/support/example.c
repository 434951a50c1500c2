#include "support/example.h"

#include "front/model.h"
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

struct file {
  struct str name, text;
};
struct files {
  VEC(struct file) file;
};

static bool read_memory(void *ctx, struct arena *a, struct str path, struct str *text,
                        struct str *why) {
  (void)a;
  const struct files *files = ctx;
  for (uint32_t i = 0; i < files->file.n; i++) {
    if (str_eq(files->file.v[i].name, path)) {
      *text = files->file.v[i].text;
      return true;
    }
  }
  *why = STR("No such file or directory");
  return false;
}

static struct str take_line(struct str *rest) {
  const char *end = rest->n == 0 ? NULL : memchr(rest->p, '\n', rest->n);
  size_t n = end == NULL ? rest->n : (size_t)(end - rest->p) + 1;
  struct str line = {rest->p, n};
  *rest = (struct str){rest->p + n, rest->n - n};
  return line;
}

// What follows `#: WORD ` on a line.
static bool directive(struct str line, const char *word, struct str *arg) {
  size_t n = strlen(word);
  if (!str_starts(line, "#: ") || line.n < n + 4 || memcmp(line.p + 3, word, n) != 0 ||
      line.p[3 + n] != ' ') {
    return false;
  }
  *arg = (struct str){line.p + n + 4, line.n - n - 4};
  while (arg->n > 0 && (arg->p[arg->n - 1] == '\n' || arg->p[arg->n - 1] == '\r')) {
    arg->n--;
  }
  return true;
}

// The root is the text up to the first `#: file`.
static struct files split_files(struct arena *a, struct str name, struct str text) {
  struct files files = {0};
  struct file now = {name, {text.p, 0}};
  for (struct str rest = text; rest.n > 0;) {
    struct str line = take_line(&rest), next;
    if (directive(line, "file", &next)) {
      VEC_PUSH(a, files.file, now);
      now = (struct file){next, {rest.p, 0}};
    } else {
      now.text.n += line.n;
    }
  }
  VEC_PUSH(a, files.file, now);
  return files;
}

enum example_kind example_kind(struct str text) {
  return str_starts(text, "{")     ? EXAMPLE_MODEL
         : str_starts(text, "ir ") ? EXAMPLE_IR
         : str_starts(text, "$ ")  ? EXAMPLE_COMMAND
                                   : EXAMPLE_SPEC;
}

// NAME [4, 8] [DTYPE]
static struct model_param param_line(struct str line) {
  struct model_param p = {.dtype = ST_F32, .tied_to = UINT32_MAX};
  size_t at = 0;
  while (at < line.n && line.p[at] != ' ') {
    at++;
  }
  p.name = (struct str){line.p, at};
  for (; at < line.n && line.p[at] != ']'; at++) {
    if (line.p[at] >= '0' && line.p[at] <= '9') {
      char *end;
      p.shape.dim[p.shape.rank++] = strtoull(line.p + at, &end, 10);
      at = (size_t)(end - line.p) - 1;
    }
  }
  if (at + 2 < line.n) {
    (void)storage_find((struct str){line.p + at + 2, line.n - at - 2}, &p.dtype);
  }
  return p;
}

struct directives {
  VEC(struct model_param) param;
  VEC(struct setting) define, set;
  struct str pick;
};

static struct directives read_directives(struct arena *a, struct str text) {
  struct directives d = {0};
  for (struct str rest = text; str_starts(rest, "#: ");) {
    struct str line = take_line(&rest), arg;
    if (directive(line, "param", &arg)) {
      VEC_PUSH(a, d.param, param_line(arg));
    } else if (directive(line, "define", &arg)) {
      VEC_PUSH(a, d.define, (struct setting){arg});
    } else if (directive(line, "set", &arg)) {
      VEC_PUSH(a, d.set, (struct setting){arg});
    } else if (directive(line, "pick", &arg)) {
      d.pick = arg;
    }
  }
  return d;
}

// The model at `path`, or the parameters of the first lines; NULL where there is neither.
static struct model *find_model(struct example *x, const struct directives *d,
                                const char *path) {
  if (path != NULL) {
    return model_read(&x->front, str_of(path));
  }
  if (d->param.n == 0) {
    return NULL;
  }
  struct model *m = ARENA_NEW(x->arena, struct model);
  *m = (struct model){.world = 1, .param = d->param.v, .n_params = d->param.n};
  return m;
}

// Checks the program, and binds it to its model.
static void run_sema(struct example *x, struct str text, const char *model_path) {
  sema_check(&x->front, x->program);
  if (x->diags.n_errors != 0) {
    return;
  }
  struct directives d = read_directives(x->arena, text);
  x->model = find_model(x, &d, model_path);
  if (x->model == NULL) {
    return;
  }
  struct job_options options = {.pick = d.pick,
                                .define = d.define.v,
                                .n_defines = d.define.n,
                                .set = d.set.v,
                                .n_sets = d.set.n};
  x->job = sema_job(&x->front, x->program, x->model, &options);
}

static void run_spec(struct example *x, struct str name, struct str text,
                     const char *model_path) {
  struct files files = split_files(x->arena, name, text);
  x->program = parse_program(&x->front, name, (struct file_reader){read_memory, &files});
  if (x->program != NULL && x->diags.n_errors == 0) {
    run_sema(x, text, model_path);
  }
}

void example_run(struct example *x, struct arena *a, struct str name, struct str text,
                 const char *model_path) {
  *x = (struct example){.arena = a, .sources = {.arena = a}};
  diags_init(&x->diags, a, &x->sources);
  x->front = (struct front){a, &x->sources, &x->diags};
  bool is_model = str_ends(name, ".json");
  switch (is_model ? EXAMPLE_MODEL : example_kind(text)) {
  case EXAMPLE_SPEC: run_spec(x, name, text, model_path); break;
  case EXAMPLE_IR: (void)ir_parse(&x->front, source_add(&x->sources, name, text)); break;
  case EXAMPLE_MODEL: (void)model_parse(&x->front, name, text); break;
  case EXAMPLE_COMMAND: break;
  }
}

bool example_gives_only(const struct example *x, enum diag_code code) {
  bool found = false;
  for (uint32_t i = 0; i < x->diags.list.n; i++) {
    found = x->diags.list.v[i]->code == code;
    if (!found) {
      return false;
    }
  }
  return found;
}
