// Types, storages, ranges, rounding: the small parts of declarations.
#include "front/parse.h"

static const struct {
  const char *text;
  enum type_kind kind;
} type_words[] = {{"f32", TYPE_F32},
                  {"int", TYPE_INT},
                  {"bool", TYPE_BOOL},
                  {"iteration", TYPE_ITERATION},
                  {"storage", TYPE_STORAGE}};
enum { N_TYPE_WORDS = sizeof type_words / sizeof type_words[0] };

// The type of a hyper or an input, and of a static that is no choice: ID
struct type_ref parse_plain_type(struct parser *p) {
  struct type_ref t = {.kind = TYPE_POISON};
  struct str words[N_TYPE_WORDS];
  struct str name = parse_name(p, "a type", &t.span);
  for (uint32_t i = 0; i < N_TYPE_WORDS; i++) {
    words[i] = str_of(type_words[i].text);
    if (str_eq(name, words[i])) {
      t.kind = type_words[i].kind;
    }
  }
  if (t.kind == TYPE_POISON && !p->failed) {
    struct diag *d = DIAG(p->f->diags, t.span, E0114, name);
    diag_suggest(p->f->diags, d, name, words, N_TYPE_WORDS);
  }
  return t;
}

// type = "f32" | "int" | "bool" | "iteration" | "storage" | STR { "|" STR }
struct type_ref parse_type(struct parser *p) {
  if (!parse_at(p, TOKEN_STR)) {
    return parse_plain_type(p);
  }
  struct span begin = p->tok.span;
  VEC(struct str) choice = {0};
  do {
    VEC_PUSH(p->f->arena, choice, parse_string(p, "a string"));
  } while (parse_accept(p, TOKEN_BAR));
  return (struct type_ref){.kind = TYPE_CHOICE,
                           .span = parse_span_from(p, begin),
                           .choice = choice.v,
                           .n_choices = choice.n};
}

// storage = ( "f32" | "bf16" | ... | ID ) [ "(" "block" "=" INT ")" ]; which names are storages is sema's business
struct storage_ref parse_storage(struct parser *p) {
  struct storage_ref s = {0};
  s.name = parse_name(p, "a storage", &s.span);
  if (parse_accept(p, TOKEN_LPAREN)) {
    (void)parse_expect_word(p, "block");
    (void)parse_expect(p, TOKEN_ASSIGN);
    s.block = parse_int(p, "an integer");
    (void)parse_expect(p, TOKEN_RPAREN);
    s.has_block = true;
    s.span = parse_span_from(p, s.span);
  }
  return s;
}

// range = ("[" | "(") expr "," expr ("]" | ")")
struct range parse_range(struct parser *p) {
  struct range r = {.present = true, .span = p->tok.span};
  r.lo_open = parse_at(p, TOKEN_LPAREN);
  if (!parse_accept(p, TOKEN_LPAREN) && !parse_accept(p, TOKEN_LBRACKET)) {
    (void)parse_fail(p, "a range like `[0, 1)`");
  }
  r.lo = parse_expr(p);
  (void)parse_expect(p, TOKEN_COMMA);
  r.hi = parse_expr(p);
  r.hi_open = parse_at(p, TOKEN_RPAREN);
  if (!parse_accept(p, TOKEN_RPAREN) && !parse_accept(p, TOKEN_RBRACKET)) {
    (void)parse_fail(p, "`)` or `]`");
  }
  r.span = parse_span_from(p, r.span);
  return r;
}

// [ "round" ID ]; which names are roundings is sema's business
void parse_round(struct parser *p, struct str *round, struct span *at) {
  if (parse_accept_word(p, "round")) {
    *round = parse_name(p, "`nearest` or `stochastic`", at);
  }
}
