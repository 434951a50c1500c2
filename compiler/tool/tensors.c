// The tensors of a session by name.
#include "tool/tensors.h"

#include "file/safetensors.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
  return str_cmp(((const struct tensor *)a)->name, ((const struct tensor *)b)->name);
}

struct shape state_shape(enum cls c, const struct shape *s) {
  struct shape out = *s;
  switch (c) {
  case CLS_ELEM: return out;
  case CLS_ROW: out.rank = s->rank - 1; return out;
  case CLS_COL:
    out.rank = s->rank - 1;
    out.dim[s->rank - 2] = s->dim[s->rank - 1];
    return out;
  case CLS_MATRIX: out.rank = s->rank >= 2 ? s->rank - 2 : 0; return out;
  case CLS_PARAM:
  case CLS_GROUP: break;
  }
  out.rank = 0;
  return out;
}

static void add_tensor(struct session *s, struct tensor t, struct tensors *out) {
  t.numel = shape_numel(&t.shape);
  if (t.data == NULL && t.numel != 0 && out->unread.n == 0) {
    out->unread = t.name;
  }
  VEC_PUSH(s->tool->arena, out->v, t);
}

static void add_states(struct session *s, uint32_t param, struct tensors *out) {
  const struct model_param *p = &s->model->param[param];
  const struct rule *rule = s->job->rule[s->job->param[param].rule];
  for (uint32_t i = 0; i < rule->n_states; i++) {
    const struct rule_state *state = &rule->state[i];
    if (state->is_host) {
      continue;
    }
    struct tensor t = {.name = str_fmt(s->tool->arena, "%.*s/%.*s", STR_FMT(p->name),
                                       STR_FMT(state->name)),
                       .data = session_state(s, param, state->name),
                       .storage = state->storage,
                       .shape = state_shape(state->cls, &p->shape)};
    add_tensor(s, t, out);
  }
}

static bool has_rule(const struct job *job, uint32_t param) {
  return job->param[param].rule != UINT32_MAX;
}

enum exit_code session_tensors(struct session *s, bool params, bool states,
                               struct tensors *out) {
  *out = (struct tensors){0};
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    const struct model_param *p = &s->model->param[i];
    if (params && s->param[i] != NULL) {
      struct tensor t = {.name = p->name,
                         .data = session_param(s, i),
                         .storage = p->dtype,
                         .shape = p->shape};
      add_tensor(s, t, out);
    }
    if (states && has_rule(s->job, i)) {
      add_states(s, i, out);
    }
  }
  if (out->v.n != 0) {
    qsort(out->v.v, out->v.n, sizeof *out->v.v, by_name);
  }
  if (out->unread.n != 0) {
    say(s->tool, "cannot read `%s`: %s", str_escape(s->tool->arena, out->unread).p,
        str_escape(s->tool->arena, str_of(steprt_error(s->rt))).p);
  }
  return out->unread.n != 0 ? EXIT_ENVIRONMENT : EXIT_OK;
}

static int str_order(const void *a, const void *b) {
  return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

bool session_names_collide(struct tool *t, const struct job *job) {
  const struct model *m = job->model;
  struct str *names = ARENA_ARRAY(t->arena, struct str, m->n_params);
  for (uint32_t i = 0; i < m->n_params; i++) {
    names[i] = m->param[i].name;
  }
  qsort(names, m->n_params, sizeof *names, str_order);
  for (uint32_t i = 0; i < m->n_params; i++) {
    const struct rule *rule = has_rule(job, i) ? job->rule[job->param[i].rule] : NULL;
    for (uint32_t k = 0; rule != NULL && k < rule->n_states; k++) {
      struct str name = str_fmt(t->arena, "%.*s/%.*s", STR_FMT(m->param[i].name),
                                STR_FMT(rule->state[k].name));
      if (bsearch(&name, names, m->n_params, sizeof *names, str_order) != NULL) {
        say(t, "the state `%s` of `%s` has the name of another parameter",
            str_escape(t->arena, name).p, str_escape(t->arena, m->param[i].name).p);
        return true;
      }
    }
  }
  return false;
}

enum exit_code tensors_write(struct tool *t, const struct tensors *v, const char *path) {
  static const enum st_dtype dtypes[] = {
      [ST_F32] = ST_DT_F32,        [ST_BF16] = ST_DT_BF16,      [ST_F16] = ST_DT_F16,
      [ST_F8E4M3] = ST_DT_F8_E4M3, [ST_F8E5M2] = ST_DT_F8_E5M2, [ST_Q8] = ST_DT_U8,
      [ST_Q8U] = ST_DT_U8};
  struct st_out *out = ARENA_ARRAY(t->arena, struct st_out, v->v.n);
  for (uint32_t i = 0; i < v->v.n; i++) {
    const struct tensor *x = &v->v.v[i];
    out[i] = (struct st_out){.name = str_cstr(t->arena, x->name),
                             .dtype = dtypes[x->storage],
                             .rank = x->shape.rank,
                             .data = x->data};
    memcpy(out[i].dim, x->shape.dim, x->shape.rank * sizeof *out[i].dim);
  }
  struct st_error err = {0};
  if (st_write(path, out, v->v.n, &err) == STEPRT_OK) {
    return EXIT_OK;
  }
  say(t, "cannot write `%s`: %s", str_escape(t->arena, str_of(path)).p, err.text);
  return EXIT_ENVIRONMENT;
}
