// stepc fmt: canonical form, in place or (with `-`) from standard input to standard output.
#include "tool/file.h"
#include "tool/tool.h"

static void environment_error(struct tool *t, const char *what, struct str path,
                              struct str why) {
  say(t, "cannot %s `%s`: %.*s", what, str_escape(t->arena, path).p, STR_FMT(why));
}

// The canonical text, or false when the file could not be read or parsed.
static enum exit_code canonical(struct tool *t, struct str path, struct str *old,
                                struct str *canon) {
  struct str why;
  struct file_reader disk = file_reader_disk();
  bool ok = str_is(path, "-") ? file_read_stdin(t->arena, old, &why)
                              : disk.read(disk.ctx, t->arena, path, old, &why);
  if (!ok) {
    environment_error(t, "read", path, why);
    return EXIT_ENVIRONMENT;
  }
  uint32_t errors_before = t->diags.n_errors;
  struct str shown = str_is(path, "-") ? STR("<stdin>") : path;
  uint32_t file = source_add(&t->sources, shown, *old);
  const struct module *m = parse_module(&t->front, file);
  if (m == NULL || t->diags.n_errors != errors_before) {
    return EXIT_INPUT;
  }
  *canon = fmt_module(t->arena, &t->sources, m);
  return EXIT_OK;
}

static enum exit_code format_one(struct tool *t, struct str path, bool check) {
  struct str old, canon, why;
  enum exit_code code = canonical(t, path, &old, &canon);
  if (code != EXIT_OK) {
    return code;
  }
  bool same = str_eq(old, canon);
  if (check) {
    if (!same) {
      out_printf(t, "%s\n", str_escape(t->arena, path).p);
    }
    return same ? EXIT_OK : EXIT_INPUT;
  }
  if (str_is(path, "-")) {
    out_str(t, canon);
  } else if (!same && !file_replace(t->arena, path, canon, &why)) {
    environment_error(t, "write", path, why);
    return EXIT_ENVIRONMENT;
  }
  return EXIT_OK;
}

enum exit_code cmd_fmt(struct tool *t) {
  enum exit_code worst = EXIT_OK;
  for (int i = 0; i < t->args.n_operands; i++) {
    struct str path = str_copy(t->arena, str_of(t->args.operand[i]));
    enum exit_code code = format_one(t, path, args_has(&t->args, OPT_FMT_CHECK));
    worst = code > worst ? code : worst;
  }
  enum exit_code diagnosed = report(t);
  return diagnosed > worst ? diagnosed : worst;
}
