// Bytes to tokens. Knows newlines, brackets and the statement that an unclosed bracket would swallow.
#include "front/lex.h"

#include "front/lex_number.h"

#include <string.h>

static const char *const kinds[N_TOKENS] = {
#define TOKEN(id, text) [TOKEN_##id] = (text),
#include "front/tokens.def"
#undef TOKEN
};

const char *token_kind_text(enum token_kind k) {
  return kinds[k];
}

// The spelling of a reserved word or of punctuation: what stands between its backquotes.
static struct str spelling(enum token_kind k) {
  return (struct str){kinds[k] + 1, strlen(kinds[k]) - 2};
}

struct lexer lexer_new(struct arena *a, const struct sources *s, struct diags *d,
                       uint32_t file) {
  return (struct lexer){.arena = a,
                        .source = &s->file.v[file],
                        .diags = d,
                        .file = file,
                        .at_line_start = true};
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
static bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_name_char(char c) {
  return is_name_start(c) || is_digit(c);
}

// The byte at offset `i`; the text is NUL-terminated after its end, and holds no other NUL.
static char at(const struct lexer *lx, size_t i) {
  if (i >= lx->source->text.n) {
    return '\0';
  }
  return lx->source->text.p[i];
}

static struct span span_at(const struct lexer *lx, size_t begin, size_t end) {
  return (struct span){lx->file, (uint32_t)begin, (uint32_t)end};
}

static struct token make(const struct lexer *lx, enum token_kind k, size_t begin,
                         size_t end) {
  return (struct token){.kind = k,
                        .span = span_at(lx, begin, end),
                        .text = {lx->source->text.p + begin, end - begin}};
}

static struct token make_bad(struct lexer *lx, size_t begin, size_t end) {
  struct token t = make(lx, TOKEN_BAD, begin, end);
  t.is_silent = true;
  lx->at = (uint32_t)end;
  return t;
}

static struct diag *report(struct lexer *lx, size_t begin, size_t end,
                           enum diag_code code, const struct str *arg) {
  if (lx->is_quiet) {
    return NULL;
  }
  return diag_report(lx->diags, span_at(lx, begin, end), code, arg, arg != NULL);
}

// ---- looking ahead without moving

static size_t skip_blanks(const struct lexer *lx, size_t i) {
  while (is_blank(at(lx, i))) {
    i++;
  }
  return i;
}

static size_t skip_name(const struct lexer *lx, size_t i) {
  while (is_name_char(at(lx, i))) {
    i++;
  }
  return i;
}

static bool is_at(const struct lexer *lx, size_t i, struct str text) {
  struct str s = lx->source->text;
  return i <= s.n && s.n - i >= text.n && memcmp(s.p + i, text.p, text.n) == 0;
}

static bool is_reserved(struct str word, enum token_kind *kind) {
  for (int k = TOKEN_LET; k <= TOKEN_INF; k++) {
    if (str_eq(word, spelling((enum token_kind)k))) {
      *kind = (enum token_kind)k;
      return true;
    }
  }
  return false;
}

static struct str word_at(const struct lexer *lx, size_t i) {
  size_t end = is_name_start(at(lx, i)) ? skip_name(lx, i) : i;
  return (struct str){lx->source->text.p + i, end - i};
}

static bool is_name_at(const struct lexer *lx, size_t i) {
  enum token_kind k;
  struct str w = word_at(lx, i);
  return w.n != 0 && !is_reserved(w, &k);
}

bool lexer_follows(const struct lexer *lx, const char *text) {
  return is_at(lx, skip_blanks(lx, lx->at), str_of(text));
}

bool lexer_name_follows(const struct lexer *lx) {
  return is_name_at(lx, skip_blanks(lx, lx->at));
}

// Can what begins at `i`, first in its line, only be a statement? Then an open bracket before it was forgotten.
// Statement words are legal names, but no expression has two names in a row.
static bool is_statement_at(const struct lexer *lx, size_t i) {
  static const char *const words[] = {"hyper",     "static",    "state",  "input",
                                      "require",   "use",       "clip",   "skip",
                                      "optimizer", "iteration", "recipe", "import"};
  struct str w = word_at(lx, i);
  size_t next = skip_blanks(lx, i + w.n);
  if (at(lx, i) == '}' || str_is(w, "let")) {
    return true;
  }
  if (w.n == 0 || is_at(lx, next, STR(":="))) {
    return w.n != 0;
  }
  for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
    if (str_is(w, words[k])) {
      return is_name_at(lx, next) || at(lx, next) == '"' ||
             str_is(word_at(lx, next), "not");
    }
  }
  return false;
}

