// What every subcommand shares: the arena, messages, output, exit codes.
#ifndef STEPC_TOOL_TOOL_H
#define STEPC_TOOL_TOOL_H

#include "front/ast.h"
#include "tool/args.h"

// DESIGN section 10. When several things are wrong the first that stopped the command decides.
enum exit_code {
  EXIT_OK = 0,
  EXIT_INPUT = 1, // the input is wrong, or a check differs
  EXIT_USAGE = 2,
  EXIT_ENVIRONMENT = 3, // file, library, device, memory, disk, standard output
  EXIT_INTERNAL = 70,
};

struct tool {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct front front;
  struct args args;
  enum diag_format format;
  bool color;     // of messages on standard error
  int out_errno;  // first failure of standard output; 0: none
  bool announced; // messages were rendered already
};

// Results. Failures are remembered and end the command with EXIT_ENVIRONMENT (main.c).
void out_str(struct tool *t, struct str s);
void out_printf(struct tool *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void out_flush(struct tool *t);

// One line of the tool's own on standard error: "stepc: ...". Arguments that come from outside are escaped first.
void say(struct tool *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
enum exit_code usage_error(struct tool *t, struct str what); // says it; EXIT_USAGE
enum exit_code internal_error(struct tool *t, struct str what);
// Prints the recorded diagnostics, once, and derives the exit code from them: EXIT_OK when there are only
// warnings, EXIT_ENVIRONMENT when a file could not be read.
enum exit_code report(struct tool *t);

// A decimal number in [min, max] as an option's value; false: said as a usage error.
bool option_u64(struct tool *t, enum option_id o, uint64_t min, uint64_t max,
                uint64_t *value);

enum exit_code cmd_check(struct tool *t);
enum exit_code cmd_fmt(struct tool *t);
enum exit_code cmd_emit(struct tool *t);
enum exit_code cmd_plan(struct tool *t);
enum exit_code cmd_show(struct tool *t);
enum exit_code cmd_run(struct tool *t);
enum exit_code cmd_bench(struct tool *t);
enum exit_code cmd_verify(struct tool *t);
enum exit_code cmd_explain(struct tool *t);
enum exit_code cmd_doctor(struct tool *t);
enum exit_code cmd_probe(struct tool *t);
enum exit_code cmd_version(struct tool *t);

#endif
