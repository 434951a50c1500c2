// The parser's hold on tokens: expectations, the first error of a statement, skipping to its end.
#include "front/parse.h"

void parse_advance(struct parser *p) {
  p->last = p->tok.span;
  p->tok = lexer_next(&p->lx);
}

bool parse_at(const struct parser *p, enum token_kind k) {
  return p->tok.kind == k;
}

bool parse_at_word(const struct parser *p, const char *word) {
  return p->tok.kind == TOKEN_ID && str_is(p->tok.text, word);
}

bool parse_at_end_of_line(const struct parser *p) {
  return parse_at(p, TOKEN_NL) || parse_at(p, TOKEN_END);
}

bool parse_accept(struct parser *p, enum token_kind k) {
  if (!parse_at(p, k)) {
    return false;
  }
  parse_advance(p);
  return true;
}

bool parse_accept_word(struct parser *p, const char *word) {
  if (!parse_at_word(p, word)) {
    return false;
  }
  parse_advance(p);
  return true;
}

// A `}` ends it too: inside brackets the lexer has made that a faulty token.
void parse_skip_line(struct parser *p) {
  p->lx.is_quiet = true;
  while (!parse_at_end_of_line(p) && !parse_at(p, TOKEN_RBRACE)) {
    parse_advance(p);
  }
  p->lx.is_quiet = false;
}

// How a message names the token that was found.
static struct str found(const struct parser *p) {
  enum { SHOWN = 40 };
  struct token t = p->tok;
  struct arena *a = p->f->arena;
  struct str s = t.text;
  const char *more = s.n > SHOWN ? "..." : "";
  s.n = s.n > SHOWN ? SHOWN : s.n;
  if (t.kind == TOKEN_ID || t.kind == TOKEN_NUM) {
    return str_fmt(a, "`%.*s%s`", STR_FMT(s), more);
  }
  if (t.kind == TOKEN_STR) {
    return str_fmt(a, "\"%.*s%s\"", STR_FMT(s), more);
  }
  return str_of(token_kind_text(t.kind));
}

static struct diag *fail(struct parser *p, struct span at, enum diag_code code,
                         const struct str *args, uint32_t n) {
  struct diag *d = NULL;
  if (!p->failed && !p->tok.is_silent) {
    d = diag_report(p->f->diags, at, code, args, n);
  }
  p->failed = true;
  parse_skip_line(p);
  return d;
}

struct diag *parse_fail(struct parser *p, const char *what) {
  struct str args[] = {str_of(what), found(p)};
  return fail(p, p->tok.span, E0102, args, 2);
}

struct diag *parse_fail_code(struct parser *p, struct span at, enum diag_code code,
                             struct str arg) {
  return fail(p, at, code, &arg, 1);
}

bool parse_expect(struct parser *p, enum token_kind k) {
  if (parse_accept(p, k)) {
    return true;
  }
  (void)parse_fail(p, token_kind_text(k));
  return false;
}

bool parse_expect_word(struct parser *p, const char *word) {
  if (parse_accept_word(p, word)) {
    return true;
  }
  (void)parse_fail(p, str_cstr(p->f->arena, str_fmt(p->f->arena, "`%s`", word)));
  return false;
}

static bool is_reserved(enum token_kind k) {
  return k >= TOKEN_LET && k <= TOKEN_INF;
}

struct str parse_name(struct parser *p, const char *what, struct span *at) {
  *at = p->tok.span;
  struct str name = p->tok.text;
  if (parse_accept(p, TOKEN_ID)) {
    return name;
  }
  if (is_reserved(p->tok.kind)) {
    (void)parse_fail_code(p, p->tok.span, E0112, name);
  } else {
    (void)parse_fail(p, what);
  }
  return STR("");
}

struct str parse_string(struct parser *p, const char *what) {
  struct str text = p->tok.text;
  if (parse_accept(p, TOKEN_STR)) {
    return text;
  }
  (void)parse_fail(p, what);
  return STR("");
}

struct str parse_filled_string(struct parser *p, const char *what) {
  if (parse_at(p, TOKEN_STR) && p->tok.text.n == 0) {
    (void)parse_fail(p, what);
  }
  return parse_string(p, what);
}

uint64_t parse_int(struct parser *p, const char *what) {
  double x = p->tok.num;
  if (parse_at(p, TOKEN_NUM) && p->tok.is_int) {
    parse_advance(p);
    return (uint64_t)x; // at most 2^53: the lexer refuses more
  }
  (void)parse_fail(p, what);
  return 0;
}

double parse_num(struct parser *p) {
  double sign = parse_accept(p, TOKEN_MINUS) ? -1.0 : 1.0;
  double x = p->tok.num;
  if (parse_accept(p, TOKEN_NUM)) {
    return sign * x;
  }
  (void)parse_fail(p, "a number");
  return 0.0;
}

uint32_t parse_one_of(struct parser *p, const char *what, const struct str *words,
                      uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (parse_at(p, TOKEN_ID) && str_eq(p->tok.text, words[i])) {
      parse_advance(p);
      return i;
    }
  }
  struct str wrong = parse_at(p, TOKEN_ID) ? p->tok.text : STR("");
  struct diag *d = parse_fail(p, what);
  if (wrong.n != 0) {
    diag_suggest(p->f->diags, d, wrong, words, n);
  }
  return UINT32_MAX;
}

void parse_refuse_line(struct parser *p, const char *what, const struct str *words,
                       uint32_t n) {
  struct token t = p->tok;
  bool is_c_comment = t.kind == TOKEN_SLASH && lexer_follows(&p->lx, "/");
  struct diag *d = parse_fail(p, what);
  if (is_c_comment) {
    diag_help(p->f->diags, d, STR("comments begin with `#`"));
  } else if (t.kind == TOKEN_IF) {
    diag_help(p->f->diags, d, STR("a guard stands at the end: `... when CONDITION`"));
  } else if (t.kind == TOKEN_ID) {
    diag_suggest(p->f->diags, d, t.text, words, n);
  }
}

struct span parse_span_from(const struct parser *p, struct span begin) {
  return span_join(begin, p->last.end > begin.end ? p->last : begin);
}

bool parse_at_declaration(const struct parser *p) {
  if (parse_at_word(p, "import")) {
    return lexer_follows(&p->lx, "\"");
  }
  return (parse_at_word(p, "optimizer") || parse_at_word(p, "iteration") ||
          parse_at_word(p, "recipe")) &&
         lexer_name_follows(&p->lx);
}

void parse_end_line(struct parser *p) {
  if (!p->failed && !parse_at_end_of_line(p)) {
    bool is_assign = parse_at(p, TOKEN_ASSIGN);
    struct diag *d = parse_fail(p, "end of line");
    if (is_assign) {
      diag_help(p->f->diags, d, STR("`==` compares"));
    }
  }
  p->failed = false;
}

void parse_block(struct parser *p, void (*line)(struct parser *p, void *ctx), void *ctx) {
  struct span open = p->tok.span;
  bool is_open = parse_expect(p, TOKEN_LBRACE);
  parse_end_line(p);
  for (;;) {
    while (parse_accept(p, TOKEN_NL)) {
    }
    if (parse_accept(p, TOKEN_RBRACE)) {
      return;
    }
    if (parse_at(p, TOKEN_END) || parse_at_declaration(p)) {
      if (is_open) { // else its header was refused, and that is enough
        DIAG(p->f->diags, open, E0110, STR("{"));
      }
      p->failed = true; // the end of line that follows a block is missing as well
      return;
    }
    line(p, ctx);
    parse_end_line(p);
  }
}
