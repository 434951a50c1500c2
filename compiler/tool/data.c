// Matching the tensors of safetensors files to a model's parameters.
#include "tool/data.h"

#include "front/tensor_files.h"

struct data_set {
  struct tensor_files files;
  const struct tensor_ref **of; // one per parameter; NULL: it has no tensor here
};

struct match {
  struct front *f;
  struct model *m;
  struct str path;
  enum data_role role;
  struct data_set *set;
};

static bool is_wanted(const struct match *x, const struct model_param *p) {
  return p->tied_to == UINT32_MAX && !(x->role == DATA_GRADS && p->frozen);
}

static struct str tensor_text(struct arena *a, const char *dtype, const struct shape *s) {
  struct str shape = shape_text(a, s);
  return str_fmt(a, "%s %.*s", dtype, STR_FMT(shape));
}

// The tensor's shape and dtype are the parameter's. A gradient whose dtype the model leaves open brings its own.
static bool check_tensor(const struct match *x, struct model_param *p,
                         const struct tensor_ref *ref) {
  const struct st_tensor *t = ref->tensor;
  struct arena *a = x->f->arena;
  struct str path = tensor_files_path(&x->set->files, ref->file);
  struct shape shape = {.rank = t->rank};
  for (uint32_t i = 0; i < t->rank; i++) {
    shape.dim[i] = t->dim[i];
  }
  enum storage have, want = x->role == DATA_GRADS ? p->grad : p->dtype;
  if (!tensor_storage(t->dtype, &have)) {
    DIAG(x->f->diags, NO_SPAN, E0516, p->name, path, str_of(st_dtype_name(t->dtype)));
    return false;
  }
  if (x->role == DATA_GRADS && !p->has_grad) {
    want = have;
  }
  if (!shape_eq(&shape, &p->shape) || have != want) {
    DIAG(x->f->diags, NO_SPAN, E0520, p->name, path,
         tensor_text(a, storage_name(have), &shape),
         tensor_text(a, storage_name(want), &p->shape));
    return false;
  }
  if (x->role == DATA_GRADS) {
    p->grad = have;
    p->has_grad = true;
  }
  return true;
}

static bool match_params(const struct match *x, bool *used) {
  bool ok = true;
  for (uint32_t i = 0; i < x->m->n_params; i++) {
    struct model_param *p = &x->m->param[i];
    if (!is_wanted(x, p)) {
      continue;
    }
    const struct tensor_ref *ref = tensor_files_find(&x->set->files, p->name);
    if (ref == NULL) {
      DIAG(x->f->diags, NO_SPAN, E0518, x->path, p->name);
      ok = false;
      continue;
    }
    used[ref - x->set->files.tensor] = true;
    x->set->of[i] = ref;
    ok = check_tensor(x, p, ref) && ok;
  }
  return ok;
}

// Why nothing asks for a tensor of this name.
static struct str extra_reason(const struct match *x, struct str name) {
  for (uint32_t i = 0; i < x->m->n_params; i++) {
    const struct model_param *p = &x->m->param[i];
    if (str_eq(p->name, name)) {
      return p->tied_to == UINT32_MAX ? STR("whose parameter is frozen")
                                      : str_fmt(x->f->arena, "which is tied to `%.*s`",
                                                STR_FMT(x->m->param[p->tied_to].name));
    }
  }
  return STR("which is no parameter of the model");
}

static void suggest(const struct match *x, struct diag *d, struct str name) {
  enum { MOST = 4096 }; // candidates: a suggestion is not worth seconds
  if (x->m->n_params <= MOST) {
    struct str *names = ARENA_ARRAY(x->f->arena, struct str, x->m->n_params);
    for (uint32_t i = 0; i < x->m->n_params; i++) {
      names[i] = x->m->param[i].name;
    }
    diag_suggest(x->f->diags, d, name, names, x->m->n_params);
  }
}

static bool check_extra(const struct match *x, const bool *used) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < x->set->files.n_tensors; i++) {
    const struct tensor_ref *ref = &x->set->files.tensor[i];
    if (used[i] || ++found > x->f->diags->error_limit) {
      continue; // past the limit no message would be kept
    }
    struct str name = str_of(ref->tensor->name);
    struct str reason = extra_reason(x, name);
    struct diag *d = DIAG(x->f->diags, NO_SPAN, E0519,
                          tensor_files_path(&x->set->files, ref->file), name, reason);
    if (str_starts(reason, "which is no")) {
      suggest(x, d, name);
    }
  }
  return found == 0;
}

static bool match_files(const struct match *x) {
  if (!tensor_files_open(x->f, x->path, &x->set->files)) {
    return false;
  }
  bool *used = ARENA_ARRAY(x->f->arena, bool, x->set->files.n_tensors);
  bool ok = match_params(x, used);
  return check_extra(x, used) && ok;
}

struct data_set *data_open(struct front *f, struct model *m, struct str path,
                           enum data_role role) {
  struct data_set *set = ARENA_NEW(f->arena, struct data_set);
  set->of = ARENA_ARRAY(f->arena, const struct tensor_ref *, m->n_params);
  const struct match x = {f, m, path, role, set};
  jmp_buf oom, *outer = arena_guarded(f->arena);
  arena_guard(f->arena, &oom);
  if (setjmp(oom) != 0) { // open files are not on the arena
    data_close(set);
    arena_guard(f->arena, outer);
    longjmp(*outer, 1);
  }
  bool ok = match_files(&x);
  arena_guard(f->arena, outer);
  if (!ok) {
    data_close(set);
  }
  return ok ? set : NULL;
}

void data_close(struct data_set *s) {
  if (s != NULL) {
    tensor_files_close(&s->files);
  }
}

bool data_read(struct front *f, const struct data_set *s, uint32_t param, void *into) {
  const struct tensor_ref *ref = s->of[param];
  struct st_error err;
  if (st_read(s->files.file[ref->file], ref->tensor, into, &err) == STEPRT_OK) {
    return true;
  }
  struct str path = tensor_files_path(&s->files, ref->file);
  struct str args[] = {str_escape(f->arena, path), str_of(err.text)};
  (void)diag_report_safe(f->diags, NO_SPAN, E0001, args, 2);
  return false;
}
