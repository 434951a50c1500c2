// stepc explain: the long text of a message, with a wrong and a right example.
#include "tool/tool.h"

static void list_all(struct tool *t) {
  for (uint32_t c = 0; c < N_DIAG_CODES; c++) {
    const struct diag_info *info = diag_info((enum diag_code)c);
    out_printf(t, "%s  %-28s %s\n", info->code, info->name, info->text);
  }
}

static void print_example(struct tool *t, const char *title, const char *text) {
  if (text[0] == '\0') {
    return;
  }
  out_printf(t, "\n%s\n\n", title);
  while (*text != '\0') {
    size_t n = 0;
    while (text[n] != '\0' && text[n] != '\n') {
      n++;
    }
    out_printf(t, "%s%.*s\n", n != 0 ? "    " : "", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

static void explain(struct tool *t, enum diag_code code) {
  const struct diag_info *info = diag_info(code);
  const struct explanation *e = diag_explain(code);
  out_printf(t, "%s (%s): %s\n\n%s", info->code, info->name, info->text, e->text);
  print_example(t, "Wrong:", e->wrong);
  print_example(t, "Right:", e->right);
}

enum exit_code cmd_explain(struct tool *t) {
  if (t->args.n_operands == 0) {
    list_all(t);
  }
  for (int i = 0; i < t->args.n_operands; i++) {
    enum diag_code code = 0;
    if (!diag_find(str_of(t->args.operand[i]), &code)) {
      return usage_error(t,
                         str_fmt(t->arena, "no message `%s`; `stepc explain` lists all",
                                 str_escape(t->arena, str_of(t->args.operand[i])).p));
    }
    if (i != 0) {
      out_str(t, STR("\n"));
    }
    explain(t, code);
  }
  return EXIT_OK;
}
