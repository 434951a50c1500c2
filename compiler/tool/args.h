// The command line: subcommands and options as tables, and what was given.
#ifndef STEPC_TOOL_ARGS_H
#define STEPC_TOOL_ARGS_H

#include "base/str.h"

enum command_id {
#define COMMAND(id, name, operands, min, max, help, more) CMD_##id,
#include "tool/commands.def"
#undef COMMAND
  N_COMMANDS
};

struct command {
  const char *name, *operands, *help, *more;
  int min, max; // number of operands; max -1: any
};
const struct command *command_info(enum command_id c);

enum option_id {
#define OPTION(id, name, letter, arg, commands, help) OPT_##id,
#define LATER(id, name, arg, commands, missing)       OPT_##id,
#include "tool/options.def"
#undef OPTION
#undef LATER
  N_OPTIONS
};

struct option_row {
  const char *name; // long; NULL: a letter only
  const char *arg;  // NULL: takes none
  const char *help;
  const char *missing; // the part that it waits for; NULL: works
  uint32_t commands;
  char letter; // 0: none
};
const struct option_row *option_info(enum option_id o);

struct given {
  enum option_id option;
  const char *value; // NULL where the option takes none
};

struct args {
  enum command_id command;
  VEC(struct given) given; // in order
  char **operand;
  int n_operands;
};

// Parses what follows the command's name. Returns an empty string, or what is wrong with it (usage error). Operands
// are not counted here, so that --help works alone.
struct str args_parse(struct arena *a, struct args *args, int argc, char **argv);
struct str args_check_operands(struct arena *a, const struct args *args);

bool args_has(const struct args *args, enum option_id o);
const char *args_value(const struct args *args,
                       enum option_id o); // the last one given, or NULL
// "did you mean ...?" among command names; NULL when none is near.
const char *command_near(struct str wrong);
bool command_find(struct str name, enum command_id *out);

struct str help_tool(struct arena *a);                       // stepc --help
struct str help_command(struct arena *a, enum command_id c); // stepc COMMAND --help
struct str help_man(struct arena *a);                        // stepc.1, in roff

#endif
