// Lowering: what statements and expressions share.
#ifndef STEPC_IR_LOWER_INT_H
#define STEPC_IR_LOWER_INT_H

#include "ir/ir.h"

struct lower {
  struct ir *ir;
  const struct job *job;
  struct ir_ref *let;        // by rule statement
  struct ir_ref *state;      // by state: what its name means now; IR_NONE: not read yet
  struct ir_ref param, grad; // likewise
  struct str name;           // the statement being lowered
};

// The value of a typed expression: host where its stage is static or host, else device.
struct ir_ref lower_expr(struct lower *l, const struct texpr *t);
// The same value on the device: a host value crosses once, rounded to f32; a constant becomes an f32 constant.
struct ir_ref lower_to_device(struct lower *l, struct ir_ref v, struct span span);
struct ir_ref lower_add(struct lower *l,
                        struct ir_ins proto); // under the statement's name

#endif
