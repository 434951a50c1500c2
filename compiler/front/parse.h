// The parser's parts for each other. Private to front/.
//
// One function a grammar rule, its EBNF above it. The first error of a statement is reported, the rest of the
// statement is skipped: the current token is then its newline, `failed` keeps later expectations silent, and the
// functions in progress return what they have. Loops end because nothing but the newline is left to accept.
#ifndef STEPC_FRONT_PARSE_H
#define STEPC_FRONT_PARSE_H

#include "front/ast.h"
#include "front/lex.h"

enum {
  MAX_NESTING = 200, // of brackets, `-`, `not` and `if` in one expression
  MAX_HEIGHT = 1000, // of an expression's tree: a chain of 1000 `+` is as deep
};

struct parser {
  struct front *f;
  struct lexer lx;
  struct token tok; // the current one
  struct span last; // of the token before
  bool failed;      // an error was reported in this statement
  uint32_t nesting;
};

// ---- tokens (parse_token.c)
void parse_advance(struct parser *p);
bool parse_at(const struct parser *p, enum token_kind k);
bool parse_at_word(const struct parser *p, const char *word);
bool parse_at_end_of_line(const struct parser *p); // the end of the file too
bool parse_accept(struct parser *p, enum token_kind k);
bool parse_accept_word(struct parser *p, const char *word);
bool parse_expect(struct parser *p, enum token_kind k);
bool parse_expect_word(struct parser *p, const char *word);
// A name; reserved words are refused. Empty after an error.
struct str parse_name(struct parser *p, const char *what, struct span *at);
struct str parse_string(struct parser *p, const char *what);
struct str parse_filled_string(struct parser *p, const char *what); // "" is refused
uint64_t parse_int(struct parser *p, const char *what);
// num = [ "-" ] NUM
double parse_num(struct parser *p);
// One of `n` words: its index, or UINT32_MAX after an error. `what` names them all.
uint32_t parse_one_of(struct parser *p, const char *what, const struct str *words,
                      uint32_t n);
// E0102 at the current token unless it is silent or the statement failed before; NULL where nothing was said.
struct diag *parse_fail(struct parser *p, const char *what);
// Any other error at a place of this statement; likewise the first only, and the statement is skipped.
struct diag *parse_fail_code(struct parser *p, struct span at, enum diag_code code,
                             struct str arg);
// From the first token of a statement to its last.
struct span parse_span_from(const struct parser *p, struct span begin);
// "{" nl { line nl } "}"; calls `line` at each line's first token and mends after a failed one. Returns the span
// of the opening brace.
void parse_block(struct parser *p, void (*line)(struct parser *p, void *ctx), void *ctx);
// Words that begin a top-level declaration, followed by what follows them there.
bool parse_at_declaration(const struct parser *p);
void parse_skip_line(struct parser *p); // to the end of the line, silently
// nl, which the end of the file is too: stays before it. Ends the statement, broken or not.
void parse_end_line(struct parser *p);
// What is neither a statement nor a declaration: E0102, with help where the mistake is a common one. `words` may
// begin one, for "did you mean".
void parse_refuse_line(struct parser *p, const char *what, const struct str *words,
                       uint32_t n);

// ---- rules
struct expr *parse_expr(struct parser *p);          // parse_expr.c
struct expr *parse_call_arg(struct parser *p);      // parse_expr.c
bool parse_class(struct parser *p, enum cls *c);    // "row" | "col" | ... (parse_expr.c)
struct storage_ref parse_storage(struct parser *p); // parse_type.c
struct type_ref parse_type(struct parser *p);       // parse_type.c
struct type_ref parse_plain_type(struct parser *p); // parse_type.c
struct range parse_range(struct parser *p);         // parse_type.c
void parse_round(struct parser *p, struct str *round, struct span *at); // parse_type.c
struct stmt *parse_hyper(struct parser *p);                             // parse_stmt.c
struct optimizer *parse_optimizer(struct parser *p);                    // parse_stmt.c
struct iteration *parse_iteration(struct parser *p);                // parse_iteration.c
void parse_check_iteration(struct parser *p, struct iteration *it); // check_iteration.c
struct recipe *parse_recipe(struct parser *p);                      // parse_recipe.c
struct use *parse_use(struct parser *p);                            // parse_use.c

#endif
