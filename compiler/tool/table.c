// Text tables and numbers for people.
#include "tool/table.h"

#include <string.h>

void table_row(struct table *t, const struct str *cells) {
  for (size_t i = 0; i < strlen(t->columns); i++) {
    VEC_PUSH(t->arena, t->cell, cells[i]);
  }
}

// Columns that a terminal shows for UTF-8 text of names: code points, near enough.
static size_t width_of(struct str s) {
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++) {
    n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
  }
  return n;
}

static void put_spaces(struct buf *b, size_t n) {
  while (n-- > 0) {
    buf_char(b, ' ');
  }
}

struct str table_text(const struct table *t) {
  size_t n = strlen(t->columns), width[TABLE_MAX_COLUMNS] = {0};
  for (size_t i = 0; i < t->cell.n; i++) {
    size_t w = width_of(t->cell.v[i]);
    width[i % n] = w > width[i % n] ? w : width[i % n];
  }
  struct buf b = buf_new(t->arena);
  for (size_t i = 0; i < t->cell.n; i++) {
    size_t c = i % n, pad = width[c] - width_of(t->cell.v[i]);
    bool right = t->columns[c] == 'r', last = c + 1 == n;
    put_spaces(&b, right ? pad : 0);
    buf_str(&b, t->cell.v[i]);
    put_spaces(&b, right || last ? 0 : pad);
    buf_puts(&b, last ? "\n" : "  ");
  }
  return buf_done(&b);
}

static struct str with_prefix(struct arena *a, double n, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t p = 0;
  while (n >= 999.5 && p + 1 < sizeof prefixes / sizeof *prefixes) {
    n /= 1000;
    p++;
  }
  int digits = p == 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;
  return str_fmt(a, "%.*f%s%s%s", digits, n, p == 0 && *unit == '\0' ? "" : " ",
                 prefixes[p], unit);
}

struct str text_count(struct arena *a, double n) {
  return with_prefix(a, n, "");
}

struct str text_bytes(struct arena *a, double n) {
  return with_prefix(a, n, "B");
}

struct str text_binary(struct arena *a, double n) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t p = 0;
  while (n >= 999.5 && p + 1 < sizeof units / sizeof *units) {
    n /= 1024;
    p++;
  }
  int digits = p == 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;
  return str_fmt(a, "%.*f %s", digits, n, units[p]);
}

struct str text_seconds(struct arena *a, double s) {
  return s >= 10      ? str_fmt(a, "%.1f s", s)
         : s >= 1     ? str_fmt(a, "%.2f s", s)
         : s >= 0.1   ? str_fmt(a, "%.0f ms", s * 1e3)
         : s >= 0.01  ? str_fmt(a, "%.1f ms", s * 1e3)
         : s >= 0.001 ? str_fmt(a, "%.2f ms", s * 1e3)
                      : str_fmt(a, "%.1f us", s * 1e6);
}
