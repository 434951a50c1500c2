// Inside the CUDA target: one file of text under construction.
#ifndef STEPC_EMIT_CUDA_INT_H
#define STEPC_EMIT_CUDA_INT_H

#include "emit/cuda.h"
#include "emit/cuda_prelude.h"
#include "emit/kernel.h"
#include "ir/names.h"

enum { CUDA_BLOCK = 256 }; // threads, where nothing else was found better
// Column of `// file: name`.
enum { CUDA_TAG_COLUMN = 80 };

// How a kernel's threads share a tile. Neighbouring threads take groups of LANES neighbouring elements: 16 bytes of f32,
// 8 of 16-bit types (16 were measured slower beside f32 tensors, and no faster among themselves).
enum { CUDA_LANES = 4 };
struct cuda_shape {
  uint32_t block;   // threads
  uint32_t vectors; // groups of a thread in flight
  uint32_t turns;   // times that it takes so many, for one tile
  // on a multiprocessor at once, which bounds registers; 0: as many as fit
  uint32_t blocks;
};

struct cuda_writer {
  struct arena *arena;
  struct front *front;
  const struct job_ir *j;
  struct str command;
  struct buf out;
  struct str *ice;
};

// cuda_head.c: comments. The banner names the spec file, its digest and the command.
void cuda_put_banner(struct cuda_writer *w, uint32_t file);
// What a map kernel does: spec lines, tensors, bytes, scalars, launch.
void cuda_put_head(struct cuda_writer *w, const struct kernel *k,
                   const struct cuda_shape *s);
// A spec file's name without its folder, safe in a comment.
struct str cuda_file_name(const struct cuda_writer *w, uint32_t file);
// The spec file that the kernel's statements come from; NO_FILE: none.
uint32_t cuda_file_of(const struct cuda_writer *w, const struct kernel *k);

// cuda_row.c: what every kernel over rows says before the prelude.
struct cuda_storage {
  const char *type, *declaration;      // of an element
  const char *read, *read_all, *write; // sections of the prelude; "": none more
};
const struct cuda_storage *cuda_storage(enum storage s);
uint32_t cuda_tile(const struct cuda_shape *s); // elements
void cuda_put_shape(struct cuda_writer *w, const struct cuda_shape *s);
// Element types and `struct row`, whose pointers are named `p_` and the slot's name. Gradients have none.
void cuda_put_row(struct cuda_writer *w, const struct kernel_slot *slot,
                  const struct str *name, uint32_t n);

// cuda_expr.c: values as expressions and names.
struct cuda_values {
  struct cuda_writer *w;
  const struct kernel *kernel;
  const struct ir *ir;
  const struct phase *ph;
  struct str *label; // by IR index: as IR text calls it
  // by IR index: the expression that stands for it; empty: not there yet
  struct str *text;
  uint32_t *uses;   // by IR index, within the phase
  uint32_t *user;   // by IR index: the last that uses it
  struct str *slot; // by slot: a part of identifiers, unique
  struct names taken;
  struct str file; // for tags
};
struct cuda_values cuda_values_new(struct cuda_writer *w, const struct kernel *k);
bool cuda_is_scalar(const struct ir_ins *ins); // one for a whole tensor
struct str cuda_value_name(struct cuda_values *v, struct ir_ref r);
struct str cuda_value_expr(struct cuda_values *v, struct ir_ref r);
bool cuda_value_is_inline(const struct cuda_values *v, struct ir_ref r, struct str expr);
// The section of the prelude that the value needs; "": none.
const char *cuda_value_section(const struct ir_ins *ins);
uint32_t cuda_slot_of(const struct cuda_values *v, struct ir_ref r);

// cuda_map.c, cuda_grads.c: kernels.
struct cuda_kernel cuda_map_kernel(struct cuda_writer *w, const struct kernel *k);
struct cuda_kernel cuda_squares_kernel(struct cuda_writer *w, enum storage grad);
struct cuda_kernel cuda_merge_kernel(struct cuda_writer *w);
struct cuda_kernel cuda_verdict_kernel(struct cuda_writer *w);

#endif
