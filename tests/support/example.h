// Runs one example text through the front end. The same form serves explain.def and tests/data/errors.
//
// Lines at the top of a spec that begin with `#:` direct the run:
//   #: param NAME [4, 8] [DTYPE]   the model has this parameter (dtype f32 where left out); with one, the recipe
//                                  or optimizer is bound to the model too (sema_job)
//   #: pick NAME                   which recipe or optimizer
//   #: define NAME=VALUE           as `-D`
//   #: set NAME=VALUE              as `--set`
// and anywhere, as a line of its own:
//   #: file NAME                   what follows, up to the next such line, is the text of that file (for imports)
// A text that begins with `{` is a model, one that begins with `ir ` IR, one that begins with `$ ` a command line,
// which nothing runs.
#ifndef TESTS_SUPPORT_EXAMPLE_H
#define TESTS_SUPPORT_EXAMPLE_H

#include "front/sema.h"

enum example_kind { EXAMPLE_SPEC, EXAMPLE_MODEL, EXAMPLE_IR, EXAMPLE_COMMAND };

struct example {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct front front;
  struct program *program; // NULL: the root was not read, or this is no spec
  struct model *model;     // of its path or of `#: param` lines; NULL without
  struct job *job;         // NULL without a model, or refused
};

enum example_kind example_kind(struct str text);
// Runs `text` as the file `name`; what was reported is in x->diags. `model_path`: a model to bind to, or NULL.
void example_run(struct example *x, struct arena *a, struct str name, struct str text,
                 const char *model_path);
// Does every error that was reported have this code, and is there one? For warnings: some warning has it, and
// nothing else was reported.
bool example_gives_only(const struct example *x, enum diag_code code);

#endif
