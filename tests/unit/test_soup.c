// Property: any text is parsed or refused with a message. Random token soup, and mutations of real specs.
#include "front/sema.h"
#include "random.h"
#include "support/golden.h"

#include <criterion/criterion.h>

struct read_ctx {
  struct str text;
};

static bool read_text(void *ctx, struct arena *a, struct str path, struct str *text,
                      struct str *why) {
  (void)a;
  (void)path;
  (void)why;
  *text = ((struct read_ctx *)ctx)->text;
  return true;
}

// Refused means at least one message; whatever is accepted keeps its tree when it is formatted.
static void check(struct str text) {
  struct arena *a = arena_new(0);
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {a, &sources, &diags};
  struct read_ctx ctx = {text};
  struct program *p =
      parse_program(&f, STR("soup.opt"), (struct file_reader){read_text, &ctx});
  cr_assert_not_null(p);
  if (diags.n_errors == 0) {
    struct module *m = p->module.v[0];
    struct str once = fmt_module(a, &sources, m);
    struct module *again = parse_module(&f, source_add(&sources, STR("again.opt"), once));
    cr_expect(str_eq(ast_print(a, m), ast_print(a, again)), "formatting changed:\n%.*s",
              STR_FMT(text));
    cr_expect(str_eq(fmt_module(a, &sources, again), once), "formatting twice:\n%.*s",
              STR_FMT(text));
    sema_check(&f, p);
  }
  struct str said = diag_render(&diags, DIAG_TEXT, false, a);
  cr_expect(said.n > 0 || diags.n_errors == 0, "refused without a message:\n%.*s",
            STR_FMT(text));
  arena_free(a);
}

static const char *const soup[] = {
    "spec 1\n",
    "optimizer o {\n",
    "iteration i {\n",
    "recipe r {\n",
    "}\n",
    "\n",
    "hyper ",
    "static ",
    "state ",
    "input ",
    "require ",
    "let ",
    "x ",
    "y ",
    ": ",
    "f32 ",
    "bool ",
    "= ",
    ":= ",
    "1 ",
    "0.5 ",
    "1e-8 ",
    "( ",
    ") ",
    "[ ",
    "] ",
    ", ",
    "+ ",
    "- ",
    "* ",
    "/ ",
    "< ",
    "== ",
    "~ ",
    "| ",
    "\"s\" ",
    "if ",
    "then ",
    "else ",
    "and ",
    "or ",
    "not ",
    "in ",
    "when ",
    "per ",
    "row ",
    "like ",
    "param ",
    "grad ",
    "mean(",
    "max(",
    "true ",
    "inf ",
    "init ",
    "round ",
    "stochastic ",
    "as ",
    "use ",
    "clip ",
    "skip ",
    "nonfinite",
    "normalize ",
    "frobenius ",
    "eps ",
    "compute ",
    "iter ",
    "repeat ",
    "steps ",
    "tail ",
    "cycle ",
    "form ",
    "gram ",
    "split ",
    "rows ",
    "each ",
    "master ",
    "store ",
    "# c\n",
    "import ",
    "\r\n",
    "@",
    "\"",
};

Test(soup, random_tokens) {
  uint64_t seed = 1;
  for (int round = 0; round < 3000; round++) {
    struct arena *a = arena_new(0);
    struct buf b = buf_new(a);
    buf_puts(&b, "spec 1\n");
    uint64_t n = 1 + random_below(&seed, 60);
    for (uint64_t i = 0; i < n; i++) {
      buf_puts(&b, soup[random_below(&seed, sizeof soup / sizeof soup[0])]);
    }
    check(buf_done(&b));
    arena_free(a);
  }
}

// Cuts a range out, doubles it, or puts a byte or a token in: at most 4 times.
static struct str mutate(struct arena *a, struct str s, uint64_t *seed) {
  for (uint64_t left = 1 + random_below(seed, 4); left > 0; left--) {
    size_t begin = random_below(seed, s.n + 1);
    size_t end = begin + random_below(seed, 12);
    end = end < s.n ? end : s.n;
    struct buf b = buf_new(a);
    buf_put(&b, s.p, begin);
    switch (random_below(seed, 4)) {
    case 0: break;
    case 1:
      buf_put(&b, s.p + begin, end - begin);
      end = begin;
      break;
    case 2:
      buf_char(&b, (char)random_below(seed, 256));
      end = begin;
      break;
    default:
      buf_puts(&b, soup[random_below(seed, sizeof soup / sizeof soup[0])]);
      end = begin;
      break;
    }
    buf_put(&b, s.p + end, s.n - end);
    s = buf_done(&b);
  }
  return s;
}

static void mutate_folder(const char *folder, int rounds) {
  struct arena *a = arena_new(0);
  struct str *names;
  uint32_t n = golden_list(a, folder, ".opt", &names);
  cr_assert_gt(n, 0, "%s holds no specs", folder);
  uint64_t seed = 2;
  for (uint32_t i = 0; i < n; i++) {
    struct str text;
    cr_assert(golden_read(a, str_fmt(a, "%s/%.*s", folder, STR_FMT(names[i])).p, &text));
    for (int round = 0; round < rounds; round++) {
      struct arena *scratch = arena_new(0);
      check(mutate(scratch, text, &seed));
      arena_free(scratch);
    }
  }
  arena_free(a);
}

Test(soup, mutated_specs) {
  mutate_folder("specs", 200);
  mutate_folder("tests/data/parse", 200);
}
