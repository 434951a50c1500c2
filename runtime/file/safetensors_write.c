// Writing safetensors files: header first, then the data of each tensor from where it lies.
#include "file/escape.h"
#include "file/io.h"
#include "file/safetensors_int.h"
#include "file/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Text that grows; a failed allocation sticks.
struct text {
  char *p;
  size_t n, cap;
  bool failed;
};

static bool text_room(struct text *t, size_t more) {
  if (t->failed || t->cap - t->n > more) {
    return !t->failed;
  }
  size_t cap = t->cap * 2 > t->n + more + 1 ? t->cap * 2 : t->n + more + 4096;
  char *p = realloc(t->p, cap);
  if (p == NULL) {
    t->failed = true;
    return false;
  }
  t->p = p;
  t->cap = cap;
  return true;
}

static void text_put(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void text_put(struct text *t, const char *fmt, ...) {
  if (!text_room(t, 100)) { // every piece is a number or a fixed word
    return;
  }
  va_list ap;
  va_start(ap, fmt);
  t->n += (size_t)vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);
  va_end(ap);
}

static void text_put_string(struct text *t, const char *s) {
  text_put(t, "\"");
  for (; *s != '\0'; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\') {
      text_put(t, "\\%c", c);
    } else if (c < 0x20) {
      text_put(t, "\\u%04x", c);
    } else if (text_room(t, 1)) {
      t->p[t->n++] = *s;
    }
  }
  text_put(t, "\"");
}

static bool is_utf8(const char *s) {
  size_t n = strlen(s);
  while (n != 0) {
    uint32_t cp;
    size_t len = rt_utf8_decode(s, n, &cp);
    if (len == 0) {
      return false;
    }
    s += len;
    n -= len;
  }
  return true;
}

static int compare_names(const void *a, const void *b) {
  const struct st_out *x = *(const struct st_out *const *)a,
                      *y = *(const struct st_out *const *)b;
  return strcmp(x->name, y->name);
}

static int compare_layout(const void *a, const void *b) {
  const struct st_out *x = *(const struct st_out *const *)a,
                      *y = *(const struct st_out *const *)b;
  uint32_t p = st_dtype_bits(x->dtype), q = st_dtype_bits(y->dtype);
  return p != q ? (p < q ? 1 : -1) : strcmp(x->name, y->name);
}

static steprt_status fail_name(struct st_error *err, const char *name, const char *what) {
  char buf[ST_NAME_SHOWN];
  st_fail(err, STEPRT_BAD_ARGUMENT, "tensor `%s`: %s",
          rt_escape(buf, sizeof buf, name, strlen(name)), what);
  return STEPRT_BAD_ARGUMENT;
}

// Sorts `order` into the order of the file; refuses names that cannot stand in one header.
static steprt_status check_names(const struct st_out **order, uint32_t n,
                                 struct st_error *err) {
  qsort(order, n, sizeof *order, compare_names);
  for (uint32_t i = 0; i < n; i++) {
    const char *name = order[i]->name;
    if (!is_utf8(name)) {
      return fail_name(err, name, "the name is no UTF-8");
    }
    if (strcmp(name, "__metadata__") == 0) {
      return fail_name(err, name, "the format keeps this name for itself");
    }
    if (i > 0 && strcmp(order[i - 1]->name, name) == 0) {
      return fail_name(err, name, "the name stands twice");
    }
  }
  qsort(order, n, sizeof *order, compare_layout);
  return STEPRT_OK;
}

// Puts the header, its length in front, into `t`; *data_bytes is the size of what follows.
static steprt_status build_header(struct text *t, const struct st_out **order, uint32_t n,
                                  uint64_t *data_bytes, struct st_error *err) {
  uint64_t at = 0;
  text_put(t, "%8s{", "");
  for (uint32_t i = 0; i < n; i++) {
    const struct st_out *o = order[i];
    uint64_t numel, bytes, end;
    if (o->rank > ST_MAX_RANK ||
        !st_shape_bytes(o->dim, o->rank, o->dtype, &numel, &bytes) ||
        __builtin_add_overflow(at, bytes, &end) || end > (uint64_t)1 << 53) {
      return fail_name(err, o->name, "its shape is too large");
    }
    text_put(t, i == 0 ? "" : ",");
    text_put_string(t, o->name);
    text_put(t, ":{\"dtype\":\"%s\",\"shape\":[", st_dtype_name(o->dtype));
    for (uint32_t k = 0; k < o->rank; k++) {
      text_put(t, k == 0 ? "%llu" : ",%llu", (unsigned long long)o->dim[k]);
    }
    text_put(t, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
             (unsigned long long)end);
    at = end;
  }
  text_put(t, "}");
  while (!t->failed && t->n % 8 != 0) {
    text_put(t, " ");
  }
  *data_bytes = at;
  if (t->failed || t->n - 8 > ST_MAX_HEADER) {
    st_fail(err, t->failed ? STEPRT_NO_MEMORY : STEPRT_BAD_ARGUMENT,
            t->failed ? "out of memory" : "the header would pass 100 MB");
    return err->status;
  }
  for (int i = 0; i < 8; i++) {
    t->p[i] = (char)(unsigned char)((uint64_t)(t->n - 8) >> 8 * i);
  }
  return STEPRT_OK;
}

static int write_parts(struct rt_new_file *f, const struct text *head,
                       const struct st_out **order, uint32_t n, uint64_t data_bytes) {
  int error = rt_new_file_reserve(f, head->n + data_bytes);
  if (error == 0) {
    error = rt_new_file_write(f, head->p, head->n);
  }
  for (uint32_t i = 0; i < n && error == 0; i++) {
    uint64_t numel, bytes;
    (void)st_shape_bytes(order[i]->dim, order[i]->rank, order[i]->dtype, &numel, &bytes);
    error = rt_new_file_write(f, order[i]->data, (size_t)bytes);
  }
  return error != 0 ? error : rt_new_file_commit(f);
}

steprt_status st_write(const char *path, const struct st_out *tensors, uint32_t n,
                       struct st_error *err) {
  struct text head = {0};
  const struct st_out **order = malloc(((size_t)n + 1) * sizeof *order);
  steprt_status status = STEPRT_NO_MEMORY;
  if (order == NULL) {
    st_fail(err, status, "out of memory");
    goto done;
  }
  for (uint32_t i = 0; i < n; i++) {
    order[i] = &tensors[i];
  }
  uint64_t data_bytes;
  status = check_names(order, n, err);
  if (status == STEPRT_OK) {
    status = build_header(&head, order, n, &data_bytes, err);
  }
  if (status == STEPRT_OK) {
    struct rt_new_file f;
    int error = rt_new_file_open(&f, path);
    if (error == 0) {
      error = write_parts(&f, &head, order, n, data_bytes);
    }
    if (error != 0) {
      char buf[100];
      status = STEPRT_IO;
      st_fail(err, status, "%s", rt_io_text(error, buf, sizeof buf));
    }
  }
done:
  free(head.p);
  free(order);
  return status;
}
