// Canonical form of a spec: tokens to lines, lines to text.
#include "front/fmt.h"

#include "front/ast.h"

struct gatherer {
  struct lexer lx;
  struct diags diags; // nothing is reported: the text has parsed
  struct arena *arena;
  VEC(struct fmt_line) line;
  struct str block; // the word that began the open block; empty outside
  bool blank;       // an empty line was passed
  enum { AT_BEGIN, AFTER_HEADER, AFTER_LINE, AFTER_BLOCK } before; // the next line
};

static bool has_newline(struct str text, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    if (text.p[i] == '\n') {
      return true;
    }
  }
  return false;
}

static struct str trim_end(struct str s) {
  while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t')) {
    s.n--;
  }
  return s;
}

// A line's tokens from `t` on, up to its newline. A comment inside brackets is a piece, one after them ends the line.
static struct fmt_line gather_line(struct gatherer *g, struct token t) {
  struct fmt_line l = {0};
  VEC(struct piece) pieces = {0};
  uint32_t last_end = t.span.begin;
  for (; t.kind != TOKEN_NL && t.kind != TOKEN_END; t = lexer_next(&g->lx)) {
    struct piece p = {.tok = t};
    p.breaks = has_newline(g->lx.source->text, last_end, t.span.begin);
    last_end = t.span.end;
    if (t.kind == TOKEN_COMMENT) {
      p.tok.text = trim_end(t.text);
    }
    if (t.kind == TOKEN_COMMENT && g->lx.depth == 0) {
      l.comment = p.tok.text;
      continue;
    }
    l.is_broken = l.is_broken || p.breaks;
    VEC_PUSH(g->arena, pieces, p);
  }
  l.piece = pieces.v;
  l.n = pieces.n;
  return l;
}

static void add_line(struct gatherer *g, struct token first) {
  struct fmt_line l = gather_line(g, first);
  bool closes = l.n > 0 && l.piece[0].tok.kind == TOKEN_RBRACE;
  bool opens = l.n > 0 && l.piece[l.n - 1].tok.kind == TOKEN_LBRACE;
  bool keeps = g->before == AFTER_LINE && !closes;
  l.blank_before = (g->blank && keeps) || g->before == AFTER_BLOCK;
  g->before = opens ? AFTER_HEADER : closes ? AFTER_BLOCK : AFTER_LINE;
  if (closes) {
    g->block = STR("");
  }
  fmt_classify(&l, opens ? STR("") : g->block);
  l.indent = g->block.n == 0 ? 0 : 2;
  if (opens) {
    g->block = l.piece[0].tok.text;
  }
  VEC_PUSH(g->arena, g->line, l);
  g->blank = false;
}

struct str fmt_module(struct arena *a, const struct sources *s, const struct module *m) {
  struct gatherer g = {.arena = a};
  g.lx = lexer_new(a, s, &g.diags, m->file);
  g.lx.keeps_comments = true;
  g.lx.is_quiet = true;
  bool is_empty = false; // nothing stands on the current line so far
  for (struct token t; (t = lexer_next(&g.lx)).kind != TOKEN_END;) {
    if (t.kind == TOKEN_NL) {
      g.blank = g.blank || is_empty;
      is_empty = true;
      continue;
    }
    add_line(&g, t);
    is_empty = true; // its newline is taken
  }
  struct buf out = buf_new(a);
  fmt_lines(&out, g.line.v, g.line.n);
  return buf_done(&out);
}
