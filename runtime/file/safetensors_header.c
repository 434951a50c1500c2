// The header of a safetensors file: from JSON to checked tensors.
#include "file/escape.h"
#include "file/json.h"
#include "file/safetensors_int.h"

#include <stdlib.h>
#include <string.h>

struct header {
  struct st_file *file;
  uint64_t data_at, data_bytes; // where the data starts in the file, and its length
  struct st_error *err;
};

static const char *shown(char buf[ST_NAME_SHOWN], const char *name) {
  return rt_escape(buf, ST_NAME_SHOWN, name, strlen(name));
}

static bool fail_tensor(const struct header *h, const char *name, const char *what) {
  char buf[ST_NAME_SHOWN];
  st_fail(h->err, STEPRT_BAD_INPUT, "tensor `%s`: %s", shown(buf, name), what);
  return false;
}

static bool read_dtype(const struct header *h, const struct json *v,
                       struct st_tensor *t) {
  if (v == NULL || json_kind(v) != JSON_STRING) {
    return fail_tensor(h, t->name, "`dtype` is missing or no string");
  }
  size_t n;
  const char *text = json_string(v, &n);
  for (uint32_t i = 0; i < N_ST_DTYPES; i++) {
    if (strcmp(text, st_dtype_name((enum st_dtype)i)) == 0) {
      t->dtype = (enum st_dtype)i;
      return true;
    }
  }
  char name[ST_NAME_SHOWN], dtype[40];
  st_fail(h->err, STEPRT_BAD_INPUT, "tensor `%s`: unknown dtype `%s`",
          shown(name, t->name), rt_escape(dtype, sizeof dtype, text, n));
  return false;
}

static bool read_shape(const struct header *h, const struct json *v,
                       struct st_tensor *t) {
  if (v == NULL || json_kind(v) != JSON_ARRAY) {
    return fail_tensor(h, t->name, "`shape` is missing or no array");
  }
  if (json_size(v) > ST_MAX_RANK) {
    return fail_tensor(h, t->name, "more than 8 dimensions");
  }
  t->rank = json_size(v);
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!json_u64(json_item(v, i), &t->dim[i])) {
      return fail_tensor(h, t->name, "a dimension is no integer of 0 or more");
    }
  }
  if (!st_shape_bytes(t->dim, t->rank, t->dtype, &t->numel, &t->bytes)) {
    return fail_tensor(h, t->name,
                       "the shape has too many elements, or a part of a byte");
  }
  return true;
}

static bool read_offsets(const struct header *h, const struct json *v,
                         struct st_tensor *t) {
  uint64_t begin, end;
  if (v == NULL || json_kind(v) != JSON_ARRAY || json_size(v) != 2 ||
      !json_u64(json_item(v, 0), &begin) || !json_u64(json_item(v, 1), &end)) {
    return fail_tensor(h, t->name, "`data_offsets` is missing or no pair of integers");
  }
  char name[ST_NAME_SHOWN];
  if (begin > end || end > h->data_bytes) {
    st_fail(h->err, STEPRT_BAD_INPUT,
            "tensor `%s`: offsets [%llu, %llu] leave the %llu bytes of data",
            shown(name, t->name), (unsigned long long)begin, (unsigned long long)end,
            (unsigned long long)h->data_bytes);
    return false;
  }
  if (end - begin != t->bytes) {
    st_fail(h->err, STEPRT_BAD_INPUT,
            "tensor `%s`: shape and dtype take %llu bytes, the offsets span %llu",
            shown(name, t->name), (unsigned long long)t->bytes,
            (unsigned long long)(end - begin));
    return false;
  }
  t->begin = h->data_at + begin;
  return true;
}

static bool read_tensor(const struct header *h, const struct json *v,
                        struct st_tensor *t) {
  if (json_kind(v) != JSON_OBJECT) {
    return fail_tensor(h, t->name, "its entry is no object");
  }
  for (uint32_t i = 0; i < json_size(v); i++) {
    const char *key = json_key(json_item(v, i));
    if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0 &&
        strcmp(key, "data_offsets") != 0) {
      char name[ST_NAME_SHOWN], wrong[40];
      st_fail(h->err, STEPRT_BAD_INPUT, "tensor `%s`: unknown key `%s`",
              shown(name, t->name), rt_escape(wrong, sizeof wrong, key, strlen(key)));
      return false;
    }
  }
  return read_dtype(h, json_get(v, "dtype"), t) &&
         read_shape(h, json_get(v, "shape"), t) &&
         read_offsets(h, json_get(v, "data_offsets"), t);
}

static bool check_metadata(const struct header *h, const struct json *v) {
  bool ok = json_kind(v) == JSON_OBJECT;
  for (uint32_t i = 0; ok && i < json_size(v); i++) {
    ok = json_kind(json_item(v, i)) == JSON_STRING;
  }
  if (!ok) {
    st_fail(h->err, STEPRT_BAD_INPUT, "`__metadata__` maps names to strings only");
  }
  return ok;
}

static bool is_metadata(const struct json *member) {
  return strcmp(json_key(member), "__metadata__") == 0;
}

