// stepc-model/1 (DESIGN section 5): the document, its mesh, and access to JSON values with messages.
#include "front/model_int.h"

#include <string.h>

// What a value is, for "found ...": its text where it is short and on one line.
static struct str describe(struct model_reader *r, const struct json *v) {
  struct json_range at = json_range(v);
  struct str text = {r->f->sources->file.v[r->file].text.p + at.at, at.end - at.at};
  bool is_short = text.n <= 40 && memchr(text.p, '\n', text.n) == NULL;
  return is_short ? text : str_of(json_kind_name(json_kind(v)));
}

void model_bad_value(struct model_reader *r, const struct json *v, struct str what,
                     const char *want) {
  DIAG(r->f->diags, json_span(r->file, v), E0505, what, str_of(want), describe(r, v));
}

const struct json *model_member(struct model_reader *r, const struct json *obj,
                                const char *key, enum json_kind kind, const char *where,
                                bool *ok) {
  const struct json *v = json_get(obj, key);
  if (v == NULL) {
    if (where != NULL) {
      DIAG(r->f->diags, json_span(r->file, obj), E0504, str_of(where), str_of(key));
      *ok = false;
    }
    return NULL;
  }
  if (json_kind(v) != kind) {
    model_bad_value(r, v, str_fmt(r->f->arena, "`%s`", key), json_kind_name(kind));
    *ok = false;
    return NULL;
  }
  return v;
}

bool model_check_keys(struct model_reader *r, const struct json *obj, const char *where,
                      const char *const *known, uint32_t n) {
  bool ok = true;
  struct str *names = ARENA_ARRAY(r->f->arena, struct str, n);
  for (uint32_t k = 0; k < n; k++) {
    names[k] = str_of(known[k]);
  }
  for (uint32_t i = 0; i < json_size(obj); i++) {
    const struct json *m = json_item(obj, i);
    struct str key = str_of(json_key(m));
    bool is_known = false;
    for (uint32_t k = 0; k < n; k++) {
      is_known = is_known || str_eq(key, names[k]);
    }
    if (!is_known) {
      struct diag *d = DIAG(r->f->diags, json_key_span(r->f->sources, r->file, m), E0503,
                            key, str_of(where));
      diag_suggest(r->f->diags, d, key, names, n);
      ok = false;
    }
  }
  return ok;
}

static void bad_axis(struct model_reader *r, const struct json *v, struct str name,
                     const char *what) {
  DIAG(r->f->diags, json_span(r->file, v), E0512, name, str_of(what));
}

static bool read_axis(struct model_reader *r, const struct json *v,
                      struct model_axis *axis) {
  static const char *const known[] = {"size", "stride"};
  axis->name = str_copy(r->f->arena, str_of(json_key(v)));
  if (json_kind(v) != JSON_OBJECT) {
    model_bad_value(r, v, STR("a mesh axis"), "an object with `size` and `stride`");
    return false;
  }
  bool ok = model_check_keys(r, v, "a mesh axis", known, 2);
  const char *where = ok ? "a mesh axis" : NULL; // a misspelled key is not missing too
  uint64_t *field[2] = {&axis->size, &axis->stride};
  for (int i = 0; i < 2; i++) {
    const struct json *n = model_member(r, v, known[i], JSON_NUMBER, where, &ok);
    if (n != NULL && (!json_u64(n, field[i]) || *field[i] == 0 || *field[i] > 1 << 24)) {
      model_bad_value(r, n, str_fmt(r->f->arena, "`%s`", known[i]),
                      "an integer from 1 to 2^24");
      ok = false;
    }
  }
  return ok;
}

// The product of the sizes of axes with distinct strides; of axes that share a stride the largest counts.
static uint64_t default_world(const struct model *m) {
  uint64_t world = 1;
  for (uint32_t i = 0; i < m->n_axes; i++) {
    bool counts = true;
    for (uint32_t k = 0; k < m->n_axes; k++) {
      const struct model_axis *a = &m->axis[i], *b = &m->axis[k];
      counts = counts && !(a->stride == b->stride &&
                           (b->size > a->size || (b->size == a->size && k < i)));
    }
    if (counts && __builtin_mul_overflow(world, m->axis[i].size, &world)) {
      return UINT64_MAX;
    }
  }
  return world;
}

// Each coordinate must be held by equally many ranks: size x stride divides world.
static bool check_world(struct model_reader *r, const struct json *mesh,
                        const struct json *world) {
  struct model *m = r->m;
  enum { MOST = 1 << 24 };
  m->world = default_world(m);
  if (world != NULL &&
      (!json_u64(world, &m->world) || m->world == 0 || m->world > MOST)) {
    model_bad_value(r, world, STR("`world`"), "an integer from 1 to 2^24");
    return false;
  }
  if (m->world > MOST) {
    bad_axis(r, json_item(mesh, 0), m->axis[0].name, "the mesh has more than 2^24 ranks");
    return false;
  }
  bool ok = true;
  for (uint32_t i = 0; i < m->n_axes; i++) {
    if (m->world % (m->axis[i].size * m->axis[i].stride) != 0) {
      bad_axis(r, json_item(mesh, i), m->axis[i].name,
               "size times stride does not divide `world`");
      ok = false;
    }
  }
  return ok;
}

bool model_read_mesh(struct model_reader *r, const struct json *root) {
  bool ok = true;
  const struct json *mesh = model_member(r, root, "mesh", JSON_OBJECT, NULL, &ok);
  const struct json *world = model_member(r, root, "world", JSON_NUMBER, NULL, &ok);
  if (mesh != NULL && json_size(mesh) > 16) {
    model_bad_value(r, mesh, STR("`mesh`"), "an object of at most 16 axes");
    return false;
  }
  struct model *m = r->m;
  m->n_axes = mesh == NULL ? 0 : json_size(mesh);
  m->axis = ARENA_ARRAY(r->f->arena, struct model_axis, m->n_axes);
  for (uint32_t i = 0; i < m->n_axes; i++) {
    ok = read_axis(r, json_item(mesh, i), &m->axis[i]) && ok;
  }
  return ok && check_world(r, mesh, world);
}

void model_read_json(struct model_reader *r, const struct json *root) {
  static const char *const known[] = {"format", "name", "world", "mesh", "params"};
  if (json_kind(root) != JSON_OBJECT) {
    model_bad_value(r, root, STR("a model"), "an object");
    return;
  }
  bool ok = true;
  const struct json *format =
      model_member(r, root, "format", JSON_STRING, "the model", &ok);
  if (format != NULL && !str_is(json_str(format), "stepc-model/1")) {
    DIAG(r->f->diags, json_span(r->file, format), E0502, json_str(format));
    return; // another version: nothing else is known about it
  }
  ok = model_check_keys(r, root, "the model", known, 5) && ok;
  const struct json *name = model_member(r, root, "name", JSON_STRING, NULL, &ok);
  if (name != NULL) {
    r->m->name = str_copy(r->f->arena, json_str(name));
  }
  bool mesh_ok = model_read_mesh(r, root);
  const struct json *params =
      model_member(r, root, "params", JSON_ARRAY, "the model", &ok);
  if (params == NULL || !mesh_ok) {
    return; // without its axes, placements cannot be checked
  }
  if (json_size(params) == 0) {
    model_bad_value(r, params, STR("`params`"), "a list of parameters");
  }
  for (uint32_t i = 0; i < json_size(params); i++) {
    model_read_entry(r, json_item(params, i));
  }
}
