// Syntax trees: goldens over tests/data/parse, and expressions back to text.
#include "front/ast.h"
#include "support/golden.h"

#include <criterion/criterion.h>

struct parsed {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct module *module;
};

static void parse(struct parsed *x, struct str text) {
  struct arena *a = arena_new(0);
  *x = (struct parsed){.arena = a, .sources = {.arena = a}};
  diags_init(&x->diags, a, &x->sources);
  struct front f = {a, &x->sources, &x->diags};
  x->module = parse_module(&f, source_add(&x->sources, STR("test.opt"), text));
}

Test(parse, trees_are_as_committed) {
  struct arena *a = arena_new(0);
  struct str *names;
  uint32_t n = golden_list(a, "tests/data/parse", ".opt", &names);
  cr_assert_gt(n, 0);
  for (uint32_t i = 0; i < n; i++) {
    struct str path = str_fmt(a, "tests/data/parse/%.*s", STR_FMT(names[i])), text;
    cr_assert(golden_read(a, path.p, &text));
    struct parsed x;
    parse(&x, text);
    struct str said = diag_render(&x.diags, DIAG_TEXT, false, a);
    cr_expect(said.n == 0, "%s:\n%.*s", path.p, STR_FMT(said));
    struct str golden = str_fmt(a, "%.*s.ast", (int)path.n - 4, path.p);
    struct str trouble = golden_compare(a, golden.p, ast_print(a, x.module));
    cr_expect(trouble.n == 0, "%.*s", STR_FMT(trouble));
    arena_free(x.arena);
  }
  arena_free(a);
}

static struct expr *only_value(const struct parsed *x) {
  cr_assert_eq(x->diags.n_errors, 0);
  return x->module->decl.v[0].optimizer->stmt[0]->value;
}

static void check_text(const char *source, const char *expected) {
  struct parsed x, y;
  parse(&x, STR(""));
  struct str spec = str_fmt(x.arena, "spec 1\noptimizer o {\n  let x = %s\n}\n", source);
  parse(&y, spec);
  struct str text = expr_text(x.arena, only_value(&y));
  cr_expect(str_is(text, expected), "%s: %.*s", source, STR_FMT(text));
  arena_free(x.arena);
  arena_free(y.arena);
}

Test(parse, expressions_print_with_the_fewest_parentheses) {
  check_text("((a))", "a");
  check_text("(a + b) + c", "a + b + c");
  check_text("a + (b + c)", "a + (b + c)");
  check_text("a - (b * c)", "a - b * c");
  check_text("(a - b) * c", "(a - b) * c");
  check_text("-(a * b)", "-(a * b)");
  check_text("(-a) * b", "-a * b");
  check_text("not (a and b)", "not (a and b)");
  check_text("(not a) and (b or c)", "not a and (b or c)");
  check_text("(a < b) == c", "(a < b) == c");
  check_text("1 + (if a then b else c)", "1 + (if a then b else c)");
  check_text("if a then (if b then 1 else 2) else f(x, per row)",
             "if a then if b then 1 else 2 else f(x, per row)");
  check_text("name ~ \"*w*\"", "name ~ \"*w*\"");
  check_text("1e-08 / inf", "1e-08 / inf");
}

// One message at each of several mistakes, and none that follows from another.
Test(parse, independent_mistakes_each_get_one_message) {
  struct parsed x;
  parse(&x, STR("spec 1\n"
                "import 5\n"
                "optimizer o {\n"
                "  hyper lr : f32 = \n"
                "  let d = (grad * \n"
                "  state m : f32 per rwo\n"
                "  m := @ + 1\n"
                "  d = 4\n"
                "  param := param - lr * d\n"
                "}\n"
                "recipe r {\n"
                "  use o(lr 3)\n"
                "  use\n"
                "}\n"));
  cr_expect_eq(x.diags.n_errors, 8);
  static const uint32_t lines[] = {2, 4, 5, 6, 7, 8, 12, 13};
  for (uint32_t i = 0; i < x.diags.list.n && i < 8; i++) {
    uint32_t line, col;
    source_locate(&x.sources.file.v[0], x.diags.list.v[i]->span.begin, &line, &col);
    cr_expect_eq(line, lines[i], "message %u is at line %u: %.*s", i, line,
                 STR_FMT(x.diags.list.v[i]->text));
  }
  cr_expect_eq(x.module->decl.n, 3);
  arena_free(x.arena);
}
