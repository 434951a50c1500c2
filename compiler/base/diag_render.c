// Recorded messages to text: order, then one of the forms.
#include "base/diag_render.h"

#include <stdlib.h>

bool diag_place(const struct diags *d, struct span at, struct place *out) {
  if (at.file == NO_FILE) {
    return false;
  }
  const struct source *s = &d->sources->file.v[at.file];
  *out = (struct place){.path = s->path};
  source_locate(s, at.begin, &out->line, &out->col);
  source_locate(s, at.end, &out->end_line, &out->end_col);
  return true;
}

const char *diag_severity_text(enum severity s) {
  return s == SEV_ERROR ? "error" : "warning";
}

struct ranked {
  struct diag *diag;
  uint32_t order; // of report: qsort is not stable
};

static int cmp_u32(uint32_t a, uint32_t b) {
  return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  int c = cmp_u32(x->diag->span.file, y->diag->span.file);
  c = c != 0 ? c : cmp_u32(x->diag->span.begin, y->diag->span.begin);
  return c != 0 ? c : cmp_u32(x->order, y->order);
}

struct diag **diags_sorted(const struct diags *d, struct arena *a) {
  uint32_t n = d->list.n;
  struct ranked *ranked = ARENA_ARRAY(a, struct ranked, n + 1);
  struct diag **list = ARENA_ARRAY(a, struct diag *, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    ranked[i] = (struct ranked){d->list.v[i], i};
  }
  qsort(ranked, n, sizeof ranked[0], by_place);
  for (uint32_t i = 0; i < n; i++) {
    list[i] = ranked[i].diag;
  }
  return list;
}

struct str diag_render(const struct diags *d, enum diag_format format, bool color,
                       struct arena *a) {
  struct buf out = buf_new(a);
  struct diag **list = diags_sorted(d, a);
  switch (format) {
  case DIAG_TEXT: diag_render_text(d, list, d->list.n, color, &out); break;
  case DIAG_JSON: diag_render_json(d, list, d->list.n, &out); break;
  case DIAG_SARIF: diag_render_sarif(d, list, d->list.n, &out); break;
  case DIAG_GITHUB: diag_render_github(d, list, d->list.n, &out); break;
  }
  return buf_done(&out);
}
