// Expressions over brace indices, by recursive descent. 64-bit integers, every operation checked.
#include "front/model_int.h"

enum { MAX_DEPTH = 32 };

struct eval {
  struct arena *arena;
  struct str text;
  size_t at;
  uint32_t depth;
  const uint64_t *var;
  uint32_t n_vars;
  struct str why; // empty while nothing is wrong
};

static int64_t fail(struct eval *e, struct str why) {
  if (e->why.n == 0) {
    e->why = why;
  }
  return 0;
}

static char peek(struct eval *e) {
  while (e->at < e->text.n && e->text.p[e->at] == ' ') {
    e->at++;
  }
  if (e->at == e->text.n) {
    return '\0';
  }
  return e->text.p[e->at];
}

static int64_t eval_number(struct eval *e) {
  int64_t x = 0;
  while (e->at < e->text.n && e->text.p[e->at] >= '0' && e->text.p[e->at] <= '9') {
    if (__builtin_mul_overflow(x, 10, &x) ||
        __builtin_add_overflow(x, e->text.p[e->at] - '0', &x)) {
      return fail(e, STR("a number is too large"));
    }
    e->at++;
  }
  return x;
}

static int64_t eval_sum(struct eval *e);

// prim = INT | "i" | "j" | "k" | "(" sum ")"
static int64_t eval_prim(struct eval *e) {
  char c = peek(e);
  if (c >= '0' && c <= '9') {
    return eval_number(e);
  }
  if (c >= 'i' && c <= 'k') {
    uint32_t v = (uint32_t)(c - 'i');
    e->at++;
    return v < e->n_vars
               ? (int64_t)e->var[v]
               : fail(e, str_fmt(e->arena, "`%c` needs %u braces in the name", c, v + 1));
  }
  if (c == '(' && e->depth < MAX_DEPTH) {
    e->at++;
    e->depth++;
    int64_t x = eval_sum(e);
    e->depth--;
    if (peek(e) != ')') {
      return fail(e, STR("a parenthesis is not closed"));
    }
    e->at++;
    return x;
  }
  return fail(e, e->at == e->text.n ? STR("it ends too early")
                                    : str_fmt(e->arena,
                                              "expected a number, i, j, k or `(` at "
                                              "character %zu",
                                              e->at + 1));
}

static int64_t divide(struct eval *e, char op, int64_t a, int64_t b) {
  if (b <= 0 || a < 0) {
    return fail(e,
                b == 0 ? STR("division by zero") : STR("division of negative numbers"));
  }
  return op == '/' ? a / b : a % b;
}

// prod = prim { ("*" | "/" | "%") prim }
static int64_t eval_prod(struct eval *e) {
  int64_t x = eval_prim(e);
  for (char op = peek(e); e->why.n == 0 && (op == '*' || op == '/' || op == '%');
       op = peek(e)) {
    e->at++;
    int64_t y = eval_prim(e);
    if (op != '*') {
      x = divide(e, op, x, y);
    } else if (__builtin_mul_overflow(x, y, &x)) {
      return fail(e, STR("the result is too large"));
    }
  }
  return x;
}

// sum = prod { ("+" | "-") prod }
static int64_t eval_sum(struct eval *e) {
  int64_t x = eval_prod(e);
  for (char op = peek(e); e->why.n == 0 && (op == '+' || op == '-'); op = peek(e)) {
    e->at++;
    int64_t y = eval_prod(e);
    if (op == '+' ? __builtin_add_overflow(x, y, &x) : __builtin_sub_overflow(x, y, &x)) {
      return fail(e, STR("the result is too large"));
    }
  }
  return x;
}

bool model_eval(struct arena *a, struct str text, const uint64_t *var, uint32_t n_vars,
                uint64_t *out, struct str *why) {
  struct eval e = {.arena = a, .text = text, .var = var, .n_vars = n_vars};
  int64_t x = eval_sum(&e);
  if (e.why.n == 0 && peek(&e) != '\0') {
    (void)fail(&e, str_fmt(a, "unexpected text at character %zu", e.at + 1));
  }
  if (e.why.n == 0 && (x < 0 || x > (int64_t)1 << 53)) {
    (void)fail(&e,
               x < 0 ? STR("the result is negative") : STR("the result is too large"));
  }
  *why = e.why;
  *out = (uint64_t)x;
  return e.why.n == 0;
}
