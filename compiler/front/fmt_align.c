// Columns: consecutive lines of one kind begin their types, values, tails and comments at one column each.
#include "front/fmt.h"

struct widths {
  uint32_t word, name, type; // of the run's cells
  uint32_t in, when;         // columns up to a tail, by its word
  uint32_t comment;          // columns of a line that a comment follows
};

static void grow(uint32_t *width, size_t n) {
  *width = n > *width ? (uint32_t)n : *width;
}

// In code points: strings may hold any text.
static size_t width_of(struct str s) {
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++) {
    n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
  }
  return n;
}

static struct str cell(struct arena *a, const struct fmt_line *l, uint32_t begin,
                       uint32_t end) {
  struct buf b = buf_new(a);
  fmt_pieces(&b, l, begin, end);
  return buf_done(&b);
}

static void put_padded(struct buf *out, struct str s, uint32_t width) {
  buf_str(out, s);
  for (size_t n = width_of(s); n < width; n++) {
    buf_char(out, ' ');
  }
}

// The line without its tail.
static struct str head(struct arena *a, const struct fmt_line *l,
                       const struct widths *w) {
  struct fmt_cells c = l->cells;
  struct buf b = buf_new(a);
  if (l->kind != FMT_DECL && l->kind != FMT_LET) {
    return cell(a, l, 0, c.tail);
  }
  put_padded(&b, cell(a, l, 0, c.name), w->word);
  buf_char(&b, ' ');
  put_padded(&b, cell(a, l, c.name, c.type), c.type < c.tail ? w->name : 0);
  if (c.type < c.value) {
    buf_char(&b, ' ');
    put_padded(&b, cell(a, l, c.type, c.value), c.value < c.tail ? w->type : 0);
  }
  if (c.value < c.tail) {
    buf_char(&b, ' ');
    buf_str(&b, cell(a, l, c.value, c.tail));
  }
  return buf_done(&b);
}

static uint32_t *tail_width(struct widths *w, const struct fmt_line *l) {
  return l->piece[l->cells.tail].tok.kind == TOKEN_IN ? &w->in : &w->when;
}

static struct str whole(struct arena *a, const struct fmt_line *l, struct widths *w) {
  struct buf b = buf_new(a);
  if (l->cells.tail == l->n) {
    return head(a, l, w);
  }
  put_padded(&b, head(a, l, w), *tail_width(w, l));
  buf_puts(&b, "  ");
  buf_str(&b, cell(a, l, l->cells.tail, l->n));
  return buf_done(&b);
}

// What a type asks of the column of values: nothing where no value follows. A long choice runs over the column.
static size_t type_width(struct arena *a, const struct fmt_line *l) {
  enum { WIDEST = 24 };
  struct fmt_cells c = l->cells;
  size_t n = c.value < c.tail ? width_of(cell(a, l, c.type, c.value)) : 0;
  return n <= WIDEST ? n : 0;
}

static struct widths measure(struct arena *a, const struct fmt_line *l, uint32_t n) {
  struct widths w = {0};
  for (uint32_t i = 0; i < n; i++) {
    struct fmt_cells c = l[i].cells;
    if (l[i].kind == FMT_DECL || l[i].kind == FMT_LET) {
      grow(&w.word, width_of(cell(a, &l[i], 0, c.name)));
      grow(&w.name, width_of(cell(a, &l[i], c.name, c.type)));
      grow(&w.type, type_width(a, &l[i]));
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    if (l[i].cells.tail < l[i].n) {
      grow(tail_width(&w, &l[i]), width_of(head(a, &l[i], &w)));
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    if (l[i].n > 0 && l[i].comment.n > 0) {
      grow(&w.comment, width_of(whole(a, &l[i], &w)));
    }
  }
  return w;
}

static void put_line(struct buf *out, const struct fmt_line *l, struct widths *w) {
  buf_puts(out, l->blank_before ? "\n" : "");
  buf_pad(out, l->indent);
  struct str text = l->n == 0      ? STR("")
                    : l->is_broken ? cell(out->arena, l, 0, l->n)
                                   : whole(out->arena, l, w);
  bool follows = l->n > 0 && l->comment.n > 0;
  put_padded(out, text, follows && !l->is_broken ? w->comment : 0);
  buf_puts(out, follows ? "  " : "");
  buf_str(out, l->comment);
  buf_char(out, '\n');
}

// How many lines from l[0] on share columns: one kind, no blank line between; comments alone may stand between.
static uint32_t run_length(const struct fmt_line *l, uint32_t n) {
  if (l[0].is_broken || l[0].kind == FMT_COMMENT) {
    return 1;
  }
  uint32_t length = 1;
  for (uint32_t i = 1; i < n && !l[i].blank_before && !l[i].is_broken; i++) {
    if (l[i].kind == l[0].kind) {
      length = i + 1;
    } else if (l[i].kind != FMT_COMMENT) {
      break;
    }
  }
  return length;
}

void fmt_lines(struct buf *out, const struct fmt_line *line, uint32_t n) {
  for (uint32_t i = 0, length; i < n; i += length) {
    length = run_length(&line[i], n - i);
    struct widths w = measure(out->arena, &line[i], length);
    for (uint32_t k = 0; k < length; k++) {
      put_line(out, &line[i + k], &w);
    }
  }
}
