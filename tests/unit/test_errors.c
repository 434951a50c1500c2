// tests/data/errors: one mistake a file, and the exact text of its messages.
//
//   CODE_name.opt   a spec (directives: support/example.h); CODE_name.json beside it is a model to bind to
//   CODE_name.json  without a spec: a model that is refused
//   CODE_name.ir    IR text
//   elsewhere.txt   lines `CODE path`: codes of what no file here can hold, and the test source that shows them
// Goldens are CODE_name.stderr; UPDATE_GOLDEN=1 rewrites them.
#include "support/example.h"
#include "support/golden.h"

#include <criterion/criterion.h>

#define FOLDER "tests/data/errors/"

static struct str swap_suffix(struct arena *a, struct str name, size_t cut,
                              const char *suffix) {
  return str_fmt(a, FOLDER "%.*s%s", (int)(name.n - cut), name.p, suffix);
}

// The code that the file's name begins with is among those reported.
static bool reports_own_code(const struct example *x, struct str name) {
  for (uint32_t i = 0; i < x->diags.list.n; i++) {
    if (str_starts(name, diag_info(x->diags.list.v[i]->code)->code)) {
      return true;
    }
  }
  return false;
}

// `suffix`: bytes of the name's suffix, with its dot
static void check_file(struct str name, size_t suffix) {
  struct arena *a = arena_new(0);
  struct example x;
  struct str text, model;
  cr_assert(golden_read(a, swap_suffix(a, name, 0, "").p, &text));
  const char *model_path = swap_suffix(a, name, suffix, ".json").p;
  bool has_model = golden_read(a, model_path, &model);
  example_run(&x, a, name, text, has_model ? model_path : NULL);
  cr_expect(reports_own_code(&x, name), "%.*s does not give its code", STR_FMT(name));
  struct str said = diag_render(&x.diags, DIAG_TEXT, false, a);
  struct str trouble = golden_compare(a, swap_suffix(a, name, suffix, ".stderr").p, said);
  cr_expect(trouble.n == 0, "%.*s", STR_FMT(trouble));
  arena_free(a);
}

static bool is_beside_a_spec(struct arena *a, struct str model) {
  struct str text;
  return golden_read(a, swap_suffix(a, model, 5, ".opt").p, &text);
}

Test(errors, messages_are_as_committed) {
  struct arena *a = arena_new(0);
  struct str *names;
  uint32_t n_specs = golden_list(a, FOLDER, ".opt", &names);
  cr_assert_gt(n_specs, 0);
  for (uint32_t i = 0; i < n_specs; i++) {
    check_file(names[i], 4);
  }
  uint32_t n_irs = golden_list(a, FOLDER, ".ir", &names);
  for (uint32_t i = 0; i < n_irs; i++) {
    check_file(names[i], 3);
  }
  uint32_t n_models = golden_list(a, FOLDER, ".json", &names);
  for (uint32_t i = 0; i < n_models; i++) {
    if (!is_beside_a_spec(a, names[i])) {
      check_file(names[i], 5);
    }
  }
  arena_free(a);
}

// `elsewhere.txt` names, for a code, a source that must mention it.
static bool is_shown_elsewhere(struct arena *a, struct str code) {
  struct str list;
  if (!golden_read(a, FOLDER "elsewhere.txt", &list)) {
    return false;
  }
  for (size_t i = 0; i + code.n < list.n; i++) {
    bool at_line = i == 0 || list.p[i - 1] == '\n';
    if (at_line && str_eq((struct str){list.p + i, code.n}, code) &&
        list.p[i + code.n] == ' ') {
      size_t begin = i + code.n + 1, end = begin;
      while (end < list.n && list.p[end] != '\n') {
        end++;
      }
      struct str source;
      struct str path = {list.p + begin, end - begin};
      return golden_read(a, str_cstr(a, path), &source) &&
             strstr(str_cstr(a, source), str_cstr(a, code)) != NULL;
    }
  }
  return false;
}

Test(errors, every_code_has_a_file) {
  struct arena *a = arena_new(0);
  struct str *names;
  struct buf missing = buf_new(a);
  uint32_t n = golden_list(a, FOLDER, ".stderr", &names);
  for (uint32_t c = 0; c < N_DIAG_CODES; c++) {
    const char *code = diag_info((enum diag_code)c)->code;
    bool found = is_shown_elsewhere(a, str_of(code));
    for (uint32_t i = 0; i < n; i++) {
      found = found || str_starts(names[i], code);
    }
    if (!found) {
      buf_printf(&missing, " %s", code);
    }
  }
  cr_expect_eq(missing.n, 0, "no file in " FOLDER ":%s", missing.p);
  arena_free(a);
}
