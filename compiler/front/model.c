// Reading a model: which form it is, and what holds for every form: unique names, ties.
#include "front/model.h"

#include "front/model_int.h"
#include "front/tensor_files.h"

// ---- safetensors as a model

static bool add_tensor(struct model_reader *r, const struct tensor_ref *ref) {
  const struct st_tensor *t = ref->tensor;
  struct str name = str_of(t->name), file = tensor_files_path(r->files, ref->file);
  struct model_param p = {.name = str_copy(r->f->arena, name), .tied_to = UINT32_MAX};
  if (name.n == 0 || name.n > MODEL_MAX_NAME) {
    DIAG(r->f->diags, NO_SPAN, E0515, file,
         str_fmt(r->f->arena,
                 "a tensor's name has %zu bytes: a parameter's has 1 to 1,024", name.n));
    return false;
  }
  if (!tensor_storage(t->dtype, &p.dtype)) {
    DIAG(r->f->diags, NO_SPAN, E0516, name, file, str_of(st_dtype_name(t->dtype)));
    return false;
  }
  p.grad = p.dtype;
  p.shape.rank = t->rank;
  for (uint32_t i = 0; i < t->rank; i++) {
    p.shape.dim[i] = t->dim[i];
  }
  VEC_PUSH(r->f->arena, r->param, p);
  return true;
}

static void read_tensors(struct model_reader *r, struct str path) {
  r->files = ARENA_NEW(r->f->arena, struct tensor_files);
  r->m->world = 1;
  if (!tensor_files_open(r->f, path, r->files)) {
    return;
  }
  if (r->files->n_tensors == 0 || r->files->n_tensors > MODEL_MAX_PARAMS) {
    DIAG(r->f->diags, NO_SPAN, E0515, path,
         r->files->n_tensors == 0 ? STR("no tensors in it")
                                  : STR("more than 2^20 tensors"));
    return;
  }
  for (uint32_t i = 0; i < r->files->n_tensors; i++) {
    (void)add_tensor(r, &r->files->tensor[i]);
  }
}

// ---- what holds for every form

static void check_unique(struct model_reader *r, const struct model_names *names) {
  uint32_t at = 0, first, second;
  while (model_names_twice(names, &at, &first, &second)) {
    struct diag *d =
        DIAG(r->f->diags, r->entry.v[second]->span, E0510, r->m->param[second].name);
    if (r->entry.v[first] != r->entry.v[second]) {
      diag_note(r->f->diags, d, r->entry.v[first]->span, STR("the first one"));
    }
  }
}

// What is wrong with parameter `i` being tied to `target`; NULL: nothing.
static const char *tie_problem(const struct model_reader *r, uint32_t i,
                               uint32_t target) {
  const struct model_param *p = &r->m->param[i], *t = &r->m->param[target];
  return i == target                       ? "that is the parameter itself"
         : r->entry.v[target]->tied.n != 0 ? "that parameter is tied itself"
         : !shape_eq(&p->shape, &t->shape) ? "that parameter has another shape"
         : p->dtype != t->dtype            ? "that parameter has another dtype"
                                           : NULL;
}

static void bind_ties(struct model_reader *r, const struct model_names *names) {
  for (uint32_t i = 0; i < r->m->n_params; i++) {
    const struct model_entry *e = r->entry.v[i];
    if (e->tied.n == 0) {
      continue;
    }
    uint32_t target = model_names_find(names, e->tied);
    const char *problem =
        target == UINT32_MAX ? "no parameter has that name" : tie_problem(r, i, target);
    if (problem != NULL) {
      DIAG(r->f->diags, e->tied_span, E0514, e->tied, str_of(problem));
    }
    r->m->param[i].tied_to = target;
  }
}

static void check_names(struct model_reader *r) {
  r->m->param = r->param.v;
  r->m->n_params = r->param.n;
  struct model_names names = model_names_new(r->f->arena, r->m);
  check_unique(r, &names);
  bind_ties(r, &names);
}

static void read_document(struct model_reader *r, const struct json_text *text) {
  r->doc = text->doc;
  r->file = text->file;
  model_read_json(r, json_root(text->doc));
  check_names(r);
}

static void release(struct model_reader *r) {
  json_free(r->doc);
  if (r->files != NULL) {
    tensor_files_close(r->files);
  }
}

// Where a model comes from: a table, else a text, else the file.
struct model_source {
  struct str path;
  const struct str *text;
  const struct model_tensor *tensor;
  uint32_t n_tensors;
};

static void read_source(struct model_reader *r, const struct model_source *s) {
  struct json_text t;
  if (s->tensor != NULL) {
    model_read_table(r, s->tensor, s->n_tensors);
    check_names(r);
  } else if (s->text == NULL && tensor_files_takes(r->f->arena, s->path)) {
    read_tensors(r, s->path);
  } else if (s->text == NULL ? json_text_open(r->f, s->path, &t)
                             : json_text_parse(r->f, s->path, *s->text, &t)) {
    read_document(r, &t);
  }
}

static struct model *read_model(struct front *f, const struct model_source *s) {
  struct model_reader *r = ARENA_NEW(f->arena, struct model_reader);
  r->f = f;
  r->m = ARENA_NEW(f->arena, struct model);
  r->m->path = str_copy(f->arena, s->path);
  uint32_t errors = f->diags->n_errors;
  jmp_buf oom, *outer = arena_guarded(f->arena);
  arena_guard(f->arena, &oom);
  if (setjmp(oom) != 0) { // documents and open files are not on the arena
    release(r);
    arena_guard(f->arena, outer);
    longjmp(*outer, 1);
  }
  read_source(r, s);
  release(r);
  arena_guard(f->arena, outer);
  r->m->param = r->param.v;
  r->m->n_params = r->param.n;
  return f->diags->n_errors == errors ? r->m : NULL;
}

struct model *model_read(struct front *f, struct str path) {
  return read_model(f, &(struct model_source){.path = path});
}

struct model *model_parse(struct front *f, struct str path, struct str text) {
  return read_model(f, &(struct model_source){.path = path, .text = &text});
}

struct model *model_of_tensors(struct front *f, const struct model_tensor *t,
                               uint32_t n) {
  return read_model(
      f, &(struct model_source){.path = STR("parameters"), .tensor = t, .n_tensors = n});
}

uint64_t model_numel(const struct model *m) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < m->n_params; i++) {
    n += m->param[i].tied_to == UINT32_MAX ? shape_numel(&m->param[i].shape) : 0;
  }
  return n;
}
