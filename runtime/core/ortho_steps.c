// The products of a Newton-Schulz step. With T tall (c x r):
//   G = T^T T          (symmetric)
//   P = b G + c G G    (symmetric; where c is 0, G stands for P and b moves into the last line)
//   T := a T + T P
// which is A = X X^T, B = b A + c A A, X := a X + B X of the wide form X = T^T (Jordan et al. 2024). Both products
// with T walk it along its rows.
//
// Each product is cut into blocks whose sizes depend on r and c alone, one single-threaded sgemm over the full depth
// for each; of a symmetric result only the blocks on and below the diagonal are computed, the rest is mirrored. So
// bits do not depend on who computes a block (L1). Every stored matrix is rounded once: G after its product, P and T
// after their combination in f32. Operands of compute bf16 are f32 values that bf16 has: their products are exact in
// f32 and the sums are f32.
#include "core/ortho_int.h"

enum { MAX_DEPTH = 1 << 20 }; // of one call: its dimensions are int

// The block `to` of C := A B, or A^T B; k is the depth. All three have the leading dimension of `o`.
static void multiply(const struct ortho *o, bool trans, struct ortho_block to,
                     const float *a, const float *b, uint64_t k, float *c) {
  int ld = (int)o->ld;
  rt_blas_enter(o->blas);
  for (uint64_t k0 = 0; k0 < k; k0 += MAX_DEPTH) {
    o->blas->sgemm(BLAS_ROW_MAJOR, trans ? BLAS_TRANS : BLAS_NO_TRANS, BLAS_NO_TRANS,
                   (int)to.rows, (int)to.cols, (int)ortho_min(MAX_DEPTH, k - k0), 1.0f,
                   trans ? a + k0 * o->ld + to.row : a + to.row * o->ld + k0, ld,
                   b + k0 * o->ld + to.col, ld, k0 == 0 ? 0.0f : 1.0f,
                   c + to.row * o->ld + to.col, ld);
  }
  rt_blas_leave(o->blas);
}

static struct ortho_block block_at(const struct ortho *o, struct ortho_cut rows,
                                   uint64_t n_rows, uint64_t i, uint64_t j) {
  uint64_t row = i * rows.size, col = j * o->side.size;
  return (struct ortho_block){row, col, ortho_min(rows.size, n_rows - row),
                              ortho_min(o->side.size, o->r - col)};
}

// The blocks on and below the diagonal, row by row.
static struct ortho_block triangle_block(const struct ortho *o, uint64_t item) {
  uint64_t i = 0;
  for (; item > i; i++) {
    item -= i + 1;
  }
  return block_at(o, o->side, o->r, i, item);
}

static uint64_t n_triangle(const struct ortho *o) {
  return o->side.count * (o->side.count + 1) / 2;
}

static void gram_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  struct ortho_block block = triangle_block(o, item);
  multiply(o, true, block, o->t, o->t, o->c, o->gram);
  ortho_mirror(o->gram, o->ld, block);
}

static void rounded_gram_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  struct ortho_block block = triangle_block(o, item);
  multiply(o, true, block, o->t, o->t, o->c, o->gram);
  for (uint64_t i = block.row; i < block.row + block.rows; i++) {
    ortho_scale(o->gram + i * o->ld + block.col, block.cols, 1, true);
  }
  ortho_mirror(o->gram, o->ld, block);
}

void ortho_gram(struct ortho *o, bool round) {
  ortho_run(o, n_triangle(o), round ? rounded_gram_item : gram_item);
}

static void poly_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  struct ortho_block block = triangle_block(o, item);
  multiply(o, false, block, o->gram, o->gram, o->r, o->poly);
  ortho_combine(o->poly, o->gram, o->ld, block, o->b, o->k, o->round);
  ortho_mirror(o->poly, o->ld, block);
}

static void update_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  struct ortho_block block =
      block_at(o, o->rows, o->c, item / o->side.count, item % o->side.count);
  bool cubic = o->k == 0;
  multiply(o, false, block, o->t, cubic ? o->gram : o->poly, o->r, o->next);
  ortho_combine(o->next, o->t, o->ld, block, o->a, cubic ? o->b : 1.0f, o->round);
}

void ortho_step(struct ortho *o, const double abc[3]) {
  o->a = (float)abc[0];
  o->b = (float)abc[1];
  o->k = (float)abc[2];
  if (o->k != 0) {
    ortho_run(o, n_triangle(o), poly_item);
  }
  ortho_run(o, o->rows.count * o->side.count, update_item);
  float *done = o->t;
  o->t = o->next;
  o->next = done;
}
