// Tokens of IR text and the small readers on top of them.
#include "ir/text.h"

#include <stdlib.h>
#include <string.h>

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static bool is_mark(char c) {
  return c == '[' || c == ']' || c == ',' || c == '=';
}

static struct ir_token scan(const struct ir_reader *r, size_t at) {
  struct str t = r->text;
  while (at < t.n && is_space(t.p[at])) {
    at++;
  }
  if (at < t.n && t.p[at] == '#') {
    while (at < t.n && t.p[at] != '\n') {
      at++;
    }
  }
  size_t end = at;
  enum ir_token_kind kind = ITK_END;
  if (at < t.n && (t.p[at] == '\n' || is_mark(t.p[at]))) {
    kind = t.p[at] == '\n' ? ITK_LINE : ITK_MARK;
    end = at + 1;
  } else if (at < t.n) {
    kind = ITK_WORD;
    while (end < t.n && !is_space(t.p[end]) && !is_mark(t.p[end]) && t.p[end] != '\n' &&
           t.p[end] != '#') {
      end++;
    }
  }
  return (struct ir_token){
      kind, {t.p + at, end - at}, {r->file, (uint32_t)at, (uint32_t)end}};
}

void ir_reader_start(struct ir_reader *r, struct front *f, uint32_t file) {
  *r =
      (struct ir_reader){.front = f, .text = f->sources->file.v[file].text, .file = file};
  r->tok = scan(r, 0);
}

void ir_advance(struct ir_reader *r) {
  r->tok = scan(r, r->tok.span.end);
}

bool ir_peek(const struct ir_reader *r, const char *text) {
  bool has_text = r->tok.kind == ITK_WORD || r->tok.kind == ITK_MARK;
  return has_text && str_is(r->tok.text, text);
}

bool ir_accept(struct ir_reader *r, const char *text) {
  bool yes = ir_peek(r, text);
  if (yes) {
    ir_advance(r);
  }
  return yes;
}

void ir_expected(struct ir_reader *r, const char *what) {
  struct str found = r->tok.kind == ITK_LINE ? STR("the end of the line")
                     : r->tok.kind == ITK_END
                         ? STR("the end of the file")
                         : str_fmt(r->front->arena, "`%.*s`", STR_FMT(r->tok.text));
  DIAG(r->front->diags, r->tok.span, E0601, str_of(what), found);
  r->failed = true;
}

void ir_unknown(struct ir_reader *r, struct span at, const char *what, struct str name) {
  DIAG(r->front->diags, at, E0602, str_of(what), name);
  r->failed = true;
}

void ir_twice(struct ir_reader *r, struct span at, struct str name) {
  DIAG(r->front->diags, at, E0603, name);
  r->failed = true;
}

bool ir_expect(struct ir_reader *r, const char *text) {
  if (ir_accept(r, text)) {
    return true;
  }
  ir_expected(r, str_fmt(r->front->arena, "`%s`", text).p);
  return false;
}

void ir_skip_line(struct ir_reader *r) {
  while (r->tok.kind != ITK_LINE && r->tok.kind != ITK_END) {
    ir_advance(r);
  }
  while (r->tok.kind == ITK_LINE) {
    ir_advance(r);
  }
}

bool ir_expect_line(struct ir_reader *r) {
  if (r->tok.kind != ITK_LINE && r->tok.kind != ITK_END) {
    ir_expected(r, "the end of the line");
    return false;
  }
  ir_skip_line(r);
  return true;
}

bool ir_read_word(struct ir_reader *r, const char *what, struct str *out) {
  if (r->tok.kind != ITK_WORD) {
    ir_expected(r, what);
    return false;
  }
  *out = r->tok.text;
  ir_advance(r);
  return true;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool ir_read_ident(struct ir_reader *r, const char *what, struct str *out) {
  struct str w = r->tok.text;
  bool ok = r->tok.kind == ITK_WORD && is_letter(w.p[0]);
  for (size_t i = 1; ok && i < w.n; i++) {
    ok = is_letter(w.p[i]) || (w.p[i] >= '0' && w.p[i] <= '9');
  }
  if (!ok) {
    ir_expected(r, what);
    return false;
  }
  *out = w;
  ir_advance(r);
  return true;
}

bool ir_is_label(struct str word) {
  for (size_t i = 0; i < word.n; i++) {
    char c = word.p[i];
    if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '.') {
      return false;
    }
  }
  return true;
}

bool ir_read_u64(struct ir_reader *r, uint64_t max, uint64_t *out) {
  uint64_t v = 0;
  bool ok = r->tok.kind == ITK_WORD;
  for (size_t i = 0; ok && i < r->tok.text.n; i++) {
    uint64_t digit = (uint64_t)((unsigned char)r->tok.text.p[i]) - '0';
    ok = digit <= 9 && v <= (max - digit) / 10;
    v = v * 10 + digit;
  }
  if (!ok || v > max) {
    ir_expected(
        r, str_fmt(r->front->arena, "an integer up to %llu", (unsigned long long)max).p);
    return false;
  }
  *out = v;
  ir_advance(r);
  return true;
}

bool ir_read_num(struct ir_reader *r, bool f32, double *out) {
  char text[64], *end = text;
  if (r->tok.kind == ITK_WORD && r->tok.text.n < sizeof text) {
    memcpy(text, r->tok.text.p, r->tok.text.n);
    text[r->tok.text.n] = '\0';
    *out = f32 ? (double)strtof(text, &end) : strtod(text, &end);
  }
  if (end == text || *end != '\0') {
    ir_expected(r, "a number");
    return false;
  }
  ir_advance(r);
  return true;
}

bool ir_read_class(struct ir_reader *r, enum cls *out) {
  for (uint32_t c = CLS_GROUP; c <= CLS_ELEM; c++) {
    if (ir_accept(r, ir_class_word((enum cls)c))) {
      *out = (enum cls)c;
      return true;
    }
  }
  ir_expected(r, "a class (group, param, matrix, row, col, elem)");
  return false;
}

bool ir_read_storage(struct ir_reader *r, enum storage *out) {
  if (r->tok.kind == ITK_WORD && storage_find(r->tok.text, out)) {
    ir_advance(r);
    return true;
  }
  ir_expected(r, "a storage (f32, bf16, ...)");
  return false;
}
