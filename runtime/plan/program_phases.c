// Phases and the tensors and scalars that they take; pointers of kernels.
#include "plan/program_code.h"

#include "plan/names.h"

static const char *const tensor_names[] = {"param", "grad", "state", "temp"};
static const char *const phase_names[] = {"map", "ortho"};
static const char *const access_names[] = {"-", "r", "w", "rw"};

const char *rt_access_text(bool read, bool written) {
  return access_names[(read ? 1 : 0) + (written ? 2 : 0)];
}

bool rt_access_read(struct rt_reader *r, const struct json *v, bool *read,
                    bool *written) {
  uint32_t i;
  if (!rt_reader_name(r, v, "access", access_names, 4, &i)) {
    return false;
  }
  *read = i % 2 == 1;
  *written = i >= 2;
  return true;
}

void rt_pointers_write(struct rt_text *t, const struct rt_access *a, uint32_t n) {
  rt_text_key(t, "pointers");
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < n; i++) {
    rt_text_comma(t);
    rt_text_put(t, "[");
    rt_text_u64(t, a[i].bytes);
    rt_text_comma(t);
    rt_text_string(t, rt_access_text(a[i].read, a[i].written));
    rt_text_put(t, "]");
  }
  rt_text_put(t, "]");
}

bool rt_pointers_read(struct rt_reader *r, const struct json *obj,
                      const struct rt_access **access, uint32_t *n) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(r, obj, "pointers", sizeof **access, &list, &items, n)) {
    return false;
  }
  struct rt_access *a = items;
  for (uint32_t i = 0; i < *n; i++) {
    const struct json *v = json_item(list, i);
    if (json_kind(v) != JSON_ARRAY || json_size(v) != 2) {
      return rt_reader_fail(r, v, "a pointer is [bytes, \"r\", \"w\" or \"rw\"]");
    }
    if (!rt_reader_u32(r, json_item(v, 0), "bytes", &a[i].bytes) ||
        !rt_access_read(r, json_item(v, 1), &a[i].read, &a[i].written)) {
      return false;
    }
  }
  *access = a;
  return true;
}

static void write_tensor(struct rt_text *t, const struct rt_tensor *x) {
  rt_text_comma(t);
  rt_text_put(t, "[");
  rt_text_string(t, x->kind <= RT_TENSOR_TEMP ? tensor_names[x->kind] : "");
  rt_text_comma(t);
  rt_text_u64(t, x->index);
  rt_text_comma(t);
  rt_text_string(t, x->storage < RT_N_STORAGES ? rt_storage_names[x->storage] : "");
  rt_text_comma(t);
  rt_text_string(t, rt_access_text(x->read, x->written));
  rt_text_put(t, "]");
}

static bool read_tensor(struct rt_reader *r, const struct json *v, struct rt_tensor *x) {
  if (json_kind(v) != JSON_ARRAY || json_size(v) != 4) {
    return rt_reader_fail(r, v, "a tensor is [kind, index, storage, access]");
  }
  return rt_reader_name(r, json_item(v, 0), "tensor", tensor_names, 4, &x->kind) &&
         rt_reader_u32(r, json_item(v, 1), "index", &x->index) &&
         rt_reader_name(r, json_item(v, 2), "storage", rt_storage_names, RT_N_STORAGES,
                        &x->storage) &&
         rt_access_read(r, json_item(v, 3), &x->read, &x->written);
}

static void write_scalars(struct rt_text *t, const uint32_t *scalar, uint32_t n) {
  rt_text_key(t, "scalars");
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < n; i++) {
    rt_text_comma(t);
    if (scalar[i] == RT_SCALAR_CLIP) {
      rt_text_string(t, "clip");
    } else {
      rt_text_u64(t, scalar[i]);
    }
  }
  rt_text_put(t, "]");
}