// ---- brackets

static void open_bracket(struct lexer *lx, uint32_t offset) {
  if (lx->depth < MAX_BRACKETS) {
    lx->open[lx->depth] = offset;
  }
  lx->depth++;
}

static void report_unclosed(struct lexer *lx) {
  uint32_t k = lx->depth <= MAX_BRACKETS ? lx->depth - 1 : MAX_BRACKETS - 1;
  struct str bracket = {lx->source->text.p + lx->open[k], 1};
  report(lx, lx->open[k], lx->open[k] + 1, E0110, &bracket);
}

// ---- newlines, comments

static struct token newline(struct lexer *lx, size_t begin, size_t end) {
  lx->at = (uint32_t)end;
  lx->at_line_start = true;
  return make(lx, TOKEN_NL, begin, end);
}

// "\n", "\r\n", and, reported once a file, a "\r" alone; returns the end, or `i` where no newline stands.
static size_t skip_newline(struct lexer *lx, size_t i) {
  if (at(lx, i) == '\n') {
    return i + 1;
  }
  if (at(lx, i) == '\r') {
    if (at(lx, i + 1) == '\n') {
      return i + 2;
    }
    if (!lx->saw_lone_cr && !lx->is_quiet) {
      lx->saw_lone_cr = true;
      report(lx, i, i + 1, E0106, NULL);
    }
    return i + 1;
  }
  return i;
}

static size_t comment_end(const struct lexer *lx, size_t i) {
  while (i < lx->source->text.n && at(lx, i) != '\n' && at(lx, i) != '\r') {
    i++;
  }
  return i;
}

// ---- words, numbers, strings, punctuation

static struct token lex_word(struct lexer *lx, size_t begin) {
  lx->at = (uint32_t)skip_name(lx, begin);
  struct token t = make(lx, TOKEN_ID, begin, lx->at);
  enum token_kind reserved;
  if (is_reserved(t.text, &reserved)) {
    t.kind = reserved;
  }
  return t;
}

static struct token lex_number(struct lexer *lx, size_t begin) {
  const char *p = lx->source->text.p + begin;
  bool is_int;
  size_t n = number_scan(p, &is_int);
  if (n == 0) {
    struct str wrong = {p, number_scan_wrong(p)};
    diag_help(lx->diags, report(lx, begin, begin + wrong.n, E0108, &wrong),
              STR("numbers look like 3, 0.5 or 1e-8"));
    return make_bad(lx, begin, begin + wrong.n);
  }
  struct token t = make(lx, TOKEN_NUM, begin, begin + n);
  t.is_int = is_int;
  if (!number_value(t.text, is_int, &t.num)) {
    report(lx, begin, begin + n, E0109, &t.text);
    return make_bad(lx, begin, begin + n);
  }
  lx->at = (uint32_t)(begin + n);
  return t;
}

static struct token lex_string(struct lexer *lx, size_t begin) {
  size_t end = begin + 1;
  while (end < lx->source->text.n && at(lx, end) != '"' && at(lx, end) != '\n' &&
         at(lx, end) != '\r') {
    end++;
  }
  if (at(lx, end) != '"') {
    report(lx, begin, begin + 1, E0107, NULL);
    return make_bad(lx, begin, end);
  }
  struct token t = make(lx, TOKEN_STR, begin, end + 1);
  t.text = (struct str){t.text.p + 1, t.text.n - 2};
  lx->at = (uint32_t)end + 1;
  return t;
}

