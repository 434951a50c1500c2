// stepc version: versions of stepc, its formats and LLVM; the manual page.
#include "tool/tool.h"

enum exit_code cmd_version(struct tool *t) {
  if (args_has(&t->args, OPT_MAN)) {
    out_str(t, help_man(t->arena));
  } else if (args_has(&t->args, OPT_JSON)) {
    out_str(t, STR("{\"stepc\": \"" STEPC_VERSION
                   "\", \"spec\": 1, \"model\": \"stepc-model/1\", "
                   "\"llvm\": \"" STEPC_LLVM_VERSION "\"}\n"));
  } else {
    out_str(t, STR("stepc " STEPC_VERSION
                   "\nspec language 1, stepc-model/1\nLLVM " STEPC_LLVM_VERSION "\n"));
  }
  return EXIT_OK;
}
