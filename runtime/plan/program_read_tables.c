// program.json, read: kernels with their images, and rules.
#include "plan/names.h"
#include "plan/program_code.h"
#include "plan/program_read.h"

#include <string.h>

static bool read_id(struct rt_reader *r, const struct json *v, const char *name,
                    uint32_t *out) {
  *out = RT_NO_ID;
  return json_kind(v) == JSON_NULL || rt_reader_u32(r, v, name, out);
}

bool rt_program_read_ids(struct rt_reader *r, const struct json *obj, const char *key,
                         uint32_t *out, uint32_t n) {
  const struct json *list = rt_reader_get(r, obj, key, JSON_ARRAY);
  if (list == NULL) {
    return false;
  }
  if (json_size(list) != n) {
    return rt_reader_fail(r, list, "`%s` has %u entries, not %u", key, n,
                          json_size(list));
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!read_id(r, json_item(list, i), key, &out[i])) {
      return false;
    }
  }
  return true;
}

// Letters, digits, `_`, `-` and `.`, not beginning with `.`: a name in one folder on any file system.
static bool is_plain_file(const char *name) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  size_t n = strlen(name);
  return n > 0 && n < RT_IMAGE_NAME && *name != '.' && strspn(name, plain) == n;
}

static bool read_image(struct program_reader *p, const struct json *obj,
                       struct rt_kernel *k, struct rt_image_ref *image) {
  struct rt_reader *r = &p->r;
  const struct json *v = json_get(obj, "image"), *file, *bytes;
  size_t n;
  if (v == NULL) {
    return true;
  }
  if (!rt_fields_read(r, v, &rt_built_fields, "file bytes sha256", k) ||
      (bytes = rt_reader_get(r, v, "bytes", JSON_NUMBER)) == NULL ||
      !rt_reader_u64(r, bytes, "bytes", UINT64_MAX, &image->bytes) ||
      (file = rt_reader_get(r, v, "file", JSON_STRING)) == NULL ||
      !rt_reader_digest(r, v, "sha256", image->sha256)) {
    return false;
  }
  const char *name = json_string(file, &n);
  if (!is_plain_file(name)) {
    return rt_reader_fail(r, file, "`file` is no plain name of a file in the folder");
  }
  memcpy(image->file, name, n + 1);
  return true;
}

static bool read_source(struct rt_reader *r, const struct json *obj,
                        struct rt_kernel *k) {
  const struct json *v = json_get(obj, "source");
  char hex[65];
  if (v != NULL && json_kind(v) == JSON_NULL) {
    return true;
  }
  return rt_reader_digest(r, obj, "source", hex) &&
         ((k->source_digest = rt_pool_copy(r->pool, hex, 64)) != NULL ||
          rt_reader_no_memory(r));
}

bool rt_program_read_kernels(struct program_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  struct rt_reader *r = &p->r;
  if (!rt_reader_list(r, root, "kernels", sizeof *p->program->kernel, &list, &items,
                      &p->program->n_kernels)) {
    return false;
  }
  struct rt_kernel *k = items;
  p->image = rt_pool_alloc(r->pool, p->program->n_kernels, sizeof *p->image);
  if (p->image == NULL) {
    return rt_reader_no_memory(r);
  }
  for (uint32_t i = 0; i < p->program->n_kernels; i++) {
    const struct json *v = json_item(list, i);
    if (!rt_reader_item(r, v, "kernel", i) ||
        !rt_fields_read(r, v, &rt_program_kernel_fields, "kernel source pointers image",
                        &k[i]) ||
        !read_source(r, v, &k[i]) ||
        !rt_pointers_read(r, v, &k[i].access, &k[i].n_ptrs) ||
        !read_image(p, v, &k[i], &p->image[i])) {
      return false;
    }
  }
  p->program->kernel = p->kernel = k;
  return true;
}

