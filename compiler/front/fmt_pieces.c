// Spaces between the tokens of one line, and the line breaks that its author put inside brackets.
#include "front/fmt.h"

static bool is_opening(enum token_kind k) {
  return k == TOKEN_LPAREN || k == TOKEN_LBRACKET;
}
static bool is_closing(enum token_kind k) {
  return k == TOKEN_RPAREN || k == TOKEN_RBRACKET;
}

uint32_t fmt_depth_after(uint32_t depth, enum token_kind k) {
  return is_opening(k) ? depth + 1 : is_closing(k) && depth > 0 ? depth - 1 : depth;
}

// Can a value end here? Then a `-` that follows subtracts.
static bool ends_value(const struct piece *p) {
  enum token_kind k = p->tok.kind;
  return k == TOKEN_NUM || k == TOKEN_STR || k == TOKEN_TRUE || k == TOKEN_FALSE ||
         k == TOKEN_INF || is_closing(k) || (k == TOKEN_ID && !p->is_word);
}

static bool is_sign(const struct fmt_line *l, uint32_t i) {
  return l->piece[i].tok.kind == TOKEN_MINUS && (i == 0 || !ends_value(&l->piece[i - 1]));
}

static bool has_space_before(const struct fmt_line *l, uint32_t i) {
  const struct piece *before = &l->piece[i - 1];
  enum token_kind k = l->piece[i].tok.kind;
  if (k == TOKEN_COMMA || is_closing(k) || is_opening(before->tok.kind) ||
      is_sign(l, i - 1)) {
    return false;
  }
  bool is_call = k == TOKEN_LPAREN && before->tok.kind == TOKEN_ID && !before->is_word;
  return !is_call;
}

static void put_token(struct buf *out, const struct token *t) {
  bool is_string = t->kind == TOKEN_STR;
  buf_puts(out, is_string ? "\"" : "");
  buf_str(out, t->text);
  buf_puts(out, is_string ? "\"" : "");
}

static void put_break(struct buf *out, uint32_t column) {
  buf_char(out, '\n');
  buf_pad(out, column);
}

void fmt_pieces(struct buf *out, const struct fmt_line *l, uint32_t begin, uint32_t end) {
  uint32_t depth = 0;
  for (uint32_t i = begin; i < end; i++) {
    const struct piece *p = &l->piece[i];
    uint32_t after = fmt_depth_after(depth, p->tok.kind);
    if (i > begin && p->breaks) { // a closing bracket stands under its line's begin
      put_break(out, l->indent + 2 * (after < depth ? after : depth));
    } else if (i > begin && p->tok.kind == TOKEN_COMMENT) {
      buf_puts(out, "  ");
    } else if (i > begin && has_space_before(l, i)) {
      buf_char(out, ' ');
    }
    put_token(out, &p->tok);
    depth = after;
  }
}
