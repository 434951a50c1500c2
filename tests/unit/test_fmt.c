// The canonical form: goldens, and what must hold for every spec that parses.
#include "front/ast.h"
#include "support/golden.h"

#include <criterion/criterion.h>

struct parsed {
  struct sources sources;
  struct diags diags;
  struct module *module;
};

static void parse(struct parsed *x, struct arena *a, struct str text) {
  *x = (struct parsed){.sources = {.arena = a}};
  diags_init(&x->diags, a, &x->sources);
  struct front f = {a, &x->sources, &x->diags};
  x->module = parse_module(&f, source_add(&x->sources, STR("test.opt"), text));
}

static struct str format(struct arena *a, const struct parsed *x) {
  return fmt_module(a, &x->sources, x->module);
}

// fmt(fmt(x)) is fmt(x), and both have the tree of x.
static void check_laws(struct arena *a, const char *name, struct str text) {
  struct parsed x, y;
  parse(&x, a, text);
  if (x.diags.n_errors != 0) {
    return;
  }
  struct str once = format(a, &x);
  parse(&y, a, once);
  cr_expect_eq(y.diags.n_errors, 0, "%s: the formatted text does not parse:\n%.*s", name,
               STR_FMT(once));
  cr_expect(str_eq(ast_print(a, x.module), ast_print(a, y.module)),
            "%s: formatting changed the meaning", name);
  cr_expect(str_eq(format(a, &y), once), "%s: formatting twice differs", name);
}

static void each_file(const char *folder,
                      void (*check)(struct arena *a, const char *path, struct str text)) {
  struct arena *a = arena_new(0);
  struct str *names;
  uint32_t n = golden_list(a, folder, ".opt", &names);
  cr_assert_gt(n, 0, "%s holds no specs", folder);
  for (uint32_t i = 0; i < n; i++) {
    struct str path = str_fmt(a, "%s/%.*s", folder, STR_FMT(names[i])), text;
    cr_assert(golden_read(a, path.p, &text));
    check(a, path.p, text);
  }
  arena_free(a);
}

Test(fmt, is_idempotent_and_keeps_the_tree) {
  each_file("tests/data/fmt", check_laws);
  each_file("tests/data/parse", check_laws);
  each_file("tests/data/errors", check_laws);
}

static void check_golden(struct arena *a, const char *path, struct str text) {
  struct parsed x;
  parse(&x, a, text);
  cr_assert_eq(x.diags.n_errors, 0, "%s does not parse", path);
  struct str golden = str_fmt(a, "%.*s.fmt", (int)(strlen(path) - 4), path);
  struct str trouble = golden_compare(a, golden.p, format(a, &x));
  cr_expect(trouble.n == 0, "%.*s", STR_FMT(trouble));
}

static void check_canonical(struct arena *a, const char *path, struct str text) {
  struct parsed x;
  parse(&x, a, text);
  cr_expect(str_eq(format(a, &x), text), "%s is not formatted", path);
}

Test(fmt, shipped_specs_are_formatted) {
  each_file("specs", check_canonical);
}

Test(fmt, goldens) {
  each_file("tests/data/fmt", check_golden);
}
