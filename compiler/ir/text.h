// Reading IR text: tokens and the state of one parse, shared by the header's and the instructions' parser.
#ifndef STEPC_IR_TEXT_H
#define STEPC_IR_TEXT_H

#include "ir/ir.h"
#include "ir/names.h"

// Tokens are words, the marks `[ ] , =` and line ends; `#` starts a comment.
enum ir_token_kind { ITK_WORD, ITK_MARK, ITK_LINE, ITK_END };
struct ir_token {
  enum ir_token_kind kind;
  struct str text;
  struct span span;
};

struct ir_reader {
  struct front *front;
  struct str text;
  uint32_t file;
  struct ir_token tok; // the next one
  bool failed;         // something was reported
};

void ir_reader_start(struct ir_reader *r, struct front *f, uint32_t file);
void ir_advance(struct ir_reader *r);
bool ir_peek(const struct ir_reader *r,
             const char *text); // is the next token this word or mark?
bool ir_accept(struct ir_reader *r, const char *text);
// These report what was expected and return false when the next token is something else.
bool ir_expect(struct ir_reader *r, const char *text);
bool ir_expect_line(struct ir_reader *r);
bool ir_read_word(struct ir_reader *r, const char *what, struct str *out);
bool ir_read_ident(struct ir_reader *r, const char *what, struct str *out);
bool ir_is_label(struct str word); // letters, digits, `_` and `.` only
bool ir_read_u64(struct ir_reader *r, uint64_t max, uint64_t *out);
bool ir_read_num(struct ir_reader *r, bool f32,
                 double *out); // rounded once, to f32 or f64
bool ir_read_class(struct ir_reader *r, enum cls *out);
bool ir_read_storage(struct ir_reader *r, enum storage *out);
void ir_expected(struct ir_reader *r, const char *what);
void ir_unknown(struct ir_reader *r, struct span at, const char *what, struct str name);
void ir_twice(struct ir_reader *r, struct span at, struct str name);
void ir_skip_line(struct ir_reader *r);

// Lines up to `init` or `update`. False when the header is no use.
bool ir_parse_header(struct ir_reader *r, struct ir *ir);
// Instructions until a line that is none.
void ir_parse_body(struct ir_reader *r, struct ir *ir);

#endif