static struct token lex_unknown(struct lexer *lx, size_t begin) {
  size_t end = begin + 1;
  while (((unsigned char)at(lx, end) & 0xc0) == 0x80) { // the rest of a UTF-8 sequence
    end++;
  }
  struct str text = {lx->source->text.p + begin, end - begin};
  report(lx, begin, end, E0105, &text);
  return make_bad(lx, begin, end);
}

// A `}` inside brackets, not first in its line, is taken for the closing bracket that is missing.
static struct token lex_stray_brace(struct lexer *lx, size_t begin) {
  report_unclosed(lx);
  lx->depth--;
  return make_bad(lx, begin, begin + 1);
}

static struct token lex_punctuation(struct lexer *lx, size_t begin) {
  for (int k = TOKEN_UPDATE; k <= TOKEN_RBRACKET; k++) {
    struct str s = {kinds[k] + 1, k <= TOKEN_GE ? 2 : 1};
    if (s.p[0] != at(lx, begin) || !is_at(lx, begin, s)) {
      continue;
    }
    if (k == TOKEN_RBRACE && lx->depth > 0) {
      return lex_stray_brace(lx, begin);
    }
    if (k == TOKEN_LPAREN || k == TOKEN_LBRACKET) {
      open_bracket(lx, (uint32_t)begin);
    } else if ((k == TOKEN_RPAREN || k == TOKEN_RBRACKET) && lx->depth > 0) {
      lx->depth--;
    }
    lx->at = (uint32_t)(begin + s.n);
    return make(lx, (enum token_kind)k, begin, lx->at);
  }
  return lex_unknown(lx, begin);
}

// ---- the next token

// The statement ends although a bracket is open: said at that bracket, and silent from here on.
static struct token end_unclosed(struct lexer *lx, size_t i) {
  report_unclosed(lx);
  lx->depth = 0;
  struct token t = newline(lx, i, i);
  t.is_silent = true;
  return t;
}

static struct token lex_token(struct lexer *lx, size_t i) {
  bool is_first = lx->at_line_start;
  if (lx->depth > 0 &&
      (i >= lx->source->text.n || (is_first && is_statement_at(lx, i)))) {
    return end_unclosed(lx, i);
  }
  if (i >= lx->source->text.n) {
    lx->at = (uint32_t)i;
    return make(lx, TOKEN_END, i, i);
  }
  lx->at_line_start = false;
  char c = at(lx, i);
  return is_name_start(c)                                       ? lex_word(lx, i)
         : is_digit(c) || (c == '.' && is_digit(at(lx, i + 1))) ? lex_number(lx, i)
         : c == '"'                                             ? lex_string(lx, i)
                                                                : lex_punctuation(lx, i);
}

struct token lexer_next(struct lexer *lx) {
  for (;;) {
    size_t begin = skip_blanks(lx, lx->at), end = begin;
    if (at(lx, begin) == '#') {
      end = comment_end(lx, begin);
      if (lx->keeps_comments) {
        lx->at = (uint32_t)end;
        return make(lx, TOKEN_COMMENT, begin, end);
      }
    }
    size_t after = skip_newline(lx, end);
    if (after == end) {
      return lex_token(lx, end);
    }
    if (lx->depth == 0) {
      return newline(lx, end, after);
    }
    lx->at = (uint32_t)after;
    lx->at_line_start = true;
  }
}

bool lex_find_binary(struct str text, size_t *where) {
  for (size_t i = 0; i < text.n;) {
    uint32_t cp;
    size_t n = str_utf8(text, i, &cp);
    if (n == 0 || cp == 0) {
      *where = i;
      return true;
    }
    i += n;
  }
  return false;
}
