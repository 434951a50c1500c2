// Parsing of the command line with getopt_long, over the tables of commands.def and options.def.
#include "tool/args.h"

#include <getopt.h>
#include <string.h>

enum {
#define COMMAND(id, name, operands, min, max, help, more) M_##id = 1u << CMD_##id,
#include "tool/commands.def"
#undef COMMAND
  M_ALL = (1u << N_COMMANDS) - 1,
  M_JOB = M_EMIT | M_PLAN | M_RUN | M_BENCH | M_VERIFY,
  M_PLANNED = M_JOB,
};

static const struct command commands[N_COMMANDS] = {
#define COMMAND(id, name, operands, min, max, help, more)                                \
  {name, operands, help, more, min, max},
#include "tool/commands.def"
#undef COMMAND
};

static const struct option_row options[N_OPTIONS] = {
#define OPTION(id, name, letter, arg, cmds, help) {name, arg, help, NULL, cmds, letter},
#define LATER(id, name, arg, cmds, missing)       {name, arg, NULL, missing, cmds, 0},
#include "tool/options.def"
#undef OPTION
#undef LATER
};

const struct command *command_info(enum command_id c) {
  return &commands[c];
}

const struct option_row *option_info(enum option_id o) {
  return &options[o];
}

bool command_find(struct str name, enum command_id *out) {
  for (uint32_t c = 0; c < N_COMMANDS; c++) {
    if (str_is(name, commands[c].name)) {
      *out = (enum command_id)c;
      return true;
    }
  }
  return false;
}

const char *command_near(struct str wrong) {
  for (uint32_t limit = 1; limit <= 2; limit++) {
    for (uint32_t c = 0; c < N_COMMANDS; c++) {
      if (str_distance(wrong, str_of(commands[c].name), limit) <= limit) {
        return commands[c].name;
      }
    }
  }
  return NULL;
}

static bool option_applies(uint32_t o, enum command_id c) {
  return (options[o].commands >> c & 1u) != 0;
}

// getopt's two descriptions of the options of one command. Long ones return FIRST_LONG + id.
enum { FIRST_LONG = 256 };
struct getopt_tables {
  struct option longs[N_OPTIONS + 1];
  char letters[2 * N_OPTIONS + 2];
};

static void tables_fill(struct getopt_tables *t, enum command_id c) {
  uint32_t n = 0, at = 0;
  t->letters[at++] = ':';
  for (uint32_t o = 0; o < N_OPTIONS; o++) {
    const struct option_row *row = &options[o];
    if (!option_applies(o, c)) {
      continue;
    }
    if (row->name != NULL) {
      int has_arg = row->arg != NULL ? required_argument : no_argument;
      t->longs[n++] = (struct option){row->name, has_arg, NULL, FIRST_LONG + (int)o};
    }
    if (row->letter != 0) {
      t->letters[at++] = row->letter;
      if (row->arg != NULL) {
        t->letters[at++] = ':';
      }
    }
  }
  t->longs[n] = (struct option){0};
  t->letters[at] = '\0';
}

static bool option_of(int got, enum command_id c, enum option_id *out) {
  if (got >= FIRST_LONG) {
    *out = (enum option_id)(got - FIRST_LONG);
    return true;
  }
  for (uint32_t o = 0; o < N_OPTIONS; o++) {
    if (options[o].letter == got && option_applies(o, c)) {
      *out = (enum option_id)o;
      return true;
    }
  }
  return false;
}

// The name of a long option as it was typed, without dashes and value; empty for a letter.
static struct str typed_name(const char *word) {
  if (strncmp(word, "--", 2) != 0) {
    return STR("");
  }
  return (struct str){word + 2, strcspn(word + 2, "=")};
}

static struct str unknown_option(struct arena *a, const struct args *args,
                                 const char *word) {
  const char *command = commands[args->command].name;
  struct str name = typed_name(word), shown = str_escape(a, str_of(word));
  if (name.n == 0) {
    return str_fmt(a, "unknown option `-%s` of `stepc %s`",
                   str_escape(a, (struct str){&(char){(char)optopt}, 1}).p, command);
  }
  const char *near = NULL;
  for (uint32_t o = 0, best = 3; o < N_OPTIONS; o++) {
    if (options[o].name == NULL) {
      continue;
    }
    if (str_is(name, options[o].name) && !option_applies(o, args->command)) {
      return str_fmt(a, "option `--%s` does not apply to `stepc %s`", options[o].name,
                     command);
    }
    uint32_t distance = str_distance(name, str_of(options[o].name), 2);
    if (option_applies(o, args->command) && distance < best) {
      best = distance;
      near = options[o].name;
    }
  }
  return near == NULL
             ? str_fmt(a, "unknown option `%.*s` of `stepc %s`", STR_FMT(shown), command)
             : str_fmt(a, "unknown option `%.*s` of `stepc %s`; did you mean `--%s`?",
                       STR_FMT(shown), command, near);
}

// What getopt refused: an argument that is missing or superfluous, or an option that does not exist.
static struct str refusal(struct arena *a, const struct args *args, int got,
                          const char *word) {
  if (got == ':') {
    return str_fmt(a, "option `%s` needs an argument", str_escape(a, str_of(word)).p);
  }
  struct str name = typed_name(word);
  for (uint32_t o = 0; o < N_OPTIONS; o++) {
    if (name.n != 0 && options[o].name != NULL && str_is(name, options[o].name) &&
        option_applies(o, args->command)) {
      return str_fmt(a, "option `--%s` takes no argument", options[o].name);
    }
  }
  return unknown_option(a, args, word);
}

struct str args_parse(struct arena *a, struct args *args, int argc, char **argv) {
  struct getopt_tables tables;
  tables_fill(&tables, args->command);
  opterr = 0;
  optind = 1;
  for (;;) {
    int at = optind;
    int got = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
    if (got == -1) {
      break;
    }
    // getopt may have moved operands back, so the word is the one before the next.
    const char *word = optind > at ? argv[optind - 1] : argv[at];
    if (got == '?' || got == ':') {
      return refusal(a, args, got, word);
    }
    enum option_id o = OPT_HELP;
    if (!option_of(got, args->command, &o)) {
      return unknown_option(a, args, word);
    }
    if (options[o].missing != NULL) {
      return str_fmt(a, "option `--%s` comes with %s, which this version does not have",
                     options[o].name, options[o].missing);
    }
    struct given g = {o, options[o].arg != NULL ? optarg : NULL};
    VEC_PUSH(a, args->given, g);
  }
  args->operand = argv + optind;
  args->n_operands = argc - optind;
  return STR("");
}

struct str args_check_operands(struct arena *a, const struct args *args) {
  const struct command *c = &commands[args->command];
  if (args->n_operands < c->min) {
    return str_fmt(a, "`stepc %s` needs %s", c->name, c->operands);
  }
  if (c->max >= 0 && args->n_operands > c->max) {
    return str_fmt(a, "`stepc %s` takes %s; what is `%s`?", c->name,
                   c->max == 0 ? "no operand" : c->operands,
                   str_escape(a, str_of(args->operand[c->max])).p);
  }
  return STR("");
}

bool args_has(const struct args *args, enum option_id o) {
  for (uint32_t i = 0; i < args->given.n; i++) {
    if (args->given.v[i].option == o) {
      return true;
    }
  }
  return false;
}

const char *args_value(const struct args *args, enum option_id o) {
  for (uint32_t i = args->given.n; i-- > 0;) {
    if (args->given.v[i].option == o) {
      return args->given.v[i].value;
    }
  }
  return NULL;
}
