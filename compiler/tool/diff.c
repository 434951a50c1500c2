// A difference of two texts: common head and tail are dropped, what lies between is one hunk.
#include "tool/diff.h"

struct lines {
  VEC(struct str) line; // with their newline
};

static void split(struct arena *a, struct str text, struct lines *out) {
  while (text.n != 0) {
    size_t n = 0;
    while (n < text.n && text.p[n] != '\n') {
      n++;
    }
    n += n < text.n;
    struct str line = {text.p, n};
    VEC_PUSH(a, out->line, line);
    text = (struct str){text.p + n, text.n - n};
  }
}

static void put_lines(struct buf *b, char mark, const struct lines *l, uint32_t begin,
                      uint32_t end) {
  enum { MOST = 40 };
  for (uint32_t i = begin; i < end; i++) {
    if (i - begin == MOST) {
      buf_printf(b, "%c ... %u more lines\n", mark, end - i);
      return;
    }
    buf_char(b, mark);
    buf_str(b, l->line.v[i]);
    if (!str_ends(l->line.v[i], "\n")) {
      buf_puts(b, "\n\\ no newline at the end\n");
    }
  }
}

struct str text_diff(struct arena *a, struct str name, struct str old,
                     struct str new_text) {
  enum { CONTEXT = 3 };
  struct lines x = {0}, y = {0};
  split(a, old, &x);
  split(a, new_text, &y);
  uint32_t least = x.line.n < y.line.n ? x.line.n : y.line.n, head = 0, tail = 0;
  while (head < least && str_eq(x.line.v[head], y.line.v[head])) {
    head++;
  }
  while (tail < least - head &&
         str_eq(x.line.v[x.line.n - 1 - tail], y.line.v[y.line.n - 1 - tail])) {
    tail++;
  }
  uint32_t begin = head < CONTEXT ? 0 : head - CONTEXT;
  uint32_t after = tail < CONTEXT ? tail : CONTEXT;
  uint32_t x_end = x.line.n - tail, y_end = y.line.n - tail;
  struct buf b = buf_new(a);
  struct str shown = str_escape(a, name);
  buf_printf(&b, "--- %s\n+++ %s (now)\n@@ -%u,%u +%u,%u @@\n", shown.p, shown.p,
             begin + 1, x_end + after - begin, begin + 1, y_end + after - begin);
  put_lines(&b, ' ', &x, begin, head);
  put_lines(&b, '-', &x, head, x_end);
  put_lines(&b, '+', &y, head, y_end);
  put_lines(&b, ' ', &x, x_end, x_end + after);
  return buf_done(&b);
}
