// Expressions.
#include "front/parse.h"

static const char *const op_texts[] = {
    [EOP_NONE] = "", [EOP_NEG] = "-",  [EOP_NOT] = "not", [EOP_ADD] = "+",
    [EOP_SUB] = "-", [EOP_MUL] = "*",  [EOP_DIV] = "/",   [EOP_EQ] = "==",
    [EOP_NE] = "!=", [EOP_LT] = "<",   [EOP_LE] = "<=",   [EOP_GT] = ">",
    [EOP_GE] = ">=", [EOP_GLOB] = "~", [EOP_AND] = "and", [EOP_OR] = "or",
};

const char *expr_op_text(enum expr_op op) {
  return op_texts[op];
}

static struct expr *new_expr(struct parser *p, enum expr_kind kind, struct span span) {
  struct expr *e = ARENA_NEW(p->f->arena, struct expr);
  e->kind = kind;
  e->span = span;
  e->height = 1;
  return e;
}

static struct expr *poison(struct parser *p) {
  return new_expr(p, EXPR_POISON, p->tok.span);
}

// A node over `n` arguments. The height is bounded so that every later walk may recurse.
static struct expr *new_node(struct parser *p, enum expr_kind kind, enum expr_op op,
                             struct span span, struct expr *const *arg, uint32_t n) {
  struct expr *e = new_expr(p, kind, span);
  e->op = op;
  e->arg = ARENA_ARRAY(p->f->arena, struct expr *, n);
  e->n_args = n;
  for (uint32_t i = 0; i < n; i++) {
    e->arg[i] = arg[i];
    if (arg[i]->height >= e->height) {
      e->height = arg[i]->height + 1;
    }
  }
  if (e->height > MAX_HEIGHT) {
    (void)parse_fail_code(p, p->tok.span, E0111,
                          str_fmt(p->f->arena, "%d", (int)MAX_HEIGHT));
    return poison(p);
  }
  return e;
}

static struct expr *new_binary(struct parser *p, enum expr_op op, struct expr *l,
                               struct expr *r) {
  return new_node(p, EXPR_BINARY, op, span_join(l->span, r->span),
                  (struct expr *const[]){l, r}, 2);
}

// Guards each rule that can contain itself without a loop; false: refused.
static bool enter(struct parser *p) {
  if (p->nesting >= MAX_NESTING) {
    (void)parse_fail_code(p, p->tok.span, E0111,
                          str_fmt(p->f->arena, "%d", (int)MAX_NESTING));
    return false;
  }
  p->nesting++;
  return true;
}

static void leave(struct parser *p) {
  p->nesting--;
}

// "row" | "col" | "matrix" | "param" | "group"
bool parse_class(struct parser *p, enum cls *c) {
  static const enum cls classes[] = {CLS_ROW, CLS_COL, CLS_MATRIX, CLS_PARAM, CLS_GROUP};
  const struct str words[] = {STR("row"), STR("col"), STR("matrix"), STR("param"),
                              STR("group")};
  uint32_t i = parse_one_of(p, "`row`, `col`, `matrix`, `param` or `group`", words, 5);
  if (i == UINT32_MAX) {
    return false;
  }
  *c = classes[i];
  return true;
}

// arg = expr | "per" ("row" | "col" | "matrix" | "param" | "group")
struct expr *parse_call_arg(struct parser *p) {
  struct span begin = p->tok.span;
  if (!parse_accept(p, TOKEN_PER)) {
    return parse_expr(p);
  }
  enum cls c;
  if (!parse_class(p, &c)) {
    return poison(p);
  }
  struct expr *e = new_expr(p, EXPR_PER, parse_span_from(p, begin));
  e->per = c;
  return e;
}

// ID [ "(" [ arg { "," arg } ] ")" ]
static struct expr *parse_name_or_call(struct parser *p) {
  struct token id = p->tok;
  parse_advance(p);
  if (!parse_accept(p, TOKEN_LPAREN)) {
    struct expr *e = new_expr(p, EXPR_NAME, id.span);
    e->text = id.text;
    return e;
  }
  VEC(struct expr *) args = {0};
  if (!parse_at(p, TOKEN_RPAREN)) {
    do {
      VEC_PUSH(p->f->arena, args, parse_call_arg(p));
    } while (parse_accept(p, TOKEN_COMMA));
  }
  if (!parse_accept(p, TOKEN_RPAREN)) {
    (void)parse_fail(p, "`,` or `)`");
    return poison(p);
  }
  struct expr *e =
      new_node(p, EXPR_CALL, EOP_NONE, parse_span_from(p, id.span), args.v, args.n);
  e->text = id.text;
  return e;
}

static struct expr *parse_literal(struct parser *p, enum expr_kind kind) {
  struct expr *e = new_expr(p, kind, p->tok.span);
  e->text = p->tok.text;
  e->num = p->tok.num;
  e->is_int = p->tok.is_int;
  e->truth = parse_at(p, TOKEN_TRUE);
  parse_advance(p);
  return e;
}

// "(" expr ")"
static struct expr *parse_parens(struct parser *p) {
  parse_advance(p);
  struct expr *e = parse_expr(p);
  return parse_expect(p, TOKEN_RPAREN) ? e : poison(p);
}

