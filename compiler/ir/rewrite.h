// The shape of a pass: walk the old array, put what stays into a new one, remember where each value went.
#ifndef STEPC_IR_REWRITE_H
#define STEPC_IR_REWRITE_H

#include "ir/ir.h"

struct rewrite {
  struct ir *ir;            // holds the new array
  const struct ir_ins *old; // the one before
  uint32_t n;
  struct ir_ref *map; // old index to new value
};

struct rewrite rewrite_begin(struct ir *ir);
struct ir_ins rewrite_fetch(const struct rewrite *w,
                            uint32_t i); // with operands of the new array
void rewrite_keep(struct rewrite *w, uint32_t i, struct ir_ins ins);
void rewrite_replace(struct rewrite *w, uint32_t i,
                     struct ir_ref by); // by a value of the new array

#endif
