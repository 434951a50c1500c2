// Recording of diagnostics and places in source texts.
#include "base/diag.h"

#include <string.h>

struct span span_join(struct span a, struct span b) {
  return (struct span){a.file, a.begin, b.end > a.end ? b.end : a.end};
}

uint32_t source_add(struct sources *s, struct str path, struct str text) {
  if (str_starts(text, "\xef\xbb\xbf")) {
    text = (struct str){text.p + 3, text.n - 3};
  }
  struct source src = {.path = str_copy(s->arena, path),
                       .text = str_copy(s->arena, text)};
  VEC(uint32_t) at = {0};
  VEC_PUSH(s->arena, at, 0);
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == '\n') {
      VEC_PUSH(s->arena, at, (uint32_t)i + 1);
    }
  }
  src.line_at = at.v;
  src.n_lines = at.n;
  VEC_PUSH(s->arena, s->file, src);
  return s->file.n - 1;
}

void source_locate(const struct source *s, uint32_t at, uint32_t *line, uint32_t *col) {
  uint32_t lo = 0, hi = s->n_lines;
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->line_at[mid] <= at) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  *line = lo + 1;
  *col = at - s->line_at[lo] + 1;
}

static const struct diag_info infos[N_DIAG_CODES] = {
#define DIAG_ERROR(code, name, text)   [code] = {#code, name, text, SEV_ERROR},
#define DIAG_WARNING(code, name, text) [code] = {#code, name, text, SEV_WARNING},
#include "base/diags.def"
#undef DIAG_ERROR
#undef DIAG_WARNING
};

const struct diag_info *diag_info(enum diag_code code) {
  return &infos[code];
}

bool diag_find(struct str code, enum diag_code *out) {
  for (uint32_t i = 0; i < N_DIAG_CODES; i++) {
    if (str_is(code, infos[i].code) || str_is(code, infos[i].name)) {
      *out = (enum diag_code)i;
      return true;
    }
  }
  return false;
}

void diags_init(struct diags *d, struct arena *a, struct sources *s) {
  *d = (struct diags){.arena = a, .sources = s, .error_limit = 20};
}

static struct str format_text(struct arena *a, const char *text, const struct str *args,
                              uint32_t n_args, bool escape) {
  struct buf b = buf_new(a);
  uint32_t next = 0;
  for (const char *c = text; *c != '\0'; c++) {
    if (c[0] == '{' && c[1] == '}') {
      struct str arg = next < n_args ? args[next] : STR("?");
      buf_str(&b, escape ? str_escape(a, arg) : arg);
      next++;
      c++;
    } else {
      buf_char(&b, *c);
    }
  }
  return buf_done(&b);
}

static bool same_place(struct span a, struct span b) {
  return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

static bool already_said(const struct diags *d, struct span at, enum diag_code code,
                         struct str text) {
  for (uint32_t i = 0; i < d->list.n; i++) {
    const struct diag *g = d->list.v[i];
    if (g->code == code && same_place(g->span, at) && str_eq(g->text, text)) {
      return true;
    }
  }
  return false;
}

static struct diag *report(struct diags *d, struct span at, enum diag_code code,
                           const struct str *args, uint32_t n_args, bool escape) {
  const struct diag_info *info = diag_info(code);
  if (info->severity == SEV_WARNING && d->muted[code]) {
    return NULL;
  }
  enum severity severity = d->warnings_are_errors ? SEV_ERROR : info->severity;
  if (severity == SEV_ERROR && d->n_errors >= d->error_limit) {
    d->n_errors++;
    return NULL;
  }
  struct str text = format_text(d->arena, info->text, args, n_args, escape);
  if (already_said(d, at, code, text)) {
    d->n_repeated += severity == SEV_ERROR;
    return NULL;
  }
  if (severity == SEV_ERROR) {
    d->n_errors++;
  } else {
    d->n_warnings++;
  }
  struct diag *g = ARENA_NEW(d->arena, struct diag);
  *g = (struct diag){.code = code, .severity = severity, .span = at, .text = text};
  VEC_PUSH(d->arena, d->list, g);
  return g;
}

struct diag *diag_report(struct diags *d, struct span at, enum diag_code code,
                         const struct str *args, uint32_t n_args) {
  return report(d, at, code, args, n_args, true);
}

struct diag *diag_report_safe(struct diags *d, struct span at, enum diag_code code,
                              const struct str *args, uint32_t n_args) {
  return report(d, at, code, args, n_args, false);
}

static void attach(struct diags *d, struct diag *to, struct diag_extra e) {
  if (to != NULL) {
    VEC_PUSH(d->arena, to->extra, e);
  }
}

void diag_note(struct diags *d, struct diag *to, struct span at, struct str text) {
  attach(d, to, (struct diag_extra){.span = at, .text = text});
}

void diag_help(struct diags *d, struct diag *to, struct str text) {
  attach(d, to, (struct diag_extra){.span = NO_SPAN, .text = text, .is_help = true});
}

void diag_suggest(struct diags *d, struct diag *to, struct str wrong,
                  const struct str *candidates, uint32_t n) {
  uint32_t limit = wrong.n <= 1   ? 0
                   : wrong.n <= 3 ? 1
                   : wrong.n <= 8 ? 2
                                  : 3,
           best = limit + 1, which = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t dist = str_distance(wrong, candidates[i], limit);
    if (dist < best) {
      best = dist;
      which = i;
    }
  }
  if (to != NULL && best <= limit) {
    diag_help(d, to,
              str_fmt(d->arena, "did you mean `%.*s`?",
                      STR_FMT(str_escape(d->arena, candidates[which]))));
  }
}
