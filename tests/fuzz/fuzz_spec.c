// Any bytes as a spec: they are parsed or refused with a message, never more. What parses can be formatted, which
// changes neither its tree nor the formatted text.
#include "front/sema.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

// Imports find the same text again: cycles, and names that meet.
static bool read_again(void *ctx, struct arena *a, struct str path, struct str *text,
                       struct str *why) {
  (void)a;
  (void)why;
  *text = *(const struct str *)ctx;
  return path.n < 32;
}

static void check(bool ok) {
  if (!ok) {
    abort();
  }
}

static void check_format(struct arena *a, struct front *f, const struct module *m) {
  struct str text = fmt_module(a, f->sources, m);
  struct module *again = parse_module(f, source_add(f->sources, STR("again.opt"), text));
  check(f->diags->n_errors == 0);
  check(str_eq(ast_print(a, m), ast_print(a, again)));
  check(str_eq(fmt_module(a, f->sources, again), text));
}

static void run(struct arena *a, struct str text) {
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {a, &sources, &diags};
  struct program *p =
      parse_program(&f, STR("fuzz.opt"), (struct file_reader){read_again, &text});
  check(p != NULL);
  if (diags.n_errors == 0) {
    check_format(a, &f, p->module.v[0]);
    sema_check(&f, p);
  }
  check(diag_render(&diags, DIAG_TEXT, false, a).n > 0 || diags.n_errors == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena *a = arena_new(0);
  run(a, (struct str){(const char *)data, size});
  arena_free(a);
  return 0;
}
