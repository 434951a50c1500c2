// What the parts of the interpreter share.
#ifndef STEPC_IR_INTERP_INT_H
#define STEPC_IR_INTERP_INT_H

#include "ir/interp.h"

// ---- bounds (interp_bound.c)

// A value and how far a correct f32 run may be from it.
struct bounded {
  double v, b;
};

// What a VALUE operation gives in double, with the bound of its f32 counterpart. Bools carry 0, or INFINITY where
// they may come out either way.
struct bounded bounded_value(enum ir_op op, const struct bounded *x);
struct bounded bounded_to_f32(double x);
struct bounded bounded_round(enum storage s, struct bounded x);
// Adds the f32 rounding of a result `v` to its propagated bound.
struct bounded bounded_rounded(double v, double propagated);

// ---- blocks (interp_block.c)

enum { INTERP_BLOCK = 256 };
struct interp {
  struct arena *scratch;
  const struct ir *ir;
  const struct interp_io *io;
  double *host;            // by instruction: host values
  struct bounded **result; // by instruction: of reductions and iterations, once they ran
  struct bounded (*lane)[INTERP_BLOCK];    // by instruction: its values of the block
  uint64_t at[CLS_ELEM + 1][INTERP_BLOCK]; // by class: index of each value of the block
  bool *need;                              // by instruction
};

void interp_run_host(struct interp *p);
// Makes `need` what the operands of instruction `i` need, down to loads and finished results.
void interp_need_operands(struct interp *p, uint32_t i);
void interp_need_more(struct interp *p, uint32_t i); // keeps what was needed before
// Computes everything needed for `n` values of a class from `begin`.
void interp_run_block(struct interp *p, enum cls domain, uint64_t begin, uint32_t n);
// The values from `begin` that make the next block.
static inline uint32_t interp_block_size(uint64_t count, uint64_t begin) {
  return count - begin < INTERP_BLOCK ? (uint32_t)(count - begin) : INTERP_BLOCK;
}

// ---- whole tensors

// Runs reduction `i` into p->result[i] (interp_reduce.c).
void interp_reduce(struct interp *p, uint32_t i);
// out := orthogonalize(in), `batch` matrices of rows x cols, in double (interp_ortho.c).
void interp_ortho(struct arena *scratch, const struct ir_iteration *it, uint64_t batch,
                  uint64_t rows, uint64_t cols, const double *in, double *out);

#endif
