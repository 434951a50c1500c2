// Every message is explained, and its examples do what they say.
#include "support/example.h"

#include <criterion/criterion.h>

static const struct explanation *row(uint32_t code) {
  return diag_explain((enum diag_code)code);
}
static const char *name(uint32_t code) {
  return diag_info((enum diag_code)code)->code;
}

Test(explain, every_code_has_a_text_and_two_examples) {
  struct arena *a = arena_new(0);
  struct buf missing = buf_new(a);
  for (uint32_t c = 0; c < N_DIAG_CODES; c++) {
    if (row(c)->text == NULL || row(c)->wrong == NULL || row(c)->right == NULL) {
      buf_printf(&missing, " %s", name(c));
    }
  }
  cr_expect_eq(missing.n, 0, "not explained:%s", missing.p);
  arena_free(a);
}

// Runs an example; "" or what was reported.
static struct str report(struct arena *a, struct example *x, const char *text) {
  example_run(x, a, STR("example.opt"), str_of(text), NULL);
  return diag_render(&x->diags, DIAG_TEXT, false, a);
}

static bool is_run(const char *text) {
  return text != NULL && example_kind(str_of(text)) != EXAMPLE_COMMAND;
}

Test(explain, wrong_examples_give_exactly_their_code) {
  for (uint32_t c = 0; c < N_DIAG_CODES; c++) {
    if (is_run(row(c)->wrong)) {
      struct arena *a = arena_new(0);
      struct example x;
      struct str said = report(a, &x, row(c)->wrong);
      cr_expect(example_gives_only(&x, (enum diag_code)c),
                "%s: wrong example gives:\n%.*s", name(c), STR_FMT(said));
      arena_free(a);
    }
  }
}

Test(explain, right_examples_give_nothing) {
  for (uint32_t c = 0; c < N_DIAG_CODES; c++) {
    if (is_run(row(c)->right)) {
      struct arena *a = arena_new(0);
      struct example x;
      struct str said = report(a, &x, row(c)->right);
      cr_expect(said.n == 0, "%s: right example gives:\n%.*s", name(c), STR_FMT(said));
      arena_free(a);
    }
  }
}