bool rt_program_read_orthos(struct program_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(&p->r, root, "orthos", sizeof *p->program->ortho, &list, &items,
                      &p->program->n_ortho)) {
    return false;
  }
  struct rt_ortho_set *o = items;
  for (uint32_t i = 0; i < p->program->n_ortho; i++) {
    const struct json *v = json_item(list, i);
    if (!rt_reader_item(&p->r, v, "ortho", i) ||
        !rt_fields_read(&p->r, v, &rt_ortho_set_fields, "ortho kernels", &o[i]) ||
        !rt_program_read_ids(&p->r, v, "kernels", o[i].kernel, RT_N_ORTHO_KERNELS)) {
      return false;
    }
  }
  p->program->ortho = o;
  return true;
}

static bool read_states(struct rt_reader *r, const struct json *obj,
                        struct rt_rule *out) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(r, obj, "states", sizeof *out->state, &list, &items,
                      &out->n_states)) {
    return false;
  }
  struct rt_state *state = items;
  for (uint32_t i = 0; i < out->n_states; i++) {
    const struct json *v = json_item(list, i);
    if (json_kind(v) != JSON_ARRAY || json_size(v) != 2) {
      return rt_reader_fail(r, v, "a state is [name, storage]");
    }
    if (!rt_reader_string(r, json_item(v, 0), "states", &state[i].name) ||
        !rt_reader_name(r, json_item(v, 1), "states", rt_storage_names, RT_N_STORAGES,
                        &state[i].storage)) {
      return false;
    }
  }
  out->state = state;
  return true;
}

static bool read_temps(struct rt_reader *r, const struct json *obj, struct rt_rule *out) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(r, obj, "temps", sizeof *out->temp, &list, &items, &out->n_temps)) {
    return false;
  }
  for (uint32_t i = 0; i < out->n_temps; i++) {
    if (!rt_reader_name(r, json_item(list, i), "temps", rt_storage_names, RT_N_STORAGES,
                        (uint32_t *)items + i)) {
      return false;
    }
  }
  out->temp = items;
  return true;
}

static bool read_host_states(struct rt_reader *r, const struct json *obj,
                             struct rt_rule *out) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(r, obj, "host_states", sizeof *out->host_init, &list, &items,
                      &out->n_host_states)) {
    return false;
  }
  double *initial = items;
  uint8_t *is_group = rt_pool_alloc(r->pool, out->n_host_states, sizeof *is_group);
  if (is_group == NULL) {
    return rt_reader_no_memory(r);
  }
  for (uint32_t i = 0; i < out->n_host_states; i++) {
    const struct json *v = json_item(list, i);
    if (json_kind(v) != JSON_ARRAY || json_size(v) != 2 ||
        json_kind(json_item(v, 1)) != JSON_BOOL) {
      return rt_reader_fail(r, v, "a host state is [initial value, of a group]");
    }
    if (!rt_reader_double(r, json_item(v, 0), "host_states", &initial[i])) {
      return false;
    }
    is_group[i] = json_bool(json_item(v, 1));
  }
  out->host_init = initial;
  out->host_is_group = is_group;
  return true;
}

bool rt_program_read_rules(struct program_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  struct rt_reader *r = &p->r;
  if (!rt_reader_list(r, root, "rules", sizeof *p->program->rule, &list, &items,
                      &p->program->n_rules)) {
    return false;
  }
  struct rt_rule *rule = items;
  for (uint32_t i = 0; i < p->program->n_rules; i++) {
    const struct json *v = json_item(list, i);
    struct rt_rule *u = &rule[i];
    if (!rt_reader_item(r, v, "rule", i) ||
        !rt_fields_read(r, v, &rt_rule_fields,
                        "rule states temps host_states host init phases", u) ||
        !read_states(r, v, u) || !read_temps(r, v, u) || !read_host_states(r, v, u) ||
        !rt_code_read(r, v, "host", &u->ins, &u->n_ins, &u->n_regs) ||
        !rt_phases_read(r, v, "init", p->program, &u->init, &u->n_init) ||
        !rt_phases_read(r, v, "phases", p->program, &u->phase, &u->n_phases)) {
      return false;
    }
  }
  p->program->rule = rule;
  return true;
}
