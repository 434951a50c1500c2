// Where a parameter lives: `place` (sharded along axes), `on` (whole, on some ranks), `flat` (an element range a rank).
#include "front/model_int.h"

static bool bad_placement(struct model_reader *r, const struct json *at,
                          const struct model_entry *e, const char *what) {
  DIAG(r->f->diags, json_span(r->file, at), E0513, e->name, str_of(what));
  return false;
}

static bool find_axis(struct model_reader *r, struct span at, const struct model_entry *e,
                      struct str name, uint32_t *out) {
  struct str *names = ARENA_ARRAY(r->f->arena, struct str, r->m->n_axes);
  for (uint32_t i = 0; i < r->m->n_axes; i++) {
    if (str_eq(r->m->axis[i].name, name)) {
      *out = i;
      return true;
    }
    names[i] = r->m->axis[i].name;
  }
  struct diag *d =
      DIAG(r->f->diags, at, E0513, e->name,
           str_fmt(r->f->arena, "the mesh has no axis `%.*s`", STR_FMT(name)));
  diag_suggest(r->f->diags, d, name, names, r->m->n_axes);
  return false;
}

// Adds one axis and dimension to `place`; `v` is the dimension.
static bool add_place(struct model_reader *r, struct model_entry *e, struct str axis,
                      struct span axis_at, const struct json *v) {
  uint64_t dim;
  struct model_place *p = &e->like.place[e->like.n_places];
  if (!find_axis(r, axis_at, e, axis, &p->axis)) {
    return false;
  }
  if (!json_u64(v, &dim) || dim >= e->like.shape.rank) {
    return bad_placement(r, v, e,
                         "an axis shards one of the tensor's dimensions, from 0");
  }
  for (uint32_t i = 0; i < e->like.n_places; i++) {
    if (e->like.place[i].axis == p->axis) {
      DIAG(r->f->diags, axis_at, E0513, e->name,
           STR("an axis shards one dimension only"));
      return false;
    }
  }
  p->dim = (uint32_t)dim;
  e->like.n_places++;
  return true;
}

static bool is_pair(const struct json *v) {
  return json_kind(v) == JSON_ARRAY && json_size(v) == 2 &&
         json_kind(json_item(v, 0)) == JSON_STRING;
}

// {"fsdp": 0} or [["ep", 0], ["fsdp", 0]]
static bool read_place(struct model_reader *r, const struct json *v,
                       struct model_entry *e) {
  bool is_map = json_kind(v) == JSON_OBJECT;
  if (!is_map && json_kind(v) != JSON_ARRAY) {
    model_bad_value(r, v, STR("`place`"), "an object or a list of pairs");
    return false;
  }
  e->like.place = ARENA_ARRAY(r->f->arena, struct model_place, json_size(v));
  for (uint32_t i = 0; i < json_size(v); i++) {
    const struct json *item = json_item(v, i);
    if (!is_map && !is_pair(item)) {
      model_bad_value(r, item, STR("`place`"), "pairs like [\"fsdp\", 0]");
      return false;
    }
    struct str axis = is_map ? str_of(json_key(item)) : json_str(json_item(item, 0));
    struct span at = is_map ? json_key_span(r->f->sources, r->file, item)
                            : json_span(r->file, json_item(item, 0));
    if (!add_place(r, e, axis, at, is_map ? item : json_item(item, 1))) {
      return false;
    }
  }
  return true;
}

// {"ep": "j/16"}
static bool read_on(struct model_reader *r, const struct json *v, struct model_entry *e) {
  if (json_kind(v) != JSON_OBJECT || json_size(v) != 1) {
    model_bad_value(r, v, STR("`on`"), "an object of one axis");
    return false;
  }
  uint32_t axis;
  e->on = json_item(v, 0);
  if (!find_axis(r, json_key_span(r->f->sources, r->file, e->on), e,
                 str_of(json_key(e->on)), &axis)) {
    return false;
  }
  e->like.on_axis = r->m->axis[axis].name;
  for (uint32_t i = 0; i < e->like.n_places; i++) {
    if (e->like.place[i].axis == axis) {
      return bad_placement(r, v, e, "`on` keeps it whole along an axis that shards it");
    }
  }
  return true;
}

static bool read_range(const struct json *v, uint64_t range[2]) {
  return json_kind(v) == JSON_ARRAY && json_size(v) == 2 &&
         json_u64(json_item(v, 0), &range[0]) && json_u64(json_item(v, 1), &range[1]) &&
         range[0] <= range[1];
}

// The ranges that are not empty tile the elements, in the order of the ranks.
static bool read_ranges(struct model_reader *r, const struct json *v,
                        struct model_entry *e) {
  uint64_t at = 0;
  e->like.n_flat = json_size(v);
  e->like.flat =
      arena_array(r->f->arena, e->like.n_flat, sizeof *e->like.flat, _Alignof(uint64_t));
  for (uint32_t i = 0; i < e->like.n_flat; i++) {
    uint64_t *range = e->like.flat[i];
    if (!read_range(json_item(v, i), range)) {
      model_bad_value(r, json_item(v, i), STR("`ranges`"), "pairs [begin, end]");
      return false;
    }
    if (range[0] != range[1] && range[0] != at) {
      return bad_placement(r, json_item(v, i), e,
                           "this range does not start where the one before ends");
    }
    at = range[0] != range[1] ? range[1] : at;
  }
  return at == shape_numel(&e->like.shape) ||
         bad_placement(r, v, e, "the ranges do not end with the last element");
}

// {"axis": "fsdp", "ranges": [[0, 100], [100, 180]]}
static bool read_flat(struct model_reader *r, const struct json *v,
                      struct model_entry *e) {
  static const char *const known[] = {"axis", "ranges"};
  if (json_kind(v) != JSON_OBJECT) {
    model_bad_value(r, v, STR("`flat`"), "an object with `axis` and `ranges`");
    return false;
  }
  bool ok = model_check_keys(r, v, "`flat`", known, 2);
  const char *where = ok ? "`flat`" : NULL; // a misspelled key is not missing too
  const struct json *axis = model_member(r, v, "axis", JSON_STRING, where, &ok);
  const struct json *ranges = model_member(r, v, "ranges", JSON_ARRAY, where, &ok);
  uint32_t which;
  if (!ok || !find_axis(r, json_span(r->file, axis), e, json_str(axis), &which)) {
    return false;
  }
  e->like.flat_axis = r->m->axis[which].name;
  if (json_size(ranges) != r->m->axis[which].size) {
    return bad_placement(r, ranges, e, "`ranges` has one pair for each rank of the axis");
  }
  return read_ranges(r, ranges, e);
}

bool model_read_placement(struct model_reader *r, const struct json *v,
                          struct model_entry *e) {
  const struct json *place = json_get(v, "place"), *on = json_get(v, "on"),
                    *flat = json_get(v, "flat");
  if (flat != NULL && (place != NULL || on != NULL)) {
    return bad_placement(r, flat, e, "`flat` excludes `place` and `on`");
  }
  return (place == NULL || read_place(r, place, e)) &&
         (on == NULL || read_on(r, on, e)) && (flat == NULL || read_flat(r, flat, e));
}