// prim = NUM | STR | "true" | "false" | "inf" | "(" expr ")" | ID [ "(" [ arg { "," arg } ] ")" ]
static struct expr *parse_prim(struct parser *p) {
  if (parse_at(p, TOKEN_NUM)) {
    return parse_literal(p, EXPR_NUM);
  }
  if (parse_at(p, TOKEN_STR)) {
    return parse_literal(p, EXPR_STR);
  }
  if (parse_at(p, TOKEN_TRUE) || parse_at(p, TOKEN_FALSE)) {
    return parse_literal(p, EXPR_BOOL);
  }
  if (parse_at(p, TOKEN_INF)) {
    return parse_literal(p, EXPR_INF);
  }
  if (parse_at(p, TOKEN_ID)) {
    return parse_name_or_call(p);
  }
  if (parse_at(p, TOKEN_LPAREN)) {
    return parse_parens(p);
  }
  bool is_if = parse_at(p, TOKEN_IF);
  struct diag *d = parse_fail(p, "an expression");
  if (is_if) {
    diag_help(p->f->diags, d,
              STR("an `if` inside a formula needs parentheses around it"));
  }
  return poison(p);
}

// neg = "-" neg | prim
static struct expr *parse_neg(struct parser *p) {
  struct span begin = p->tok.span;
  if (!enter(p)) {
    return poison(p);
  }
  struct expr *e;
  if (parse_accept(p, TOKEN_MINUS)) {
    e = parse_neg(p);
    e = new_node(p, EXPR_UNARY, EOP_NEG, span_join(begin, e->span),
                 (struct expr *const[]){e}, 1);
  } else {
    e = parse_prim(p);
  }
  leave(p);
  return e;
}

// The operator of `table` that the current token is, or EOP_NONE.
struct op_token {
  enum token_kind token;
  enum expr_op op;
};
static enum expr_op accept_op(struct parser *p, const struct op_token *table, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (parse_accept(p, table[i].token)) {
      return table[i].op;
    }
  }
  return EOP_NONE;
}

// prod = neg { ("*" | "/") neg }
static struct expr *parse_prod(struct parser *p) {
  static const struct op_token ops[] = {{TOKEN_STAR, EOP_MUL}, {TOKEN_SLASH, EOP_DIV}};
  struct expr *e = parse_neg(p);
  for (enum expr_op op; (op = accept_op(p, ops, 2)) != EOP_NONE;) {
    e = new_binary(p, op, e, parse_neg(p));
  }
  return e;
}

// sum = prod { ("+" | "-") prod }
static struct expr *parse_sum(struct parser *p) {
  static const struct op_token ops[] = {{TOKEN_PLUS, EOP_ADD}, {TOKEN_MINUS, EOP_SUB}};
  struct expr *e = parse_prod(p);
  for (enum expr_op op; (op = accept_op(p, ops, 2)) != EOP_NONE;) {
    e = new_binary(p, op, e, parse_prod(p));
  }
  return e;
}

// cmp = sum [ cmpop sum ]    cmpop = "==" | "!=" | "<" | "<=" | ">" | ">=" | "~"
static struct expr *parse_cmp(struct parser *p) {
  static const struct op_token ops[] = {
      {TOKEN_EQ, EOP_EQ}, {TOKEN_NE, EOP_NE}, {TOKEN_LT, EOP_LT},    {TOKEN_LE, EOP_LE},
      {TOKEN_GT, EOP_GT}, {TOKEN_GE, EOP_GE}, {TOKEN_GLOB, EOP_GLOB}};
  const size_t n = sizeof ops / sizeof ops[0];
  struct expr *e = parse_sum(p);
  enum expr_op op = accept_op(p, ops, n);
  if (op == EOP_NONE) {
    return e;
  }
  e = new_binary(p, op, e, parse_sum(p));
  struct span second = p->tok.span;
  op = accept_op(p, ops, n);
  if (op != EOP_NONE) {
    struct diag *d = parse_fail_code(p, second, E0113, str_of(expr_op_text(op)));
    diag_help(p->f->diags, d, STR("write `a < b and b < c`"));
    return poison(p);
  }
  return e;
}

// not = "not" not | cmp
static struct expr *parse_not(struct parser *p) {
  struct span begin = p->tok.span;
  if (!parse_at(p, TOKEN_NOT)) {
    return parse_cmp(p);
  }
  if (!enter(p)) {
    return poison(p);
  }
  parse_advance(p);
  struct expr *e = parse_not(p);
  leave(p);
  return new_node(p, EXPR_UNARY, EOP_NOT, span_join(begin, e->span),
                  (struct expr *const[]){e}, 1);
}

// and = not { "and" not }
static struct expr *parse_and(struct parser *p) {
  struct expr *e = parse_not(p);
  while (parse_accept(p, TOKEN_AND)) {
    e = new_binary(p, EOP_AND, e, parse_not(p));
  }
  return e;
}

// or = and { "or" and }
static struct expr *parse_or(struct parser *p) {
  struct expr *e = parse_and(p);
  while (parse_accept(p, TOKEN_OR)) {
    e = new_binary(p, EOP_OR, e, parse_and(p));
  }
  return e;
}

// "if" expr "then" expr "else" expr
static struct expr *parse_if(struct parser *p) {
  struct span begin = p->tok.span;
  parse_advance(p);
  struct expr *arg[3];
  arg[0] = parse_expr(p);
  (void)parse_expect(p, TOKEN_THEN);
  arg[1] = parse_expr(p);
  (void)parse_expect(p, TOKEN_ELSE);
  arg[2] = parse_expr(p);
  return new_node(p, EXPR_IF, EOP_NONE, span_join(begin, arg[2]->span), arg, 3);
}

// expr = "if" expr "then" expr "else" expr | or
struct expr *parse_expr(struct parser *p) {
  if (!parse_at(p, TOKEN_IF)) {
    return parse_or(p);
  }
  if (!enter(p)) {
    return poison(p);
  }
  struct expr *e = parse_if(p);
  leave(p);
  return e;
}
