// Optimizers and their statements.
#include "front/parse.h"

static struct stmt *new_stmt(struct parser *p, enum stmt_kind kind) {
  struct stmt *s = ARENA_NEW(p->f->arena, struct stmt);
  s->kind = kind;
  s->span = p->tok.span;
  return s;
}

// [ "when" expr ]
static void parse_when(struct parser *p, struct stmt *s) {
  if (parse_accept(p, TOKEN_WHEN)) {
    s->when = parse_expr(p);
  }
}

// [ "as" STR ]
static void parse_as(struct parser *p, struct stmt *s) {
  if (parse_accept_word(p, "as")) {
    s->as = parse_filled_string(p, "a string: the name that torch users know");
  }
}

// [ shape ]    shape = "like" "param" | "per" ("row" | "col" | "matrix" | "param" | "group")
static void parse_shape(struct parser *p, struct stmt *s) {
  if (parse_accept_word(p, "like")) {
    (void)parse_expect_word(p, "param");
    s->shape = CLS_ELEM;
    s->has_shape = true;
  } else if (parse_accept(p, TOKEN_PER)) {
    s->has_shape = parse_class(p, &s->shape);
  }
}

// hyper = "hyper" ID [ "as" STR ] ":" ID "=" expr [ "in" range ]
struct stmt *parse_hyper(struct parser *p) {
  struct stmt *s = new_stmt(p, STMT_HYPER);
  parse_advance(p);
  s->name = parse_name(p, "a name", &s->name_span);
  parse_as(p, s);
  (void)parse_expect(p, TOKEN_COLON);
  s->type = parse_plain_type(p);
  (void)parse_expect(p, TOKEN_ASSIGN);
  s->value = parse_expr(p);
  if (parse_accept(p, TOKEN_IN)) {
    s->range = parse_range(p);
  }
  return s;
}

// "static" ID ":" type "=" expr
static struct stmt *parse_static(struct parser *p) {
  struct stmt *s = new_stmt(p, STMT_STATIC);
  parse_advance(p);
  s->name = parse_name(p, "a name", &s->name_span);
  (void)parse_expect(p, TOKEN_COLON);
  s->type = parse_type(p);
  (void)parse_expect(p, TOKEN_ASSIGN);
  s->value = parse_expr(p);
  return s;
}

// "state" ID [ "as" STR ] ":" storage [ shape ] [ "init" expr ] [ "round" ID ] [ "when" expr ]
static struct stmt *parse_state(struct parser *p) {
  struct stmt *s = new_stmt(p, STMT_STATE);
  parse_advance(p);
  s->name = parse_name(p, "a name", &s->name_span);
  parse_as(p, s);
  (void)parse_expect(p, TOKEN_COLON);
  s->storage = parse_storage(p);
  parse_shape(p, s);
  if (parse_accept_word(p, "init")) {
    s->value = parse_expr(p);
  }
  parse_round(p, &s->round, &s->round_span);
  parse_when(p, s);
  return s;
}

// "input" ID ":" ID [ shape ]
static struct stmt *parse_input(struct parser *p) {
  struct stmt *s = new_stmt(p, STMT_INPUT);
  parse_advance(p);
  s->name = parse_name(p, "a name", &s->name_span);
  (void)parse_expect(p, TOKEN_COLON);
  s->type = parse_plain_type(p);
  parse_shape(p, s);
  return s;
}

// "require" expr
static struct stmt *parse_require(struct parser *p) {
  struct stmt *s = new_stmt(p, STMT_REQUIRE);
  parse_advance(p);
  s->value = parse_expr(p);
  return s;
}

// "let" ID "=" expr
static struct stmt *parse_let(struct parser *p) {
  struct stmt *s = new_stmt(p, STMT_LET);
  parse_advance(p);
  s->name = parse_name(p, "a name", &s->name_span);
  if (parse_at(p, TOKEN_UPDATE)) {
    diag_help(p->f->diags, parse_fail(p, "`=`"),
              STR("`let` binds once, with `=`; `:=` updates a state"));
  }
  (void)parse_expect(p, TOKEN_ASSIGN);
  s->value = parse_expr(p);
  return s;
}

// ID ":=" expr [ "round" ID ] [ "when" expr ]
static struct stmt *parse_update(struct parser *p) {
  struct stmt *s = new_stmt(p, STMT_UPDATE);
  s->name = parse_name(p, "a name", &s->name_span);
  (void)parse_expect(p, TOKEN_UPDATE);
  s->value = parse_expr(p);
  parse_round(p, &s->round, &s->round_span);
  parse_when(p, s);
  return s;
}

// The operator of an assignment as other languages have it, or NULL: "", "+", "-", "*" or "/" before a `=`.
static const char *assigning_operator(const struct parser *p) {
  static const char *const all[][2] = {
      {"=", ""}, {"+=", "+"}, {"-=", "-"}, {"*=", "*"}, {"/=", "/"}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (parse_at(p, TOKEN_ID) && lexer_follows(&p->lx, all[i][0])) {
      return all[i][1];
    }
  }
  return NULL;
}

// Neither a statement word nor an update: say which of the two was meant.
static void refuse_stmt(struct parser *p) {
  const struct str words[] = {STR("hyper"), STR("static"),  STR("state"),
                              STR("input"), STR("require"), STR("let")};
  const char *op = assigning_operator(p);
  if (op == NULL) {
    parse_refuse_line(p, "a statement", words, 6);
    return;
  }
  struct arena *a = p->f->arena;
  struct str name = p->tok.text;
  parse_advance(p);
  struct str help = op[0] != '\0' ? str_fmt(a, "write `%.*s := %.*s %s ...`",
                                            STR_FMT(name), STR_FMT(name), op)
                    : str_is(name, "param")
                        ? STR("write `param := ...`")
                        : str_fmt(a, "write `let %.*s = ...` for a local", STR_FMT(name));
  diag_help(p->f->diags, parse_fail(p, "`:=` (state update)"), help);
}

struct body {
  VEC(struct stmt *) stmt;
};

// stmt = hyper | static | state | input | require | let | update
static void parse_stmt(struct parser *p, void *ctx) {
  static const struct {
    const char *word;
    struct stmt *(*parse)(struct parser *p);
  } rules[] = {{"hyper", parse_hyper},
               {"static", parse_static},
               {"state", parse_state},
               {"input", parse_input},
               {"require", parse_require}};
  struct body *body = ctx;
  struct stmt *s = NULL;
  if (parse_at(p, TOKEN_LET)) {
    s = parse_let(p);
  } else if (parse_at(p, TOKEN_ID) && lexer_follows(&p->lx, ":=")) {
    s = parse_update(p);
  }
  for (size_t i = 0; s == NULL && i < sizeof rules / sizeof rules[0]; i++) {
    if (parse_at_word(p, rules[i].word)) {
      s = rules[i].parse(p);
    }
  }
  if (s == NULL) {
    refuse_stmt(p);
    return;
  }
  s->span = parse_span_from(p, s->span);
  VEC_PUSH(p->f->arena, body->stmt, s);
}

// optimizer = "optimizer" ID "{" nl { stmt nl } "}" nl
struct optimizer *parse_optimizer(struct parser *p) {
  struct optimizer *o = ARENA_NEW(p->f->arena, struct optimizer);
  o->span = p->tok.span;
  parse_advance(p);
  o->name = parse_name(p, "a name", &o->name_span);
  struct body body = {0};
  parse_block(p, parse_stmt, &body);
  o->stmt = body.stmt.v;
  o->n_stmts = body.stmt.n;
  o->span = parse_span_from(p, o->span);
  return o;
}
