// tests/data/sema: specs bound to the parameters of their first lines, and the typed job as text beside them.
#include "support/example.h"
#include "support/golden.h"
#include "support/job_text.h"

#include <criterion/criterion.h>

#define FOLDER "tests/data/sema/"

static void check_file(struct str name) {
  struct arena *a = arena_new(0);
  struct example x;
  struct str text;
  cr_assert(golden_read(a, str_fmt(a, FOLDER "%.*s", STR_FMT(name)).p, &text));
  example_run(&x, a, name, text, NULL);
  struct str said = diag_render(&x.diags, DIAG_TEXT, false, a);
  cr_expect(said.n == 0, "%.*s: %.*s", STR_FMT(name), STR_FMT(said));
  cr_assert_not_null(x.job, "%.*s has no job", STR_FMT(name));
  const char *golden = str_fmt(a, FOLDER "%.*s.job", (int)(name.n - 4), name.p).p;
  struct str trouble = golden_compare(a, golden, job_text(a, x.job));
  cr_expect(trouble.n == 0, "%.*s", STR_FMT(trouble));
  arena_free(a);
}

Test(sema, jobs_are_as_committed) {
  struct arena *a = arena_new(0);
  struct str *names;
  uint32_t n = golden_list(a, FOLDER, ".opt", &names);
  cr_assert_gt(n, 0);
  for (uint32_t i = 0; i < n; i++) {
    check_file(names[i]);
  }
  arena_free(a);
}
