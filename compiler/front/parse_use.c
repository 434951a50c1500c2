// One `use` line of a recipe: optimizer, label, arguments, views, keeps, guard.
#include "front/parse.h"

// INT { "," INT }
static void parse_sizes(struct parser *p, struct view *v) {
  VEC(uint64_t) size = {0};
  do {
    VEC_PUSH(p->f->arena, size, parse_int(p, "a size"));
  } while (parse_accept(p, TOKEN_COMMA));
  v->size = size.v;
  v->n_sizes = size.n;
}

// cut = INT { "," INT } | "each" INT | "groups" INT "of" INT { "," INT }
static void parse_cut(struct parser *p, struct view *v) {
  if (parse_accept_word(p, "each")) {
    v->cut = CUT_EACH;
    v->n = parse_int(p, "a size");
  } else if (parse_accept_word(p, "groups")) {
    v->cut = CUT_GROUPS;
    v->n = parse_int(p, "a count");
    (void)parse_expect_word(p, "of");
    parse_sizes(p, v);
  } else if (parse_at(p, TOKEN_NUM)) {
    v->cut = CUT_LIST;
    parse_sizes(p, v);
  } else {
    (void)parse_fail(p, "sizes, `each` or `groups`");
  }
}

// view = "split" ("rows" | "cols") cut | "flatten" INT | "transposed" | "blockwise"
static bool parse_view(struct parser *p, struct view *v) {
  *v = (struct view){.span = p->tok.span};
  if (parse_accept_word(p, "split")) {
    const struct str words[] = {STR("rows"), STR("cols")};
    v->kind = parse_one_of(p, "`rows` or `cols`", words, 2) == 1 ? VIEW_SPLIT_COLS
                                                                 : VIEW_SPLIT_ROWS;
    parse_cut(p, v);
  } else if (parse_accept_word(p, "flatten")) {
    v->kind = VIEW_FLATTEN;
    v->n = parse_int(p, "a dimension");
  } else if (parse_accept_word(p, "transposed")) {
    v->kind = VIEW_TRANSPOSED;
  } else if (parse_accept_word(p, "blockwise")) {
    v->kind = VIEW_BLOCKWISE;
  } else {
    return false;
  }
  v->span = parse_span_from(p, v->span);
  return true;
}

// keep = "master" storage | "store" ID storage [ "round" ID ]
static bool parse_keep(struct parser *p, struct keep *k) {
  *k = (struct keep){.span = p->tok.span};
  if (parse_accept_word(p, "master")) {
    k->kind = KEEP_MASTER;
    k->storage = parse_storage(p);
  } else if (parse_accept_word(p, "store")) {
    k->kind = KEEP_STORE;
    k->state = parse_name(p, "a state", &k->state_span);
    k->storage = parse_storage(p);
    parse_round(p, &k->round, &k->round_span);
  } else {
    return false;
  }
  k->span = parse_span_from(p, k->span);
  return true;
}

// "(" [ ID "=" expr { "," ID "=" expr } ] ")"
static void parse_args(struct parser *p, struct use *u) {
  VEC(struct use_arg) arg = {0};
  if (!parse_at(p, TOKEN_RPAREN)) {
    do {
      struct use_arg a = {0};
      a.name = parse_name(p, "an argument `name = value`", &a.name_span);
      (void)parse_expect(p, TOKEN_ASSIGN);
      a.value = parse_expr(p);
      VEC_PUSH(p->f->arena, arg, a);
    } while (parse_accept(p, TOKEN_COMMA));
  }
  if (!parse_accept(p, TOKEN_RPAREN)) {
    (void)parse_fail(p, "`,` or `)`");
  }
  u->arg = arg.v;
  u->n_args = arg.n;
}

// { view | keep }
static void parse_views_and_keeps(struct parser *p, struct use *u) {
  VEC(struct view) views = {0};
  VEC(struct keep) keeps = {0};
  for (;;) {
    struct view v;
    struct keep k;
    if (parse_view(p, &v)) {
      VEC_PUSH(p->f->arena, views, v);
    } else if (parse_keep(p, &k)) {
      VEC_PUSH(p->f->arena, keeps, k);
    } else {
      break;
    }
  }
  u->view = views.v;
  u->n_views = views.n;
  u->keep = keeps.v;
  u->n_keeps = keeps.n;
}

static void refuse_rest(struct parser *p) {
  const struct str words[] = {STR("split"),     STR("flatten"), STR("transposed"),
                              STR("blockwise"), STR("master"),  STR("store"),
                              STR("when")};
  (void)parse_one_of(p, "a view, a keep, `when` or end of line", words, 7);
}

// use = "use" ID [ "as" ID ] [ "(" [ ID "=" expr { "," ID "=" expr } ] ")" ] { view | keep } [ "when" expr ]
struct use *parse_use(struct parser *p) {
  struct use *u = ARENA_NEW(p->f->arena, struct use);
  u->span = p->tok.span;
  parse_advance(p);
  u->optimizer = parse_name(p, "an optimizer", &u->optimizer_span);
  if (parse_accept_word(p, "as")) {
    u->label = parse_name(p, "a label", &u->label_span);
  }
  if (parse_accept(p, TOKEN_LPAREN)) {
    parse_args(p, u);
  }
  parse_views_and_keeps(p, u);
  if (parse_accept(p, TOKEN_WHEN)) {
    u->when = parse_expr(p);
  } else if (!parse_at_end_of_line(p)) {
    refuse_rest(p);
  }
  u->span = parse_span_from(p, u->span);
  return u;
}
