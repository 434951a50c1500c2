// Iterations: coefficient schedules as data.
#include "front/parse.h"

#include <math.h>

// What is gathered while the lines of one iteration are read.
struct lines {
  struct iteration *it;
  VEC(struct iter_line) iter;
  VEC(struct iteration_line) line;
};

// normalize = "normalize" ("frobenius" | "aol") [ "safety" num ] [ ("eps" | "floor") num ] [ "in" ID ]
static void parse_normalize(struct parser *p, struct lines *l) {
  struct iteration *it = l->it;
  const struct str norms[] = {STR("frobenius"), STR("aol")};
  if (parse_one_of(p, "`frobenius` or `aol`", norms, 2) == 1) {
    it->norm = NORM_AOL;
  }
  if (parse_accept_word(p, "safety")) {
    it->has_safety = true;
    it->safety = parse_num(p);
  }
  if (parse_accept_word(p, "eps")) {
    it->has_eps = true;
    it->eps = parse_num(p);
  } else if (parse_accept_word(p, "floor")) {
    it->has_floor = true;
    it->floor = parse_num(p);
  }
  if (parse_accept(p, TOKEN_IN)) {
    it->norm_in = parse_name(p, "`f32`", &it->norm_in_span);
  }
}

// "compute" ID
static void parse_compute(struct parser *p, struct lines *l) {
  struct iteration *it = l->it;
  struct str name = parse_name(p, "`f32`, `bf16` or `f16`", &it->compute_span);
  if (!p->failed && (!storage_find(name, &it->compute) || it->compute > ST_F16)) {
    DIAG(p->f->diags, it->compute_span, E0405, name);
  }
}

// form = "form" ("standard" | "gram" [ "restart" INT { "," INT } ] | "auto")
static void parse_form(struct parser *p, struct lines *l) {
  static const enum iteration_form forms[] = {FORM_STANDARD, FORM_GRAM, FORM_AUTO};
  const struct str words[] = {STR("standard"), STR("gram"), STR("auto")};
  uint32_t i = parse_one_of(p, "`standard`, `gram` or `auto`", words, 3);
  if (i == UINT32_MAX) {
    return;
  }
  l->it->form = forms[i];
  if (l->it->form == FORM_GRAM && parse_accept_word(p, "restart")) {
    VEC(uint64_t) restart = {0};
    do {
      VEC_PUSH(p->f->arena, restart, parse_int(p, "an integer"));
    } while (parse_accept(p, TOKEN_COMMA));
    l->it->restart = restart.v;
    l->it->n_restarts = restart.n;
  }
}

// "steps" INT
static void parse_steps(struct parser *p, struct lines *l) {
  l->it->has_steps = true;
  l->it->steps = parse_int(p, "an integer");
}

// "tail" ("stop" | "cycle" | "repeat")
static void parse_tail(struct parser *p, struct lines *l) {
  static const enum iteration_tail tails[] = {TAIL_STOP, TAIL_CYCLE, TAIL_REPEAT};
  const struct str words[] = {STR("stop"), STR("cycle"), STR("repeat")};
  uint32_t i = parse_one_of(p, "`stop`, `cycle` or `repeat`", words, 3);
  if (i != UINT32_MAX) {
    l->it->tail = tails[i];
  }
}

// iter = "iter" num "," num [ "," num ] [ "repeat" INT ]
static void parse_iter(struct parser *p, struct lines *l) {
  struct iter_line line = {.repeat = 1, .span = p->last};
  line.a = parse_num(p);
  (void)parse_expect(p, TOKEN_COMMA);
  line.b = parse_num(p);
  if (parse_accept(p, TOKEN_COMMA)) {
    line.c = parse_num(p);
    line.has_c = true;
  }
  if (parse_accept_word(p, "repeat")) {
    line.repeat = parse_int(p, "an integer");
  }
  line.span = parse_span_from(p, line.span);
  if (!p->failed) {
    VEC_PUSH(p->f->arena, l->iter, line);
  }
}

static const struct {
  const char *word;
  void (*parse)(struct parser *p, struct lines *l);
} rules[] = {{"normalize", parse_normalize}, {"compute", parse_compute},
             {"form", parse_form},           {"steps", parse_steps},
             {"tail", parse_tail},           {"iter", parse_iter}};
enum { N_RULES = sizeof rules / sizeof rules[0] };

// normalize | compute | form | steps | tail | iter
static void parse_line(struct parser *p, void *ctx) {
  struct lines *l = ctx;
  struct span begin = p->tok.span;
  struct str words[N_RULES];
  for (uint32_t i = 0; i < N_RULES; i++) {
    words[i] = str_of(rules[i].word);
  }
  uint32_t i = parse_one_of(
      p, "`normalize`, `compute`, `form`, `steps`, `tail` or `iter`", words, N_RULES);
  if (i == UINT32_MAX) {
    l->it->is_poison = true;
    return;
  }
  rules[i].parse(p, l);
  struct iteration_line line = {words[i], parse_span_from(p, begin)};
  VEC_PUSH(p->f->arena, l->line, line);
  l->it->is_poison = l->it->is_poison || p->failed;
}

// iteration = "iteration" ID "{" nl { normalize nl | "compute" ID nl | form nl | "steps" INT nl
//             | "tail" ("stop" | "cycle" | "repeat") nl | iter nl } "}" nl
struct iteration *parse_iteration(struct parser *p) {
  struct iteration *it = ARENA_NEW(p->f->arena, struct iteration);
  *it = (struct iteration){.span = p->tok.span, .safety = 1.0};
  parse_advance(p);
  it->name = parse_name(p, "a name", &it->name_span);
  it->is_poison = p->failed;
  struct lines l = {.it = it};
  parse_block(p, parse_line, &l);
  it->span = parse_span_from(p, it->span);
  it->iter = l.iter.v;
  it->n_iters = l.iter.n;
  it->line = l.line.v;
  it->n_lines = l.line.n;
  parse_check_iteration(p, it);
  return it;
}
