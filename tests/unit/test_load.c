// Files of a program: imports, limits, what cannot be read.
#include "front/ast.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct loaded {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct front front;
  struct program *program;
};

static void load(struct loaded *x, struct str path, struct file_reader reader) {
  struct arena *a = arena_new(0);
  *x = (struct loaded){.arena = a, .sources = {.arena = a}};
  diags_init(&x->diags, a, &x->sources);
  x->front = (struct front){a, &x->sources, &x->diags};
  x->program = parse_program(&x->front, path, reader);
}

static void expect_code(const struct loaded *x, enum diag_code code) {
  cr_assert_gt(x->diags.list.n, 0, "nothing was reported");
  cr_expect_eq(x->diags.list.v[0]->code, code, "%.*s", STR_FMT(x->diags.list.v[0]->text));
}

// ---- from disk

static void load_disk(struct loaded *x, const struct tempdir *d, const char *name) {
  char path[400];
  load(x, str_of(tempdir_join(d, name, path)), file_reader_disk());
}

static void write_text(const struct tempdir *d, const char *name, const char *text) {
  tempdir_write(d, name, text, strlen(text));
}

Test(load, a_file_that_is_missing_or_a_folder) {
  struct tempdir d = tempdir_new();
  struct loaded x;
  load_disk(&x, &d, "none.opt");
  cr_expect_null(x.program);
  expect_code(&x, E0001);
  arena_free(x.arena);
  load_disk(&x, &d, "");
  cr_expect_null(x.program);
  expect_code(&x, E0001);
  arena_free(x.arena);
  tempdir_remove(&d);
}

Test(load, imports_are_beside_the_file_that_names_them) {
  struct tempdir d = tempdir_new();
  struct loaded x;
  write_text(&d, "a.opt",
             "spec 1\nimport \"b.opt\"\nimport \"./x/../b.opt\"\nimport \"c.opt\"\n");
  write_text(&d, "b.opt",
             "spec 1\nimport \"c.opt\"\noptimizer b {\n  param := grad\n}\n");
  write_text(&d, "c.opt",
             "spec 1\niteration c {\n  normalize aol\n  compute f32\n  iter 1, 2\n}\n"
             "recipe r {\n}\n");
  load_disk(&x, &d, "a.opt");
  cr_expect_eq(x.diags.n_errors, 0);
  cr_assert_eq(x.program->module.n, 3); // one text, one module, in order of first import
  cr_expect_eq(x.program->module.v[0]->decl.v[1].import.target, 1);
  cr_expect(str_ends(x.sources.file.v[2].path, "/c.opt"));
  cr_expect_not_null(program_optimizer(x.program, STR("b")));
  cr_expect_not_null(program_iteration(x.program, STR("c")));
  cr_expect_not_null(program_recipe(x.program, STR("r")));
  cr_expect_null(program_optimizer(x.program, STR("c")));
  arena_free(x.arena);
  tempdir_remove(&d);
}

Test(load, a_file_over_16_mib_is_refused) {
  struct tempdir d = tempdir_new();
  struct loaded x;
  size_t n = ((size_t)16 << 20) + 1;
  char *big = calloc(n, 1);
  memset(big, '\n', n);
  tempdir_write(&d, "big.opt", big, n);
  load_disk(&x, &d, "big.opt");
  cr_expect_null(x.program);
  expect_code(&x, E0001);
  arena_free(x.arena);
  free(big);
  load(&x, STR("/dev/zero"), file_reader_disk()); // no end at all
  cr_expect_null(x.program);
  expect_code(&x, E0001);
  arena_free(x.arena);
  tempdir_remove(&d);
}

// ---- from memory

// File "N" imports "N+1", for ever.
static bool read_chain(void *ctx, struct arena *a, struct str path, struct str *text,
                       struct str *why) {
  (void)ctx;
  (void)why;
  *text = str_fmt(a, "spec 1\nimport \"%lu\"\n", strtoul(path.p, NULL, 10) + 1);
  return true;
}

Test(load, a_chain_of_imports_ends) { // E0117
  struct loaded x;
  load(&x, STR("0"), (struct file_reader){.read = read_chain});
  cr_expect_eq(x.program->module.n, 256);
  cr_expect_eq(x.diags.n_errors, 1);
  expect_code(&x, E0117);
  arena_free(x.arena);
}

static bool read_text(void *ctx, struct arena *a, struct str path, struct str *text,
                      struct str *why) {
  (void)a;
  (void)path;
  (void)why;
  *text = *(struct str *)ctx;
  return true;
}

static struct str repeated(struct arena *a, const char *begin, char c, size_t n) {
  struct buf b = buf_new(a);
  buf_puts(&b, begin);
  char *run = arena_alloc(a, n, 1);
  memset(run, c, n);
  buf_put(&b, run, n);
  return buf_done(&b);
}

// A long run of one character: a few messages, and no deep recursion. (10 MB of them: tests/cli/bad_spec.cli.)
Test(load, long_runs_are_refused_with_few_messages) {
  static const char *const begins[] = {"",
                                       "spec 1\n",
                                       "spec 1\noptimizer o {\n  let x = ",
                                       "spec 1\noptimizer o {\n  let x = a",
                                       "spec 1 #",
                                       "spec 1\niteration i {\n  iter "};
  static const char runs[] = "([-{}\n\"1a@,.\r+~:=|";
  for (size_t b = 0; b < sizeof begins / sizeof begins[0]; b++) {
    for (const char *c = runs; *c != '\0'; c++) {
      struct arena *a = arena_new(0);
      struct str text = repeated(a, begins[b], *c, 1 << 17);
      struct loaded x;
      load(&x, STR("run.opt"), (struct file_reader){read_text, &text});
      bool is_fine = b == 4 || (b == 1 && *c == '\n'); // a comment, blank lines
      cr_expect(x.diags.n_errors > 0 || is_fine, "%s and many %c: accepted", begins[b],
                *c);
      cr_expect(x.diags.n_errors <= 8, "%s and many %c: %u errors", begins[b], *c,
                x.diags.n_errors);
      arena_free(x.arena);
      arena_free(a);
    }
  }
}

static bool load_within(size_t limit) {
  struct arena *a = arena_new(limit);
  jmp_buf oom;
  if (setjmp(oom) != 0) {
    arena_free(a);
    return false;
  }
  arena_guard(a, &oom);
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {a, &sources, &diags};
  struct program *p = parse_program(&f, STR("specs/gpt.opt"), file_reader_disk());
  (void)fmt_module(a, &sources, p->module.v[0]);
  (void)diag_render(&diags, DIAG_TEXT, false, a);
  arena_free(a);
  return true;
}

// Wherever memory runs out, the guard is reached; sanitizers see what would be lost. No file stays open:
// the same descriptor is free before and after.
Test(load, running_out_of_memory_leaves_through_the_guard) {
  int before = open("/dev/null", O_RDONLY);
  cr_assert_geq(before, 0);
  (void)close(before);
  size_t limit = 1;
  while (!load_within(limit)) {
    limit += 311;
    cr_assert_lt(limit, (size_t)64 << 20);
  }
  int after = open("/dev/null", O_RDONLY);
  cr_expect_eq(after, before);
  (void)close(after);
}
