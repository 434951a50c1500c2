// The formatter's parts for each other. Private to front/.
//
// Formatting works on tokens, not on the tree: what the author wrote (digits, parentheses, line breaks inside
// brackets, comments) stays, and only spaces, columns and blank lines change.
#ifndef STEPC_FRONT_FMT_H
#define STEPC_FRONT_FMT_H

#include "front/lex.h"

struct piece { // one token of a line
  struct token tok;
  // a keyword, known by its place: what follows is no call, a `-` after it is a sign
  bool is_word;
  bool breaks; // the author began a new line here, inside brackets
};

enum fmt_kind { // lines of one kind that follow each other share their columns
  FMT_OTHER,
  FMT_DECL, // hyper, static, state, input
  FMT_LET,
  FMT_UPDATE,
  FMT_USE,
  FMT_COMMENT, // nothing but a comment
};

// The columns of a line, as ranges of pieces: [0, name) [name, type) [type, value) [value, tail) [tail, n).
struct fmt_cells {
  uint32_t name, type, value, tail;
};

struct fmt_line {
  enum fmt_kind kind;
  struct piece *piece;
  uint32_t n;
  struct fmt_cells cells;
  struct str comment; // after the statement, or alone; empty if none
  uint32_t indent;    // columns
  bool blank_before;
  bool is_broken; // over several lines: it takes no part in columns
};

// Marks the words of a line, finds its kind and its columns (fmt_classify.c). `block` is the word that began the
// block it stands in ("optimizer"), empty at the top.
void fmt_classify(struct fmt_line *l, struct str block);
// The number of open brackets after a token (fmt_pieces.c).
uint32_t fmt_depth_after(uint32_t depth, enum token_kind k);
// The pieces [begin, end) of a line with canonical spaces (fmt_pieces.c).
void fmt_pieces(struct buf *out, const struct fmt_line *l, uint32_t begin, uint32_t end);
// All lines with their columns (fmt_align.c).
void fmt_lines(struct buf *out, const struct fmt_line *line, uint32_t n);

#endif
