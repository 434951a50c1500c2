// Messages for people: place, code, text, the source line and a caret span.
#include "base/diag_render.h"

enum {
  TAB = 4,
  SHOWN = 100, // bytes of a source line; of longer ones, those around the span
  BEFORE = 40, // of them before the span
};

static const char *paint(bool color, const char *code) {
  return color ? code : "";
}
#define BOLD    "\x1b[1m"
#define RED     "\x1b[1;31m"
#define MAGENTA "\x1b[1;35m"
#define CYAN    "\x1b[1;36m"
#define GREEN   "\x1b[1;32m"
#define RESET   "\x1b[0m"

// A window of one source line, in byte offsets of the text.
struct window {
  uint32_t begin, end;
  bool cut_before, cut_after;
};

static bool is_continuation(const struct source *s, uint32_t i) {
  return ((unsigned char)s->text.p[i] & 0xc0) == 0x80;
}

static struct window line_window(const struct source *s, uint32_t line, uint32_t at) {
  struct window w = {.begin = s->line_at[line - 1]};
  w.end = line < s->n_lines ? s->line_at[line] - 1 : (uint32_t)s->text.n;
  if (w.end > w.begin && s->text.p[w.end - 1] == '\r') {
    w.end--;
  }
  if (w.end - w.begin <= SHOWN) {
    return w;
  }
  if (at > w.begin + BEFORE && at - BEFORE < w.end) {
    w.begin = at - BEFORE;
    w.cut_before = true;
    for (int i = 0; i < 3 && is_continuation(s, w.begin); i++) {
      w.begin++;
    }
  }
  if (w.end - w.begin > SHOWN) {
    w.end = w.begin + SHOWN;
    w.cut_after = true;
    for (int i = 0; i < 3 && is_continuation(s, w.end); i++) {
      w.end--;
    }
  }
  return w;
}

// Appends the bytes [begin, end) as a terminal may see them; returns their width in columns, which start at `col`.
static uint32_t put_visible(struct buf *out, const struct source *s, uint32_t begin,
                            uint32_t end, uint32_t col) {
  uint32_t width = 0;
  for (uint32_t i = begin; i < end;) {
    uint32_t cp;
    struct str rest = {s->text.p + i, end - i};
    size_t n = str_utf8(rest, 0, &cp);
    if (n == 1 && cp == '\t') {
      uint32_t spaces = TAB - (col + width) % TAB;
      for (uint32_t k = 0; k < spaces; k++) {
        buf_char(out, ' ');
      }
      width += spaces;
    } else if (n == 1 && cp >= 0x20 && cp < 0x7f) {
      buf_char(out, (char)cp);
      width++;
    } else {
      struct str shown = str_escape(out->arena, (struct str){rest.p, n == 0 ? 1 : n});
      buf_str(out, shown);
      width += n > 1 && shown.n == n ? 1 : (uint32_t)shown.n;
    }
    i += n == 0 ? 1 : (uint32_t)n;
  }
  return width;
}

static void put_repeated(struct buf *out, char c, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    buf_char(out, c);
  }
}

// The source line and the caret line below it; of a span over several lines, the first.
static void put_source(const struct diags *d, struct span at, const struct place *pl,
                       bool color, struct buf *out) {
  const struct source *s = &d->sources->file.v[at.file];
  struct window w = line_window(s, pl->line, at.begin);
  uint32_t begin = at.begin < w.end ? at.begin : w.end;
  uint32_t end = at.end < begin ? begin : at.end < w.end ? at.end : w.end;
  buf_printf(out, "%5u | %s", pl->line, w.cut_before ? "..." : "");
  uint32_t before = w.cut_before ? 3 : 0;
  before += put_visible(out, s, w.begin, begin, before);
  uint32_t width = put_visible(out, s, begin, end, before);
  (void)put_visible(out, s, end, w.end, before + width);
  buf_printf(out, "%s\n      | ", w.cut_after ? "..." : "");
  put_repeated(out, ' ', before);
  buf_puts(out, paint(color, GREEN));
  buf_char(out, '^');
  put_repeated(out, '~', width > 1 ? width - 1 : 0);
  buf_printf(out, "%s\n", paint(color, RESET));
}

static void put_head(struct buf *out, const struct place *pl, bool color) {
  buf_puts(out, paint(color, BOLD));
  if (pl == NULL) {
    buf_puts(out, "stepc: ");
  } else {
    buf_str(out, str_escape(out->arena, pl->path));
    buf_printf(out, ":%u:%u: ", pl->line, pl->col);
  }
  buf_puts(out, paint(color, RESET));
}

static void put_extra(const struct diags *d, const struct diag_extra *e, bool color,
                      struct buf *out) {
  struct place pl;
  bool has_place = diag_place(d, e->span, &pl);
  if (has_place) {
    put_head(out, &pl, color);
  }
  buf_printf(out, "%s%s:%s ", paint(color, CYAN), e->is_help ? "help" : "note",
             paint(color, RESET));
  buf_str(out, e->text);
  buf_char(out, '\n');
  if (has_place) {
    put_source(d, e->span, &pl, color, out);
  }
}

static void put_diag(const struct diags *d, const struct diag *g, bool color,
                     struct buf *out) {
  const struct diag_info *info = diag_info(g->code);
  struct place pl;
  bool has_place = diag_place(d, g->span, &pl);
  put_head(out, has_place ? &pl : NULL, color);
  buf_printf(out, "%s%s[%s]:%s ", paint(color, g->severity == SEV_ERROR ? RED : MAGENTA),
             diag_severity_text(g->severity), info->code, paint(color, RESET));
  buf_str(out, g->text);
  if (info->severity == SEV_WARNING) {
    buf_printf(out, " [-W%s]", info->name);
  }
  buf_char(out, '\n');
  if (has_place) {
    put_source(d, g->span, &pl, color, out);
  }
  for (uint32_t i = 0; i < g->extra.n; i++) {
    put_extra(d, &g->extra.v[i], color, out);
  }
}

void diag_render_text(const struct diags *d, struct diag *const *list, uint32_t n,
                      bool color, struct buf *out) {
  if (d->n_errors + d->n_warnings == 0) {
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    put_diag(d, list[i], color, out);
  }
  buf_printf(out, "%u error%s, %u warning%s", d->n_errors, d->n_errors == 1 ? "" : "s",
             d->n_warnings, d->n_warnings == 1 ? "" : "s");
  if (d->n_errors > d->error_limit) {
    buf_printf(out, "; only the first %u errors are shown", d->error_limit);
  }
  buf_char(out, '\n');
}
