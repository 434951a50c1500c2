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
                   STR_FMT(p->flat_axis));
  }
  return str_fmt(b->arena, "is sharded along axis `%.*s` in dimension %u",
                 STR_FMT(b->model->axis[p->place[i].axis].name), p->place[i].dim);
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

// What the ranks tell about a placement. Models have few of them, whatever the number of parameters.
struct placement {
  const struct model_param *like;
  bool is_first, has_replicas, is_whole;
};
struct placements {
  VEC(struct placement) list;
};

static bool placed_alike(const struct model_param *p, const struct model_param *q) {
  if (p->n_places != q->n_places || p->on_coord != q->on_coord ||
      !str_eq(p->on_axis, q->on_axis) || !str_eq(p->flat_axis, q->flat_axis)) {
    return false;
  }
  for (uint32_t i = 0; i < p->n_places; i++) {
    if (p->place[i].axis != q->place[i].axis) {
      return false;
    }
  }
  return true;
}

static struct placement placement_of(struct plan_builder *b, struct placements *known,
                                     const struct model_param *p) {
  for (uint32_t i = 0; i < known->list.n; i++) {
    if (placed_alike(known->list.v[i].like, p)) {
      return known->list.v[i];
    }
  }
  struct placement new = {p, shard_is_first(b->model, p, b->o.rank),
                          shard_has_replicas(b->model, p),
                          shard_covers(b->arena, b->model, p)};
  VEC_PUSH(b->arena, known->list, new);
  return new;
}

static void set_rule(struct plan_builder *b, uint32_t index, struct rt_plan_param *out) {
  const struct job_use *use = &b->job->use[b->job->param[index].use];
  out->label = str_cstr(b->arena, use->label);
  out->reason = str_cstr(b->arena, use->when_text);
  out->rule = b->program->rule[b->program->param[index].rule].name;
  out->n_states = b->program->rule[b->program->param[index].rule].n_states;
}

static struct rt_plan_param entry(struct plan_builder *b, uint32_t index,
                                  const struct placement *place) {
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
                              .counted = p->active && place->is_first,
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

static bool is_too_large(struct plan_builder *b) {
  uint64_t total = 0; // of 2^60 elements each at most: stops before it can overflow
  for (uint32_t i = 0; i < b->program->n_params && total <= PLAN_MAX_ELEMENTS; i++) {
    total += shape_numel(&b->model->param[i].shape);
  }
  return plan_too_large(b, PLAN_MAX_ELEMENTS, "elements in all parameters", total);
}

bool plan_table(struct plan_builder *b) {
  uint32_t n = b->program->n_params;
  if (is_too_large(b)) {
    return false;
  }
  b->shard = ARENA_ARRAY(b->arena, struct shard, n);
  b->param = ARENA_ARRAY(b->arena, struct rt_plan_param, n);
  b->has_replicas = ARENA_ARRAY(b->arena, bool, n);
  struct placements known = {0};
  bool ok = true;
  for (uint32_t i = 0; i < n; i++) {
    const struct model_param *p = &b->model->param[i];
    struct placement place = placement_of(b, &known, p);
    b->shard[i] = shard_of(b->model, p, b->o.rank);
    b->has_replicas[i] = place.has_replicas;
    b->param[i] = entry(b, i, &place);
    if (!place.is_whole && b->program->param[i].active) {
      DIAG(b->f->diags, NO_SPAN, E0807, p->name);
      ok = false;
    }
  }
  return refuse_cut_matrices(b) && ok;
}
