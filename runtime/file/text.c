// The writer of JSON texts.
#include "file/text.h"

#include "file/escape.h"
#include "file/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_bytes(struct rt_text *t, const char *s, size_t n) {
  if (t->failed) {
    return;
  }
  if (t->cap - t->n <= n) { // one more for the NUL
    size_t cap = 2 * t->cap > t->n + n + 1 ? 2 * t->cap : t->n + n + 256;
    char *p = realloc(t->p, cap);
    if (p == NULL) {
      t->failed = true;
      return;
    }
    t->p = p;
    t->cap = cap;
  }
  memcpy(t->p + t->n, s, n);
  t->n += n;
  t->p[t->n] = '\0';
}

void rt_text_put(struct rt_text *t, const char *s) {
  put_bytes(t, s, strlen(s));
}

void rt_text_u64(struct rt_text *t, uint64_t x) {
  char digits[20], *p = digits + sizeof digits;
  do {
    *--p = (char)('0' + x % 10);
    x /= 10;
  } while (x != 0);
  put_bytes(t, p, (size_t)(digits + sizeof digits - p));
}

void rt_text_double(struct rt_text *t, double x) {
  char buf[40];
  if (!isfinite(x)) {
    rt_text_put(t, isnan(x) ? "\"nan\"" : x < 0 ? "\"-inf\"" : "\"inf\"");
    return;
  }
  // The strict reader takes plain digits for an integer of at most 2^53.
  bool is_large = fabs(x) > 0x1p53;
  for (int digits = 1; digits <= 17; digits++) {
    (void)snprintf(buf, sizeof buf, is_large ? "%.*e" : "%.*g",
                   is_large ? digits - 1 : digits, x);
    if (strtod(buf, NULL) == x) {
      break;
    }
  }
  rt_text_put(t, buf);
}

static void put_escape(struct rt_text *t, uint32_t cp) {
  char buf[8];
  (void)snprintf(buf, sizeof buf, "\\u%04x", (unsigned)(cp & 0xffff));
  put_bytes(t, buf, 6);
}

void rt_text_string(struct rt_text *t, const char *s) {
  if (s == NULL) {
    rt_text_put(t, "null");
    return;
  }
  rt_text_put(t, "\"");
  for (size_t n = strlen(s); n != 0;) {
    size_t plain = 0;
    while (plain < n && s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' &&
           s[plain] != '\\') {
      plain++;
    }
    put_bytes(t, s, plain);
    s += plain;
    n -= plain;
    if (n == 0) {
      break;
    }
    uint32_t cp = 0xfffd;
    size_t len = rt_utf8_decode(s, n, &cp);
    if (cp == '"' || cp == '\\') {
      put_bytes(t, cp == '"' ? "\\\"" : "\\\\", 2);
    } else if (len == 0 || rt_is_unsafe(cp)) {
      put_escape(t, cp);
    } else {
      put_bytes(t, s, len);
    }
    s += len == 0 ? 1 : len;
    n -= len == 0 ? 1 : len;
  }
  rt_text_put(t, "\"");
}

static bool is_open(const struct rt_text *t) {
  return t->n == 0 || strchr("[{\n", t->p[t->n - 1]) != NULL;
}

void rt_text_comma(struct rt_text *t) {
  if (!is_open(t)) {
    rt_text_put(t, ", ");
  }
}

void rt_text_line(struct rt_text *t) {
  rt_text_put(t, is_open(t) ? "\n" : ",\n");
}

void rt_text_key(struct rt_text *t, const char *key) {
  rt_text_comma(t);
  rt_text_string(t, key);
  rt_text_put(t, ": ");
}

void rt_text_member_u64(struct rt_text *t, const char *key, uint64_t x) {
  rt_text_key(t, key);
  rt_text_u64(t, x);
}

void rt_text_member_double(struct rt_text *t, const char *key, double x) {
  rt_text_key(t, key);
  rt_text_double(t, x);
}

void rt_text_member_string(struct rt_text *t, const char *key, const char *s) {
  rt_text_key(t, key);
  rt_text_string(t, s);
}

char *rt_text_done(struct rt_text *t, uint64_t *n) {
  char *p = t->p;
  if (t->failed) {
    free(p);
    p = NULL;
  }
  *n = p == NULL ? 0 : t->n;
  *t = (struct rt_text){0};
  return p;
}

void rt_text_open_list(struct rt_text *t, const char *key) {
  rt_text_line(t);
  rt_text_string(t, key);
  rt_text_put(t, ": [");
}

void rt_text_open_item(struct rt_text *t, const char *what, uint32_t number) {
  rt_text_line(t);
  rt_text_put(t, "{");
  rt_text_member_u64(t, what, number);
}
