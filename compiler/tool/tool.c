// Output, messages and exit codes that the subcommands share.
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void out_failed(struct tool *t) {
  if (t->out_errno == 0) {
    t->out_errno = errno != 0 ? errno : EIO;
  }
}

void out_str(struct tool *t, struct str s) {
  errno = 0;
  if (s.n != 0 && fwrite(s.p, 1, s.n, stdout) != s.n) {
    out_failed(t);
  }
}

void out_printf(struct tool *t, const char *fmt, ...) {
  struct buf b = buf_new(t->arena);
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(&b, fmt, ap);
  va_end(ap);
  out_str(t, buf_done(&b));
}

void out_flush(struct tool *t) {
  errno = 0;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    out_failed(t);
  }
}

void say(struct tool *t, const char *fmt, ...) {
  struct buf b = buf_new(t->arena);
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(&b, fmt, ap);
  va_end(ap);
  (void)fprintf(stderr, "stepc: %s\n", buf_done(&b).p);
}

enum exit_code usage_error(struct tool *t, struct str what) {
  say(t, "%.*s", STR_FMT(what));
  say(t, "`stepc %s --help` lists the options", command_info(t->args.command)->name);
  return EXIT_USAGE;
}

enum exit_code internal_error(struct tool *t, struct str what) {
  say(t, "internal error: %.*s", STR_FMT(what));
  say(t, "this is a bug of stepc, not of your input");
  return EXIT_INTERNAL;
}

static bool is_environment(enum diag_code code) {
  return str_starts(str_of(diag_info(code)->code), "E00");
}

enum exit_code report(struct tool *t) {
  const struct diags *d = &t->diags;
  bool machine = t->format == DIAG_JSON || t->format == DIAG_SARIF;
  if (!t->announced && (d->n_errors + d->n_warnings != 0 || machine)) {
    struct str text = diag_render(d, t->format, t->color, t->arena);
    (void)fwrite(text.p, 1, text.n, stderr);
  }
  t->announced = true;
  for (uint32_t i = 0; i < d->list.n; i++) {
    if (d->list.v[i]->severity == SEV_ERROR && is_environment(d->list.v[i]->code)) {
      return EXIT_ENVIRONMENT;
    }
  }
  return d->n_errors != 0 ? EXIT_INPUT : EXIT_OK;
}

bool option_u64(struct tool *t, enum option_id o, uint64_t min, uint64_t max,
                uint64_t *value) {
  const char *text = args_value(&t->args, o);
  if (text == NULL) {
    return true;
  }
  char *end = NULL;
  errno = 0;
  unsigned long long got = strtoull(text, &end, 10);
  bool is_number = *text >= '0' && *text <= '9';
  int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  end += shift != 0;
  if (!is_number || *end != '\0' || errno != 0 || got > UINT64_MAX >> shift ||
      got << shift < min || got << shift > max) {
    (void)usage_error(
        t, str_fmt(t->arena, "--%s takes a number from %llu to %llu, not `%s`",
                   option_info(o)->name, (unsigned long long)min, (unsigned long long)max,
                   str_escape(t->arena, str_of(text)).p));
    return false;
  }
  *value = got << shift;
  return true;
}
