// Inside the CUDA target: one map kernel under construction.
#ifndef STEPC_EMIT_CUDA_MAP_H
#define STEPC_EMIT_CUDA_MAP_H

#include "emit/cuda_int.h"

struct cuda_map {
  struct cuda_writer *w;
  const struct kernel *k;
  struct cuda_values v;
  struct cuda_shape shape;
  uint32_t indent;   // of the statements of a turn
  struct str *guard; // by slot: C condition for reading it; empty: always
};

// A statement on a line, with the spec name that it serves behind it; an empty name: no tag.
void cuda_put(struct cuda_map *m, uint32_t indent, struct str name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

// cuda_element.c. Values that are one for a whole tensor: scalars from the table, then what is computed from those.
void cuda_put_scalars(struct cuda_map *m);
void cuda_put_uniform_values(struct cuda_map *m);
// When a slot is read: one of its loads is needed. What only the untaken arm of a uniform `where` reads is not, and
// its tensor may be absent. Empty: always.
struct str cuda_guard_of_slot(const struct cuda_map *m, uint32_t slot);
// The loops over a turn's elements in registers.
void cuda_put_elements(struct cuda_map *m);

#endif