// Makes room for the tensors and their names.
static bool reserve(struct st_file *f, const struct json *root) {
  size_t bytes = 1;
  for (uint32_t i = 0; i < json_size(root); i++) {
    bytes += strlen(json_key(json_item(root, i))) + 1;
  }
  f->names = malloc(bytes);
  f->tensor = calloc((size_t)json_size(root) + 1, sizeof *f->tensor);
  f->by_name = calloc((size_t)json_size(root) + 1, sizeof *f->by_name);
  return f->names != NULL && f->tensor != NULL && f->by_name != NULL;
}

static bool read_members(const struct header *h, const struct json *root) {
  struct st_file *f = h->file;
  if (json_kind(root) != JSON_OBJECT) {
    st_fail(h->err, STEPRT_BAD_INPUT, "the header is no JSON object");
    return false;
  }
  if (!reserve(f, root)) {
    st_fail(h->err, STEPRT_NO_MEMORY, "out of memory");
    return false;
  }
  char *names = f->names;
  for (uint32_t i = 0; i < json_size(root); i++) {
    const struct json *v = json_item(root, i);
    if (is_metadata(v)) {
      if (!check_metadata(h, v)) {
        return false;
      }
      continue;
    }
    struct st_tensor *t = &f->tensor[f->n_tensors++];
    t->name = names;
    size_t n = strlen(json_key(v)) + 1;
    memcpy(names, json_key(v), n);
    names += n;
    if (!read_tensor(h, v, t)) {
      return false;
    }
  }
  return true;
}

// Zero-size tensors stand before what starts at the same place; equal ones in the order of the header.
static int compare_place(const void *a, const void *b, void *tensors) {
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  const struct st_tensor *t = tensors, *x = &t[i], *y = &t[k];
  if (x->begin != y->begin) {
    return x->begin < y->begin ? -1 : 1;
  }
  return x->bytes != y->bytes ? (x->bytes < y->bytes ? -1 : 1) : (i > k) - (i < k);
}

static int compare_name(const void *a, const void *b, void *tensors) {
  const struct st_tensor *t = tensors;
  return strcmp(t[*(const uint32_t *)a].name, t[*(const uint32_t *)b].name);
}

static bool fail_tiling(const struct header *h, const struct st_tensor *before,
                        const struct st_tensor *t, uint64_t at) {
  char a[ST_NAME_SHOWN], b[ST_NAME_SHOWN];
  if (t->begin < at && before != NULL) {
    st_fail(h->err, STEPRT_BAD_INPUT, "tensor `%s` overlaps tensor `%s`",
            shown(a, t->name), shown(b, before->name));
  } else {
    st_fail(h->err, STEPRT_BAD_INPUT, "a hole of %llu bytes before tensor `%s`",
            (unsigned long long)(t->begin - at), shown(a, t->name));
  }
  return false;
}

// Sorted by offset, the tensors cover the data exactly.
static bool check_tiling(const struct header *h) {
  const struct st_file *f = h->file;
  for (uint32_t i = 0; i < f->n_tensors; i++) {
    f->by_name[i] = i;
  }
  qsort_r(f->by_name, f->n_tensors, sizeof *f->by_name, compare_place, f->tensor);
  uint64_t at = h->data_at;
  const struct st_tensor *before = NULL;
  for (uint32_t i = 0; i < f->n_tensors; i++) {
    const struct st_tensor *t = &f->tensor[f->by_name[i]];
    if (t->begin != at) {
      return fail_tiling(h, before, t, at);
    }
    at = t->begin + t->bytes;
    before = t;
  }
  if (at != h->data_at + h->data_bytes) {
    st_fail(h->err, STEPRT_BAD_INPUT, "%llu bytes of data belong to no tensor",
            (unsigned long long)(h->data_at + h->data_bytes - at));
    return false;
  }
  qsort_r(f->by_name, f->n_tensors, sizeof *f->by_name, compare_name, f->tensor);
  return true;
}

struct st_file *st_parse(const char *json, size_t n, uint64_t file_size,
                         struct st_error *err) {
  if (n > ST_MAX_HEADER || file_size < 8 + (uint64_t)n) {
    st_fail(err, STEPRT_BAD_INPUT, "the header is longer than the file or 100 MB");
    return NULL;
  }
  if (n == 0 || json[0] != '{') {
    st_fail(err, STEPRT_BAD_INPUT,
            "no safetensors file: the header does not start with `{`");
    return NULL;
  }
  struct json_error bad;
  struct json_doc *doc = json_parse(json, n, &bad);
  if (doc == NULL) {
    st_fail(err, bad.no_memory ? STEPRT_NO_MEMORY : STEPRT_BAD_INPUT,
            "header, byte %llu: %s", (unsigned long long)bad.at, bad.text);
    return NULL;
  }
  struct header h = {
      .data_at = 8 + (uint64_t)n, .data_bytes = file_size - 8 - n, .err = err};
  h.file = calloc(1, sizeof *h.file);
  if (h.file == NULL) {
    st_fail(err, STEPRT_NO_MEMORY, "out of memory");
    json_free(doc);
    return NULL;
  }
  h.file->fd = -1;
  h.file->size = file_size;
  bool ok = read_members(&h, json_root(doc)) && check_tiling(&h);
  json_free(doc);
  if (!ok) {
    st_close(h.file);
    return NULL;
  }
  return h.file;
}