void rt_phases_write(struct rt_text *t, const char *key, const struct steprt_program *p,
                     const struct rt_phase *phase, uint32_t n) {
  rt_text_key(t, key);
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < n; i++) {
    const struct rt_phase *ph = &phase[i];
    rt_text_line(t);
    rt_text_put(t, "{");
    rt_text_member_u64(t, phase_names[ph->kind == RT_PHASE_ORTHO], ph->kernel);
    rt_text_key(t, "tensors");
    rt_text_put(t, "[");
    for (uint32_t k = 0; k < ph->n_tensors; k++) {
      write_tensor(t, &ph->tensor[k]);
    }
    rt_text_put(t, "]");
    if (ph->kind == RT_PHASE_MAP && ph->kernel < p->n_kernels) {
      write_scalars(t, ph->scalar, p->kernel[ph->kernel].n_scalars);
    }
    rt_text_put(t, "}");
  }
  rt_text_put(t, "]");
}

static bool read_scalars(struct rt_reader *r, const struct json *v, uint32_t n_scalars,
                         const uint32_t **out) {
  const struct json *list;
  void *items;
  uint32_t n;
  if (!rt_reader_list(r, v, "scalars", sizeof **out, &list, &items, &n)) {
    return false;
  }
  if (n != n_scalars) {
    return rt_reader_fail(r, list, "its kernel has %u scalars, not %u", n_scalars, n);
  }
  uint32_t *scalar = items;
  for (uint32_t i = 0; i < n; i++) {
    static const char *const clip[] = {"clip"};
    const struct json *s = json_item(list, i);
    if (json_kind(s) == JSON_STRING) {
      uint32_t which;
      scalar[i] = RT_SCALAR_CLIP;
      if (!rt_reader_name(r, s, "scalars", clip, 1, &which)) {
        return false;
      }
    } else if (!rt_reader_u32(r, s, "scalars", &scalar[i])) {
      return false;
    }
  }
  *out = scalar;
  return true;
}

static bool read_phase(struct rt_reader *r, const struct json *v,
                       const struct steprt_program *p, struct rt_phase *out) {
  if (!rt_reader_object(r, v, NULL, "map ortho tensors scalars")) {
    return false;
  }
  const struct json *map = json_get(v, "map"), *ortho = json_get(v, "ortho"), *list;
  if ((map == NULL) == (ortho == NULL)) {
    return rt_reader_fail(r, v, "a phase is one of `map` and `ortho`");
  }
  void *items;
  out->kind = map != NULL ? RT_PHASE_MAP : RT_PHASE_ORTHO;
  if (!rt_reader_u32(r, map != NULL ? map : ortho, "phase", &out->kernel) ||
      !rt_reader_list(r, v, "tensors", sizeof *out->tensor, &list, &items,
                      &out->n_tensors)) {
    return false;
  }
  for (uint32_t i = 0; i < out->n_tensors; i++) {
    if (!read_tensor(r, json_item(list, i), (struct rt_tensor *)items + i)) {
      return false;
    }
  }
  out->tensor = items;
  if (out->kind == RT_PHASE_ORTHO) {
    return json_get(v, "scalars") == NULL ||
           rt_reader_fail(r, v, "an orthogonalize has no scalars");
  }
  if (out->kernel >= p->n_kernels) {
    return rt_reader_fail(r, map, "kernel %u does not exist", out->kernel);
  }
  return read_scalars(r, v, p->kernel[out->kernel].n_scalars, &out->scalar);
}

bool rt_phases_read(struct rt_reader *r, const struct json *obj, const char *key,
                    const struct steprt_program *p, const struct rt_phase **phase,
                    uint32_t *n) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(r, obj, key, sizeof **phase, &list, &items, n)) {
    return false;
  }
  for (uint32_t i = 0; i < *n; i++) {
    if (!read_phase(r, json_item(list, i), p, (struct rt_phase *)items + i)) {
      return false;
    }
  }
  *phase = items;
  return true;
}
