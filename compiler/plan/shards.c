// Which part of a parameter a rank holds (DESIGN section 5).
#include "plan/plan_int.h"

static const struct model_axis *axis_named(const struct model *m, struct str name) {
  for (uint32_t i = 0; i < m->n_axes; i++) {
    if (str_eq(m->axis[i].name, name)) {
      return &m->axis[i];
    }
  }
  return NULL;
}

static uint64_t coordinate(const struct model_axis *a, uint64_t rank) {
  return rank / a->stride % a->size;
}

static void set_numel(struct shard *s) {
  s->numel = 1;
  for (uint32_t d = 0; d < s->rank; d++) {
    s->numel *= s->dim[d];
  }
}

// FSDP2's rule: full = ceil(n / size); coordinate c holds [min(n, c full), min(n, (c + 1) full)) of what the axes
// before it left.
static void cut(struct shard *s, uint32_t dim, uint64_t size, uint64_t c) {
  uint64_t n = s->dim[dim], full = ceil_div(n, size);
  uint64_t begin = full != 0 && c < ceil_div(n, full) ? c * full : n;
  uint64_t end = n - begin < full ? n : begin + full;
  s->start[dim] += begin;
  s->dim[dim] = end - begin;
}

static struct shard whole(const struct shape *shape) {
  struct shard s = {.rank = shape->rank};
  for (uint32_t d = 0; d < s.rank; d++) {
    s.dim[d] = shape->dim[d];
  }
  set_numel(&s);
  return s;
}

static struct shard range(uint64_t begin, uint64_t end) {
  return (struct shard){
      .rank = 1, .dim = {end - begin}, .start = {begin}, .numel = end - begin};
}

struct shard shard_of(const struct model *m, const struct model_param *p, uint64_t rank) {
  const struct model_axis *on = axis_named(m, p->on_axis);
  const struct model_axis *flat = axis_named(m, p->flat_axis);
  if (on != NULL && coordinate(on, rank) != p->on_coord) {
    return range(0, 0);
  }
  if (flat != NULL && flat->size > 1) {
    const uint64_t *r = p->flat[coordinate(flat, rank)];
    return range(r[0], r[1]);
  }
  struct shard s = whole(&p->shape);
  for (uint32_t i = 0; i < p->n_places; i++) {
    const struct model_axis *a = &m->axis[p->place[i].axis];
    cut(&s, p->place[i].dim, a->size, coordinate(a, rank));
  }
  set_numel(&s);
  return s;
}

struct shard shard_full(const struct model *m, const struct model_param *p) {
  const struct model_axis *flat = axis_named(m, p->flat_axis);
  if (flat != NULL && flat->size > 1) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->n_flat; i++) {
      uint64_t n = p->flat[i][1] - p->flat[i][0];
      most = n > most ? n : most;
    }
    return range(0, most);
  }
  struct shard s = whole(&p->shape);
  for (uint32_t i = 0; i < p->n_places; i++) {
    cut(&s, p->place[i].dim, m->axis[p->place[i].axis].size, 0);
  }
  set_numel(&s);
  return s;
}

uint64_t shard_count(const struct model *m, const struct model_param *p) {
  const struct model_axis *flat = axis_named(m, p->flat_axis);
  uint64_t n = 0;
  for (uint32_t i = 0; flat != NULL && i < p->n_flat; i++) {
    n += p->flat[i][1] != p->flat[i][0];
  }
  if (flat != NULL) {
    return n != 0 ? n : 1;
  }
  struct shard s = whole(&p->shape);
  n = 1;
  for (uint32_t i = 0; i < p->n_places; i++) {
    uint64_t *dim = &s.dim[p->place[i].dim];
    uint64_t full = ceil_div(*dim, m->axis[p->place[i].axis].size);
    n *= full != 0 ? ceil_div(*dim, full) : 1;
    *dim = full;
  }
  return n;
}

uint64_t shard_presence(const struct model *m, const struct model_param *p) {
  const struct model_axis *on = axis_named(m, p->on_axis);
  return on != NULL ? on->size : 1;
}

// ---- grains

static uint64_t row_length(const struct shard *s) {
  return s->rank == 0 ? 1 : s->dim[s->rank - 1];
}

uint64_t shard_grains(const struct shard *s) {
  uint64_t cols = row_length(s);
  return s->numel == 0 ? 0 : s->numel / cols * ceil_div(cols, PLAN_GRAIN);
}

uint64_t shard_grain_at(const struct shard *s, uint64_t grain) {
  uint64_t cols = row_length(s), per_row = ceil_div(cols, PLAN_GRAIN);
  return grain >= shard_grains(s) ? s->numel
                                  : grain / per_row * cols + grain % per_row * PLAN_GRAIN;
}

// ---- replicas

// Do two ranks hold the same part, as far as one axis tells?
static bool same_coordinate(const struct model_axis *a, uint64_t r, uint64_t q) {
  return a == NULL || coordinate(a, r) == coordinate(a, q);
}

static bool is_replica(const struct model *m, const struct model_param *p, uint64_t r,
                       uint64_t q) {
  for (uint32_t i = 0; i < p->n_places; i++) {
    if (!same_coordinate(&m->axis[p->place[i].axis], r, q)) {
      return false;
    }
  }
  return same_coordinate(axis_named(m, p->on_axis), r, q) &&
         same_coordinate(axis_named(m, p->flat_axis), r, q);
}

bool shard_is_first(const struct model *m, const struct model_param *p, uint64_t rank) {
  for (uint64_t q = 0; q < rank; q++) {
    if (is_replica(m, p, rank, q)) {
      return false;
    }
  }
  return true;
}

bool shard_has_replicas(const struct model *m, const struct model_param *p) {
  for (uint64_t q = 1; q < m->world; q++) {
    if (is_replica(m, p, 0, q)) {
      return true;
    }
  }
  return false;
}

bool shard_covers(struct arena *a, const struct model *m, const struct model_param *p) {
  const struct model_axis *on = axis_named(m, p->on_axis);
  uint64_t n = 1, held = 0;
  for (uint32_t i = 0; i < p->n_places; i++) {
    n *= m->axis[p->place[i].axis].size;
    if (n > m->world) {
      return false;
    }
  }
  struct arena_mark mark = arena_mark(a);
  bool *is_held = ARENA_ARRAY(a, bool, n); // by combination of coordinates
  for (uint64_t r = 0; r < m->world; r++) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < p->n_places; i++) {
      const struct model_axis *axis = &m->axis[p->place[i].axis];
      at = at * axis->size + coordinate(axis, r);
    }
    if ((on == NULL || coordinate(on, r) == p->on_coord) && !is_held[at]) {
      is_held[at] = true;
      held++;
    }
  }
  arena_rewind(a, mark);
  return held == n;
}
