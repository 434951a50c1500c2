// The tool: the only place that exits.
#include "core/env.h"
#include "tool/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef enum exit_code (*command_fn)(struct tool *t);
static const command_fn command_fns[N_COMMANDS] = {
    cmd_check, cmd_fmt,    cmd_emit,    cmd_plan,   cmd_show,  cmd_run,
    cmd_bench, cmd_verify, cmd_explain, cmd_doctor, cmd_probe, cmd_version};

// A closed standard descriptor would be given to the next file opened, and then printed into.
static void hold_standard_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
      (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
  }
}

static bool wants_color(const struct args *args) {
  const char *when = args_value(args, OPT_COLOR);
  if (when == NULL || strcmp(when, "auto") == 0) {
    return isatty(2) == 1 && rt_env(RT_ENV_NO_COLOR) == NULL;
  }
  return strcmp(when, "always") == 0;
}

static enum exit_code apply_warning(struct tool *t, const char *value) {
  enum diag_code code = 0;
  if (strcmp(value, "error") == 0) {
    t->diags.warnings_are_errors = true;
  } else if (str_starts(str_of(value), "no-") && diag_find(str_of(value + 3), &code) &&
             diag_info(code)->severity == SEV_WARNING) {
    t->diags.muted[code] = true;
  } else {
    return usage_error(t, str_fmt(t->arena,
                                  "unknown warning `-W%s`; `stepc explain` lists them",
                                  str_escape(t->arena, str_of(value)).p));
  }
  return EXIT_OK;
}

// Options that every command has.
static enum exit_code apply_common(struct tool *t) {
  static const char *const formats[] = {[DIAG_TEXT] = "text",
                                        [DIAG_JSON] = "json",
                                        [DIAG_SARIF] = "sarif",
                                        [DIAG_GITHUB] = "github"};
  const char *color = args_value(&t->args, OPT_COLOR);
  if (color != NULL && strcmp(color, "auto") != 0 && strcmp(color, "always") != 0 &&
      strcmp(color, "never") != 0) {
    return usage_error(t, STR("--color takes auto, always or never"));
  }
  t->color = wants_color(&t->args);
  const char *format = args_value(&t->args, OPT_ERROR_FORMAT);
  for (uint32_t i = 0; format != NULL; i++) {
    if (i == sizeof formats / sizeof *formats) {
      return usage_error(t, STR("--error-format takes text, json, sarif or github"));
    }
    if (strcmp(format, formats[i]) == 0) {
      t->format = (enum diag_format)i;
      break;
    }
  }
  for (uint32_t i = 0; i < t->args.given.n; i++) {
    if (t->args.given.v[i].option == OPT_WARN) {
      enum exit_code code = apply_warning(t, t->args.given.v[i].value);
      if (code != EXIT_OK) {
        return code;
      }
    }
  }
  return EXIT_OK;
}

static enum exit_code run_command(struct tool *t, int argc, char **argv) {
  struct str wrong = args_parse(t->arena, &t->args, argc, argv);
  if (wrong.n != 0) {
    return usage_error(t, wrong);
  }
  if (args_has(&t->args, OPT_HELP)) {
    out_str(t, help_command(t->arena, t->args.command));
    return EXIT_OK;
  }
  enum exit_code code = apply_common(t);
  wrong = args_check_operands(t->arena, &t->args);
  if (code == EXIT_OK && wrong.n != 0) {
    code = usage_error(t, wrong);
  }
  return code != EXIT_OK ? code : command_fns[t->args.command](t);
}

static enum exit_code dispatch(struct tool *t, int argc, char **argv) {
  struct str name = argc > 1 ? str_of(argv[1]) : STR("");
  if (name.n == 0) {
    (void)fputs(help_tool(t->arena).p, stderr);
    return EXIT_USAGE;
  }
  if (str_is(name, "--help") || str_is(name, "-h") || str_is(name, "help")) {
    out_str(t, help_tool(t->arena));
    return EXIT_OK;
  }
  if (str_is(name, "--version")) {
    return cmd_version(t);
  }
  if (!command_find(name, &t->args.command)) {
    const char *near = command_near(name);
    say(t, "unknown command `%s`%s%s%s", str_escape(t->arena, name).p,
        near != NULL ? "; did you mean `" : "", near != NULL ? near : "",
        near != NULL ? "`?" : "");
    say(t, "`stepc --help` lists the commands");
    return EXIT_USAGE;
  }
  return run_command(t, argc - 1, argv + 1);
}

// Everything under the guard for memory that is out.
static enum exit_code guarded(struct tool *t, int argc, char **argv) {
  jmp_buf oom;
  if (setjmp(oom) != 0) {
    (void)fputs("stepc: out of memory\n", stderr);
    return EXIT_ENVIRONMENT;
  }
  arena_guard(t->arena, &oom);
  t->sources.arena = t->arena;
  diags_init(&t->diags, t->arena, &t->sources);
  t->front = (struct front){t->arena, &t->sources, &t->diags};
  enum exit_code code = dispatch(t, argc, argv);
  out_flush(t);
  if (t->out_errno != 0 && t->out_errno != EPIPE) {
    say(t, "cannot write to standard output: %s", strerror(t->out_errno));
    return EXIT_ENVIRONMENT;
  }
  return code;
}

int main(int argc, char **argv) {
  hold_standard_descriptors();
  // Writes report EPIPE and EFBIG instead of killing us with a temporary file left behind.
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGXFSZ, SIG_IGN);
  struct tool tool = {.arena = arena_new(0)};
  if (tool.arena == NULL) {
    (void)fputs("stepc: out of memory\n", stderr);
    return EXIT_ENVIRONMENT;
  }
  enum exit_code code = guarded(&tool, argc, argv);
  arena_free(tool.arena);
  if (tool.out_errno == EPIPE) { // a reader that left the pipe ends us quietly
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
  }
  return (int)code;
}
