// One entry of `params`: name, shape, dtypes and flags.
#include "front/model_int.h"

static bool read_dim(struct model_reader *r, const struct json *v, uint64_t *out) {
  if (json_u64(v, out)) {
    return true;
  }
  if (json_kind(v) == JSON_NUMBER && json_number(v) < 0) {
    DIAG(r->f->diags, json_span(r->file, v), E0506, STR("a negative dimension"));
  } else if (json_kind(v) == JSON_NUMBER) {
    DIAG(r->f->diags, json_span(r->file, v), E0506,
         STR("a dimension that is no plain integer"));
  } else {
    model_bad_value(r, v, STR("`shape`"), "a list of integers");
  }
  return false;
}

// The product of the non-zero dimensions stays below 2^60, so that rows, columns and bytes of any storage fit.
const char *model_shape_problem(const struct shape *s) {
  uint64_t product = 1;
  for (uint32_t i = 0; i < s->rank; i++) {
    if (s->dim[i] != 0 && (__builtin_mul_overflow(product, s->dim[i], &product) ||
                           product > (uint64_t)1 << 60)) {
      return "more than 2^60 elements";
    }
  }
  return NULL;
}

static bool read_shape(struct model_reader *r, const struct json *v, struct shape *s) {
  if (json_size(v) > MAX_RANK) {
    DIAG(r->f->diags, json_span(r->file, v), E0506, STR("more than 8 dimensions"));
    return false;
  }
  for (uint32_t i = 0; i < json_size(v); i++) {
    s->rank = i + 1;
    if (!read_dim(r, json_item(v, i), &s->dim[i])) {
      return false;
    }
    const char *problem = model_shape_problem(s);
    if (problem != NULL) {
      DIAG(r->f->diags, json_span(r->file, json_item(v, i)), E0506, str_of(problem));
      return false;
    }
  }
  return true;
}

bool model_read_dtype(struct model_reader *r, struct span at, const char *key,
                      struct str text, enum storage *out) {
  static const struct str names[] = {{"f32", 3}, {"bf16", 4}, {"f16", 3}};
  static const enum storage storages[] = {ST_F32, ST_BF16, ST_F16};
  for (int i = 0; i < 3; i++) {
    if (str_eq(text, names[i])) {
      *out = storages[i];
      return true;
    }
  }
  struct diag *d = DIAG(r->f->diags, at, E0507, str_of(key), text);
  diag_suggest(r->f->diags, d, text, names, 3);
  return false;
}

bool model_check_name(struct model_reader *r, const struct model_entry *e) {
  if (e->name.n == 0 || e->name.n > MODEL_MAX_NAME) {
    struct str shown =
        e->name.n == 0 ? e->name : str_fmt(r->f->arena, "%.60s...", e->name.p);
    DIAG(r->f->diags, e->span, E0508, shown,
         e->name.n == 0 ? STR("is empty") : STR("is longer than 1,024 bytes"));
    return false;
  }
  return true;
}

static bool read_name(struct model_reader *r, const struct json *v,
                      struct model_entry *e) {
  e->name = str_copy(r->f->arena, json_str(v));
  e->span = json_span(r->file, v);
  return model_check_name(r, e);
}

static bool read_dtype(struct model_reader *r, const struct json *v, const char *key,
                       enum storage *out) {
  return model_read_dtype(r, json_span(r->file, v), key, json_str(v), out);
}

static bool read_types(struct model_reader *r, const struct json *v,
                       struct model_entry *e) {
  bool ok = true;
  const struct json *dtype = model_member(r, v, "dtype", JSON_STRING, NULL, &ok);
  const struct json *grad = model_member(r, v, "grad", JSON_STRING, NULL, &ok);
  ok = (dtype == NULL || read_dtype(r, dtype, "dtype", &e->like.dtype)) && ok;
  e->like.grad = e->like.dtype;
  e->like.has_grad = grad != NULL;
  return (grad == NULL || read_dtype(r, grad, "grad", &e->like.grad)) && ok;
}

bool model_check_tied(struct model_reader *r, const struct model_entry *e) {
  if (e->tied.n != 0 && !e->like.frozen && !e->like.has_grad) {
    return true;
  }
  DIAG(r->f->diags, e->tied_span, E0514, e->tied,
       e->tied.n == 0 ? STR("a parameter's name is missing")
                      : STR("`frozen` and `grad` stand with that parameter"));
  return false;
}

static bool read_flags(struct model_reader *r, const struct json *v,
                       struct model_entry *e) {
  bool ok = true;
  const struct json *frozen = model_member(r, v, "frozen", JSON_BOOL, NULL, &ok);
  const struct json *tied = model_member(r, v, "tied", JSON_STRING, NULL, &ok);
  e->like.frozen = frozen != NULL && json_bool(frozen);
  if (tied != NULL) {
    e->tied = str_copy(r->f->arena, json_str(tied));
    e->tied_span = json_span(r->file, tied);
    ok = model_check_tied(r, e) && ok;
  }
  return ok;
}

void model_read_entry(struct model_reader *r, const struct json *v) {
  static const char *const known[] = {"name", "shape", "dtype",  "grad", "place",
                                      "on",   "flat",  "frozen", "tied", "order"};
  if (json_kind(v) != JSON_OBJECT) {
    model_bad_value(r, v, STR("`params`"), "a list of objects");
    return;
  }
  bool ok = model_check_keys(r, v, "a parameter", known, 10);
  struct model_entry *e = ARENA_NEW(r->f->arena, struct model_entry);
  const char *where = ok ? "a parameter" : NULL; // a misspelled key is not missing too
  e->like.tied_to = UINT32_MAX;
  e->order = json_get(v, "order");
  const struct json *name = model_member(r, v, "name", JSON_STRING, where, &ok);
  const struct json *shape = model_member(r, v, "shape", JSON_ARRAY, where, &ok);
  ok = name != NULL && read_name(r, name, e) && ok;
  bool shape_ok = shape != NULL && read_shape(r, shape, &e->like.shape);
  ok = read_types(r, v, e) && ok;
  ok = read_flags(r, v, e) && ok;
  if (name != NULL && shape_ok) {
    ok = model_read_placement(r, v, e) && ok;
  }
  if (ok && shape_ok) {
    model_expand(r, e);
  }
}
