// A model from a table in memory: what a trainer hands over instead of a file.
#include "front/model_int.h"

// Messages about a table have no place: they name the parameter.
static bool bad_shape(struct model_reader *r, struct str name, const char *what) {
  struct diag *d = DIAG(r->f->diags, NO_SPAN, E0506, str_of(what));
  diag_note(r->f->diags, d, NO_SPAN,
            str_fmt(r->f->arena, "of parameter `%s`", str_escape(r->f->arena, name).p));
  return false;
}

static bool read_shape(struct model_reader *r, const struct model_tensor *t,
                       struct shape *s) {
  if (t->rank > MAX_RANK) {
    return bad_shape(r, t->name, "more than 8 dimensions");
  }
  s->rank = t->rank;
  for (uint32_t i = 0; i < t->rank; i++) {
    s->dim[i] = t->dim[i];
  }
  const char *problem = model_shape_problem(s);
  return problem == NULL || bad_shape(r, t->name, problem);
}

static bool is_utf8(struct str s) {
  uint32_t code_point;
  for (size_t i = 0, n; i < s.n; i += n) {
    n = str_utf8(s, i, &code_point);
    if (n == 0) {
      return false;
    }
  }
  return true;
}

static bool read_name(struct model_reader *r, const struct model_entry *e) {
  if (!is_utf8(e->name)) {
    DIAG(r->f->diags, NO_SPAN, E0508, e->name, STR("is not UTF-8"));
    return false;
  }
  return model_check_name(r, e);
}

static bool read_types(struct model_reader *r, const struct model_tensor *t,
                       struct model_param *like) {
  like->dtype = ST_F32;
  bool ok =
      t->dtype.n == 0 || model_read_dtype(r, NO_SPAN, "dtype", t->dtype, &like->dtype);
  like->grad = like->dtype;
  like->has_grad = t->grad.n != 0;
  return (t->grad.n == 0 || model_read_dtype(r, NO_SPAN, "grad", t->grad, &like->grad)) &&
         ok;
}

static void read_tensor(struct model_reader *r, const struct model_tensor *t) {
  struct model_entry *e = ARENA_NEW(r->f->arena, struct model_entry);
  e->name = str_copy(r->f->arena, t->name);
  e->tied = str_copy(r->f->arena, t->tied);
  e->span = e->tied_span = NO_SPAN;
  e->like.frozen = t->frozen;
  e->like.tied_to = UINT32_MAX;
  bool ok = read_name(r, e);
  ok = read_shape(r, t, &e->like.shape) && ok;
  ok = read_types(r, t, &e->like) && ok;
  ok = (t->tied.n == 0 || model_check_tied(r, e)) && ok;
  if (ok) {
    struct model_param p = e->like;
    p.name = e->name;
    VEC_PUSH(r->f->arena, r->param, p);
    VEC_PUSH(r->f->arena, r->entry, e);
  }
}

void model_read_table(struct model_reader *r, const struct model_tensor *t, uint32_t n) {
  r->m->world = 1;
  if (n > MODEL_MAX_PARAMS) {
    DIAG(r->f->diags, NO_SPAN, E0509, STR("2^20"));
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    read_tensor(r, &t[i]);
  }
}
