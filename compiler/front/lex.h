// Tokens of a spec. Private to front/: the parser and the formatter read texts through it.
#ifndef STEPC_FRONT_LEX_H
#define STEPC_FRONT_LEX_H

#include "base/diag.h"

enum token_kind {
#define TOKEN(id, text) TOKEN_##id,
#include "front/tokens.def"
#undef TOKEN
  N_TOKENS
};
const char *token_kind_text(enum token_kind k); // "`:=`", "a name", "end of line"

struct token {
  enum token_kind kind;
  // Nothing more is said about this token: its fault was reported, or it follows from one that was.
  bool is_silent;
  bool is_int; // NUM without `.` and `e`
  double num;
  struct span span;
  struct str text; // STR: without the quotes; COMMENT: with its `#`
};

enum { MAX_BRACKETS = 256 }; // how many opening brackets the lexer remembers

// A cursor over one source. Brackets are counted here because a newline between them is a space.
struct lexer {
  struct arena *arena;
  const struct source *source;
  struct diags *diags;
  uint32_t file, at;
  bool at_line_start;  // only blanks stand between `at` and the line's begin
  bool keeps_comments; // they come out as tokens (the formatter)
  bool is_quiet;       // the parser skips the rest of a broken statement: report nothing
  bool saw_lone_cr;    // said once a file
  uint32_t depth;
  // offsets of the innermost brackets' openings, while they fit
  uint32_t open[MAX_BRACKETS];
};

struct lexer lexer_new(struct arena *a, const struct sources *s, struct diags *d,
                       uint32_t file);
struct token lexer_next(struct lexer *lx);
// Does `text` follow on this line, after blanks?
bool lexer_follows(const struct lexer *lx, const char *text);
// Does a name follow on this line, after blanks? Reserved words are not names.
bool lexer_name_follows(const struct lexer *lx);

// A byte that keeps a text from being one: NUL, or the first byte that is not UTF-8. False: all is well.
bool lex_find_binary(struct str text, size_t *at);

#endif
