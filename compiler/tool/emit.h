// Inside `stepc emit`: what was asked for, and what was made.
#ifndef STEPC_TOOL_EMIT_H
#define STEPC_TOOL_EMIT_H

#include "tool/job.h"
#include "tool/objects.h"

enum emit_kind {
#define KIND(id, name, extension) EMIT_##id,
#include "tool/emit_kinds.def"
#undef KIND
  N_EMIT_KINDS
};

struct output {
  struct str name; // of the file
  struct str text;
};

struct emit {
  struct tool *tool;
  struct job_setup setup;
  struct driver driver;
  bool wants[N_EMIT_KINDS];
  struct objects objects; // with ptx or cubin
  VEC(struct output) out;
};

static inline bool emit_wants_objects(const struct emit *e) {
  return e->wants[EMIT_PTX] || e->wants[EMIT_CUBIN];
}
static inline bool emit_wants_cuda(const struct emit *e) {
  return e->wants[EMIT_CUDA] || emit_wants_objects(e);
}

// emit_make.c: every kind that is wanted, into e->out.
void emit_add(struct emit *e, enum emit_kind kind, struct str stem, struct str text);
void emit_ast(struct emit *e);
// What needs the lowered job. Anything but EXIT_OK was said.
enum exit_code emit_of_job(struct emit *e);
// A file name without folder and extension.
struct str emit_stem(struct str path);

// emit_from.c: --from=ir. The IR text in the last operand, verified; NULL: reported.
struct ir *emit_read_ir(struct emit *e);
// The edited IR takes the place of the rule of its name, shape and types; false: there is none, said.
bool emit_replace_rule(struct emit *e, struct ir *ir);
enum exit_code emit_ir_alone(struct emit *e, const struct ir *ir);

// emit_deliver.c: to a folder (else to standard output, or compared with one).
bool emit_goes_to_folder(const struct tool *t);
enum exit_code emit_deliver(struct emit *e);

#endif
