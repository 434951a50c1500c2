// Members of JSON objects, read one by one.
#include "plan/reader.h"

#include "file/escape.h"
#include "plan/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 80 }; // of a name from the text

static const char *show(char buf[SHOWN], const char *s) {
  return rt_escape(buf, SHOWN, s, strlen(s));
}

static void place(const char *text, uint32_t at, uint32_t *line, uint32_t *col) {
  *line = *col = 1;
  for (uint32_t i = 0; i < at; i++) {
    *col = text[i] == '\n' ? 1 : *col + 1;
    *line += text[i] == '\n';
  }
}

bool rt_reader_fail(struct rt_reader *r, const struct json *v, const char *format, ...) {
  char item[48] = "", text[240];
  uint32_t line, col;
  va_list ap;
  va_start(ap, format);
  (void)vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  if (r->what != NULL) {
    (void)snprintf(item, sizeof item, "%s %u: ", r->what, r->item);
  }
  place(r->text, json_range(v).at, &line, &col);
  (void)snprintf(r->why, r->n_why, "line %u, column %u: %s%s", line, col, item, text);
  r->status = STEPRT_BAD_INPUT;
  return false;
}

bool rt_reader_no_memory(struct rt_reader *r) {
  (void)snprintf(r->why, r->n_why, "out of memory");
  r->status = STEPRT_NO_MEMORY;
  return false;
}

struct json_doc *rt_reader_parse(struct rt_reader *r, uint64_t n) {
  struct json_error err;
  struct json_doc *d = json_parse(r->text, n, &err);
  if (d != NULL) {
    return d;
  }
  if (err.no_memory) {
    (void)rt_reader_no_memory(r);
  } else {
    (void)snprintf(r->why, r->n_why, "line %u, column %u: %s", err.line, err.col,
                   err.text);
    r->status = STEPRT_BAD_INPUT;
  }
  return NULL;
}

static bool is_word_of(const char *list, const char *word) {
  size_t n = strlen(word);
  for (const char *p = list; p != NULL && *p != '\0';) {
    size_t len = strcspn(p, " ");
    if (len == n && memcmp(p, word, n) == 0) {
      return true;
    }
    p += len + (p[len] == ' ');
  }
  return false;
}

static bool is_field(const struct rt_fields *f, const char *key) {
  for (uint32_t i = 0; f != NULL && i < f->n; i++) {
    if (strcmp(f->field[i].key, key) == 0) {
      return true;
    }
  }
  return false;
}

bool rt_reader_object(struct rt_reader *r, const struct json *v,
                      const struct rt_fields *f, const char *more) {
  if (json_kind(v) != JSON_OBJECT) {
    return rt_reader_fail(r, v, "expected an object, found %s",
                          json_kind_name(json_kind(v)));
  }
  for (uint32_t i = 0; i < json_size(v); i++) {
    const struct json *m = json_item(v, i);
    char buf[SHOWN];
    if (!is_field(f, json_key(m)) && !is_word_of(more, json_key(m))) {
      return rt_reader_fail(r, m, "unknown member `%s`", show(buf, json_key(m)));
    }
  }
  return true;
}

static bool expect_kind(struct rt_reader *r, const struct json *v, const char *name,
                        enum json_kind kind) {
  return json_kind(v) == kind ||
         rt_reader_fail(r, v, "`%s` is %s, not %s", name, json_kind_name(json_kind(v)),
                        json_kind_name(kind));
}

const struct json *rt_reader_get(struct rt_reader *r, const struct json *obj,
                                 const char *key, enum json_kind kind) {
  const struct json *v = json_get(obj, key);
  if (v == NULL) {
    (void)rt_reader_fail(r, obj, "no `%s`", key);
    return NULL;
  }
  return expect_kind(r, v, key, kind) ? v : NULL;
}

bool rt_reader_list(struct rt_reader *r, const struct json *obj, const char *key,
                    size_t size, const struct json **list, void **items, uint32_t *n) {
  *list = rt_reader_get(r, obj, key, JSON_ARRAY);
  if (*list == NULL) {
    return false;
  }
  *n = json_size(*list);
  *items = rt_pool_alloc(r->pool, *n, size);
  return *items != NULL || rt_reader_no_memory(r);
}

bool rt_reader_item(struct rt_reader *r, const struct json *v, const char *what,
                    uint32_t i) {
  uint64_t number;
  r->what = what;
  r->item = i;
  if (json_kind(v) != JSON_OBJECT) {
    return rt_reader_fail(r, v, "expected an object, found %s",
                          json_kind_name(json_kind(v)));
  }
  const struct json *m = rt_reader_get(r, v, what, JSON_NUMBER);
  return m != NULL && (json_u64(m, &number) && number == i
                           ? true
                           : rt_reader_fail(r, m, "its number is not its place"));
}

bool rt_reader_u64(struct rt_reader *r, const struct json *v, const char *name,
                   uint64_t most, uint64_t *out) {
  if (!json_u64(v, out)) {
    return rt_reader_fail(r, v, "`%s` is no whole number", name);
  }
  return *out <= most ||
         rt_reader_fail(r, v, "`%s` is %llu, at most %llu", name,
                        (unsigned long long)*out, (unsigned long long)most);
}

