// Subcommands whose parts are still being built.
#include "tool/tool.h"

static enum exit_code pending(struct tool *t) {
  say(t, "`stepc %s` is not in this build", command_info(t->args.command)->name);
  return EXIT_USAGE;
}
enum exit_code cmd_verify(struct tool *t) {
  return pending(t);
}
