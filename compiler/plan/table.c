// The parameter table of one rank, and what does not fit its rule there.
#include "plan/plan_int.h"

// ---- whole matrices that ranks share

// The placement that cuts the matrices of a parameter; UINT32_MAX: none.
static uint32_t cutting_place(const struct model *m, const struct model_param *p) {
  for (uint32_t i = 0; i < p->n_places; i++) {
    if (p->place[i].dim + 2 >= p->shape.rank && m->axis[p->place[i].axis].size > 1) {
      return i;
    }
  }
  return UINT32_MAX;
}

static struct str cut_text(struct plan_builder *b, const struct model_param *p) {
  uint32_t i = cutting_place(b->model, p);
  if (i == UINT32_MAX) {
    return str_fmt(b->arena, "lies in flat buffers along axis `%.*s`",
                   STR_FMT(str_escape(b->arena, p->flat_axis)));
  }
  return str_fmt(b->arena, "is sharded along axis `%.*s` in dimension %u",
                 STR_FMT(str_escape(b->arena, b->model->axis[p->place[i].axis].name)),
                 p->place[i].dim);
}

static bool cuts_matrices(const struct plan_builder *b, uint32_t param) {
  const struct model_param *p = &b->model->param[param];
  bool is_matrix = b->form.v[b->form_of[b->program->param[param].rule]].is_matrix;
  return is_matrix && (cutting_place(b->model, p) != UINT32_MAX ||
                       (p->flat_axis.n != 0 && shard_count(b->model, p) > 1));
}

// Once for each use line, with the first parameter and how many more.
static bool refuse_cut_matrices(struct plan_builder *b) {
  uint32_t *first = ARENA_ARRAY(b->arena, uint32_t, b->job->n_uses);
  uint32_t *n = ARENA_ARRAY(b->arena, uint32_t, b->job->n_uses);
  for (uint32_t i = 0; i < b->program->n_params; i++) {
    if (b->program->param[i].active && cuts_matrices(b, i)) {
      uint32_t use = b->job->param[i].use;
      first[use] = n[use]++ == 0 ? i : first[use];
    }
  }
  bool ok = true;
  for (uint32_t u = 0; u < b->job->n_uses; u++) {
    if (n[u] != 0) {
      const struct model_param *p = &b->model->param[first[u]];
      struct diag *d = DIAG(b->f->diags, NO_SPAN, E0801, b->job->use[u].optimizer->name,
                            p->name, cut_text(b, p));
      if (n[u] > 1) {
        diag_note(b->f->diags, d, NO_SPAN,
                  str_fmt(b->arena, "the same holds for %u more of the use line `%.*s`",
                          n[u] - 1, STR_FMT(b->job->use[u].label)));
      }
      ok = false;
    }
  }
  return ok;
}

// ---- the table

// Parameters of one entry of the model have one placement: whether this rank is the first that holds a shard is
// looked up once for them.
struct first_rank {
  const struct model_param *like;
  bool is_first;
};

static bool is_first_rank(struct plan_builder *b, struct first_rank *last,
                          const struct model_param *p) {
  const struct model_param *q = last->like;
  if (q == NULL || q->place != p->place || q->n_places != p->n_places ||
      !str_eq(q->on_axis, p->on_axis) || !str_eq(q->flat_axis, p->flat_axis)) {
    *last = (struct first_rank){p, shard_is_first(b->model, p, b->o.rank)};
  }
  return last->is_first;
}

static void set_rule(struct plan_builder *b, uint32_t index, struct rt_plan_param *out) {
  const struct job_use *use = &b->job->use[b->job->param[index].use];
  out->label = str_cstr(b->arena, use->label);
  out->reason = str_cstr(b->arena, use->when_text);
  out->rule = b->program->rule[b->program->param[index].rule].name;
  out->n_states = b->program->rule[b->program->param[index].rule].n_states;
}

static struct rt_plan_param entry(struct plan_builder *b, uint32_t index,
                                  struct first_rank *last) {
  const struct model_param *m = &b->model->param[index];
  const struct rt_param *p = &b->program->param[index];
  const struct shard *s = &b->shard[index];
  struct rt_plan_param out = {.name = p->name,
                              .label = "",
                              .reason = "",
                              .rule = "",
                              .rank = s->rank,
                              .numel = s->numel,
                              .storage = p->storage,
                              .grad = p->grad,
                              .unit = RT_NO_ID,
                              .counted = p->active && is_first_rank(b, last, m),
                              .order = m->has_order ? m->order : 0};
  for (uint32_t d = 0; d < s->rank; d++) {
    out.dim[d] = s->dim[d];
    out.start[d] = s->start[d];
  }
  if (p->active) {
    set_rule(b, index, &out);
  }
  return out;
}

bool plan_table(struct plan_builder *b) {
  uint32_t n = b->program->n_params;
  b->shard = ARENA_ARRAY(b->arena, struct shard, n);
  b->param = ARENA_ARRAY(b->arena, struct rt_plan_param, n);
  struct first_rank last = {0};
  for (uint32_t i = 0; i < n; i++) {
    b->shard[i] = shard_of(b->model, &b->model->param[i], b->o.rank);
    b->param[i] = entry(b, i, &last);
  }
  return refuse_cut_matrices(b);
}