bool rt_reader_u32(struct rt_reader *r, const struct json *v, const char *name,
                   uint32_t *out) {
  uint64_t x;
  if (!rt_reader_u64(r, v, name, UINT32_MAX - 1, &x)) { // UINT32_MAX stands for none
    return false;
  }
  *out = (uint32_t)x;
  return true;
}

bool rt_reader_double(struct rt_reader *r, const struct json *v, const char *name,
                      double *out) {
  static const struct {
    const char *text;
    double value;
  } words[] = {
      {"inf", (double)INFINITY}, {"-inf", -(double)INFINITY}, {"nan", (double)NAN}};
  if (json_kind(v) == JSON_NUMBER) {
    *out = json_number(v);
    return true;
  }
  size_t n;
  for (size_t i = 0; json_kind(v) == JSON_STRING && i < sizeof words / sizeof *words;
       i++) {
    if (strcmp(json_string(v, &n), words[i].text) == 0) {
      *out = words[i].value;
      return true;
    }
  }
  return rt_reader_fail(r, v, "`%s` is no number, nor \"inf\", \"-inf\" or \"nan\"",
                        name);
}

bool rt_reader_string(struct rt_reader *r, const struct json *v, const char *name,
                      const char **out) {
  size_t n;
  if (!expect_kind(r, v, name, JSON_STRING)) {
    return false;
  }
  const char *s = json_string(v, &n);
  *out = rt_pool_copy(r->pool, s, n);
  return *out != NULL || rt_reader_no_memory(r);
}

bool rt_reader_name(struct rt_reader *r, const struct json *v, const char *name,
                    const char *const *table, uint32_t n, uint32_t *out) {
  size_t len;
  char buf[SHOWN];
  if (!expect_kind(r, v, name, JSON_STRING)) {
    return false;
  }
  const char *s = json_string(v, &len);
  *out = rt_name_find(table, n, s);
  return *out < n ||
         rt_reader_fail(r, v, "`%s` is `%s`, which is unknown", name, show(buf, s));
}

bool rt_reader_digest(struct rt_reader *r, const struct json *obj, const char *key,
                      char out[65]) {
  const struct json *v = rt_reader_get(r, obj, key, JSON_STRING);
  size_t n;
  if (v == NULL) {
    return false;
  }
  const char *s = json_string(v, &n);
  if (n != 64 || strspn(s, "0123456789abcdef") != 64) {
    return rt_reader_fail(r, v, "`%s` is no digest of 64 hexadecimal digits", key);
  }
  memcpy(out, s, 65);
  return true;
}

bool rt_reader_format(struct rt_reader *r, const struct json *obj, const char *format) {
  char buf[SHOWN];
  size_t n;
  const struct json *v = json_kind(obj) == JSON_OBJECT ? json_get(obj, "format") : NULL;
  if (v == NULL || json_kind(v) != JSON_STRING) {
    return rt_reader_fail(r, obj, "this is no %s: it has no `format`", format);
  }
  return strcmp(json_string(v, &n), format) == 0 ||
         rt_reader_fail(r, v, "the format is `%s`; this version reads %s",
                        show(buf, json_string(v, &n)), format);
}

static bool read_value(struct rt_reader *r, const struct json *v,
                       const struct rt_field *f, void *at) {
  switch (f->kind) {
  case RT_FIELD_U32: return rt_reader_u32(r, v, f->key, at);
  case RT_FIELD_U64: return rt_reader_u64(r, v, f->key, UINT64_MAX, at);
  case RT_FIELD_BOOL:
    *(bool *)at = json_bool(v);
    return expect_kind(r, v, f->key, JSON_BOOL);
  case RT_FIELD_DOUBLE: return rt_reader_double(r, v, f->key, at);
  case RT_FIELD_STRING: return rt_reader_string(r, v, f->key, at);
  case RT_FIELD_ID:
    *(uint32_t *)at = RT_NO_ID;
    return json_kind(v) == JSON_NULL || rt_reader_u32(r, v, f->key, at);
  case RT_FIELD_STORAGE:
    return rt_reader_name(r, v, f->key, rt_storage_names, RT_N_STORAGES, at);
  }
  return false;
}

bool rt_fields_take(struct rt_reader *r, const struct json *obj,
                    const struct rt_fields *f, void *base) {
  for (uint32_t i = 0; i < f->n; i++) {
    const struct rt_field *field = &f->field[i];
    const struct json *v = json_get(obj, field->key);
    if (v == NULL) {
      return rt_reader_fail(r, obj, "no `%s`", field->key);
    }
    if (!read_value(r, v, field, (char *)base + field->offset)) {
      return false;
    }
  }
  return true;
}

bool rt_fields_read(struct rt_reader *r, const struct json *obj,
                    const struct rt_fields *f, const char *more, void *base) {
  return rt_reader_object(r, obj, f, more) && rt_fields_take(r, obj, f, base);
}
