// What a line is: its kind, which of its names are keywords, where its columns begin.
#include "front/fmt.h"

static bool is_id(const struct fmt_line *l, uint32_t i, const char *word) {
  return i < l->n && l->piece[i].tok.kind == TOKEN_ID &&
         str_is(l->piece[i].tok.text, word);
}

static enum fmt_kind kind_of(const struct fmt_line *l, struct str block) {
  if (l->n == 0) {
    return FMT_COMMENT;
  }
  if (block.n == 0 || str_is(block, "iteration")) {
    return FMT_OTHER;
  }
  if (l->n > 1 && l->piece[1].tok.kind == TOKEN_UPDATE) {
    return FMT_UPDATE;
  }
  if (l->piece[0].tok.kind == TOKEN_LET) {
    return FMT_LET;
  }
  bool is_decl = is_id(l, 0, "hyper") || is_id(l, 0, "static") || is_id(l, 0, "state") ||
                 is_id(l, 0, "input");
  return is_decl ? FMT_DECL : is_id(l, 0, "use") ? FMT_USE : FMT_OTHER;
}

// The first piece from `from` on, outside brackets, of one of two kinds; l->n where there is none.
static uint32_t find(const struct fmt_line *l, uint32_t from, enum token_kind a,
                     enum token_kind b) {
  uint32_t depth = 0;
  for (uint32_t i = from; i < l->n; i++) {
    enum token_kind k = l->piece[i].tok.kind;
    if (depth == 0 && (k == a || k == b)) {
      return i;
    }
    depth = fmt_depth_after(depth, k);
  }
  return l->n;
}

static struct fmt_cells cells_of(const struct fmt_line *l) {
  bool has_columns = l->kind == FMT_DECL || l->kind == FMT_LET;
  bool has_tail = has_columns || l->kind == FMT_UPDATE || l->kind == FMT_USE;
  uint32_t tail = has_tail ? find(l, 0, TOKEN_IN, TOKEN_WHEN) : l->n;
  if (!has_columns) {
    return (struct fmt_cells){tail, tail, tail, tail};
  }
  uint32_t value = find(l, 0, TOKEN_ASSIGN, TOKEN_ASSIGN);
  uint32_t type = find(l, 0, TOKEN_COLON, TOKEN_COLON);
  value = value < tail ? value : tail;
  return (struct fmt_cells){1, type < value ? type : value, value, tail};
}

// `init` is a keyword where a storage stands before it: not right after the colon, and before `when`.
static void mark_init(struct fmt_line *l) {
  uint32_t depth = 0;
  for (uint32_t i = l->cells.type + 2; i < l->cells.tail; i++) {
    if (depth == 0 && is_id(l, i, "init")) {
      l->piece[i].is_word = true;
      return;
    }
    depth = fmt_depth_after(depth, l->piece[i].tok.kind);
  }
}

void fmt_classify(struct fmt_line *l, struct str block) {
  l->kind = kind_of(l, block);
  l->cells = cells_of(l);
  bool all = str_is(block, "iteration");
  for (uint32_t i = 0; i < l->n; i++) {
    l->piece[i].is_word = all;
  }
  if (l->n > 0 && l->kind != FMT_UPDATE) {
    l->piece[0].is_word = true;
  }
  if (l->n > 1 && is_id(l, 0, "clip")) {
    l->piece[1].is_word = true;
  }
  if (l->kind == FMT_DECL && is_id(l, 0, "state")) {
    mark_init(l);
  }
}
