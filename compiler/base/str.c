// Strings, globbing, edit distance and the text builder.
#include "base/str.h"

#include "file/escape.h"
#include "file/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct str str_of(const char *cstr) {
  return (struct str){cstr, strlen(cstr)};
}

bool str_eq(struct str a, struct str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *cstr) {
  return str_eq(a, str_of(cstr));
}

int str_cmp(struct str a, struct str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int c = n == 0 ? 0 : memcmp(a.p, b.p, n);
  return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

bool str_starts(struct str s, const char *prefix) {
  size_t n = strlen(prefix);
  return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

bool str_ends(struct str s, const char *suffix) {
  size_t n = strlen(suffix);
  return s.n >= n && memcmp(s.p + s.n - n, suffix, n) == 0;
}

struct str str_copy(struct arena *a, struct str s) {
  char *p = arena_alloc(a, s.n + 1, 1);
  if (s.n != 0) {
    memcpy(p, s.p, s.n);
  }
  return (struct str){p, s.n};
}

const char *str_cstr(struct arena *a, struct str s) {
  return str_copy(a, s).p;
}

struct str str_fmt(struct arena *a, const char *fmt, ...) {
  struct buf b = buf_new(a);
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(&b, fmt, ap);
  va_end(ap);
  return buf_done(&b);
}

uint64_t str_hash(struct str s) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < s.n; i++) {
    h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
  }
  return h;
}

size_t str_utf8(struct str s, size_t i, uint32_t *cp) {
  return rt_utf8_decode(s.p + i, s.n - i, cp);
}

struct str str_escape(struct arena *a, struct str s) {
  struct buf b = buf_new(a);
  for (size_t i = 0; i < s.n;) {
    char piece[RT_ESCAPE_PIECE];
    i += rt_escape_piece(piece, s.p + i, s.n - i);
    buf_puts(&b, piece);
  }
  return buf_done(&b);
}

bool str_glob(struct str pattern, struct str s) {
  size_t p = 0, i = 0, star = SIZE_MAX, from = 0;
  while (i < s.n) {
    if (p < pattern.n && pattern.p[p] == '*') {
      star = p++;
      from = i;
    } else if (p < pattern.n && (pattern.p[p] == '?' || pattern.p[p] == s.p[i])) {
      p++;
      i++;
    } else if (star != SIZE_MAX) {
      p = star + 1;
      i = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.n && pattern.p[p] == '*') {
    p++;
  }
  return p == pattern.n;
}

uint32_t str_distance(struct str a, struct str b, uint32_t limit) {
  enum { MAX = 64 };
  if (a.n > MAX || b.n > MAX) {
    return limit + 1;
  }
  uint32_t before[MAX + 1] = {0}, last[MAX + 1], row[MAX + 1];
  for (uint32_t j = 0; j <= b.n; j++) {
    last[j] = j;
  }
  for (uint32_t i = 1; i <= a.n; i++) {
    row[0] = i;
    for (uint32_t j = 1; j <= b.n; j++) {
      uint32_t cost = a.p[i - 1] == b.p[j - 1] ? 0 : 1;
      uint32_t d = last[j - 1] + cost;
      d = last[j] + 1 < d ? last[j] + 1 : d;
      d = row[j - 1] + 1 < d ? row[j - 1] + 1 : d;
      if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] &&
          before[j - 2] + 1 < d) {
        d = before[j - 2] + 1;
      }
      row[j] = d;
    }
    memcpy(before, last, sizeof before);
    memcpy(last, row, sizeof last);
  }
  return last[b.n] <= limit ? last[b.n] : limit + 1;
}

struct buf buf_new(struct arena *a) {
  return (struct buf){.arena = a};
}

static void buf_reserve(struct buf *b, size_t more) {
  if (b->cap - b->n > more) {
    return;
  }
  size_t cap = b->cap == 0 ? 128 : b->cap * 2;
  if (cap < b->n + more + 1) {
    cap = b->n + more + 1;
  }
  char *p = arena_alloc(b->arena, cap, 1);
  if (b->n != 0) {
    memcpy(p, b->p, b->n);
  }
  b->p = p;
  b->cap = cap;
}

void buf_put(struct buf *b, const char *p, size_t n) {
  buf_reserve(b, n);
  if (n != 0) {
    memcpy(b->p + b->n, p, n);
  }
  b->n += n;
  b->p[b->n] = '\0';
}

void buf_puts(struct buf *b, const char *cstr) {
  buf_put(b, cstr, strlen(cstr));
}
void buf_str(struct buf *b, struct str s) {
  buf_put(b, s.p, s.n);
}
void buf_char(struct buf *b, char c) {
  buf_put(b, &c, 1);
}

void buf_pad(struct buf *b, size_t column) {
  size_t line = 0;
  while (line < b->n && b->p[b->n - 1 - line] != '\n') {
    line++;
  }
  for (; line < column; line++) {
    buf_char(b, ' ');
  }
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  if (n > 0) {
    buf_reserve(b, (size_t)n);
    (void)vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    b->n += (size_t)n;
  }
  va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(b, fmt, ap);
  va_end(ap);
}

void buf_json(struct buf *b, struct str s) {
  buf_char(b, '"');
  for (size_t i = 0; i < s.n;) {
    uint32_t cp = 0;
    size_t n = str_utf8(s, i, &cp);
    if (n == 0) {
      buf_puts(b, "\\ufffd");
    } else if (cp == '"' || cp == '\\') {
      buf_printf(b, "\\%c", (char)cp);
    } else if (cp < 0x20 || cp == 0x7f) {
      buf_printf(b, "\\u%04x", cp);
    } else {
      buf_put(b, s.p + i, n);
    }
    i += n == 0 ? 1 : n;
  }
  buf_char(b, '"');
}

struct str buf_done(const struct buf *b) {
  return (struct str){b->n == 0 ? "" : b->p, b->n};
}

// The tool never calls setlocale, and a host program may: a decimal comma is turned back.
static struct str fix_point(struct arena *a, char *text) {
  for (char *c = text; *c != '\0'; c++) {
    if (*c == ',') {
      *c = '.';
    }
  }
  return str_copy(a, str_of(text));
}

// Written without an exponent: 10, not 1e+01.
static bool is_short_integer(double x) {
  return x == floor(x) && fabs(x) < 1e6;
}

struct str num_shortest(struct arena *a, double x) {
  if (isnan(x) || isinf(x)) {
    return isnan(x) ? STR("nan") : x > 0 ? STR("inf") : STR("-inf");
  }
  if (is_short_integer(x)) {
    return str_fmt(a, "%.0f", x);
  }
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    (void)snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x) {
      break;
    }
  }
  return fix_point(a, text);
}

struct str num_shortest_f32(struct arena *a, float x) {
  if (isnan(x) || isinf(x)) {
    return isnan(x) ? STR("nan") : x > 0 ? STR("inf") : STR("-inf");
  }
  if (is_short_integer((double)x)) {
    return str_fmt(a, "%.0f", (double)x);
  }
  char text[40];
  for (int digits = 1; digits <= 9; digits++) {
    (void)snprintf(text, sizeof text, "%.*g", digits, (double)x);
    if (strtof(text, NULL) == x) {
      break;
    }
  }
  return fix_point(a, text);
}
