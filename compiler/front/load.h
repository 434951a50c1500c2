// The loader's parts for each other. Private to front/.
#ifndef STEPC_FRONT_LOAD_H
#define STEPC_FRONT_LOAD_H

#include "front/ast.h"

enum {
  LOAD_MAX_FILE = 16 << 20, // bytes; the longest spec we know has 200 lines
  LOAD_MAX_FILES = 256,     // of one program
};

// The name that a declaration defines and, unless NULL, its place; empty for an import or after an error.
struct str decl_name(const struct decl *d, struct span *at);
// Imports resolved: reports each import that leads back to a file on the way to it (E0115).
void load_check_cycles(struct front *f, const struct program *p);
// Optimizers, iterations and recipes have one name space over all files, so that SPEC:name says which (E0118).
void load_check_names(struct front *f, const struct program *p);

#endif
