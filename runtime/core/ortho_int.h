// What the parts of rt_ortho share; private to core/ortho*.c.
#ifndef STEPRT_CORE_ORTHO_INT_H
#define STEPRT_CORE_ORTHO_INT_H

#include "core/binned.h"
#include "core/blas.h"
#include "core/ortho_math.h"
#include "core/team.h"

enum { ORTHO_STRIP = 64 }; // rows in an element-wise item

// n cut into `count` blocks of `size`, the last one shorter.
struct ortho_cut {
  uint64_t size, count;
};

// One matrix under way. The operand is held tall (c >= r): a wide matrix is transposed, a square one too, because
// AOL scales its rows.
struct ortho {
  const struct rt_blas *blas;
  const struct rt_iteration *it;
  struct rt_team *team; // NULL: the calling thread alone
  uint32_t threads;     // that may run items
  struct ortho_user user;
  bool round;
  uint64_t r, c, ld;
  struct ortho_cut side, rows; // blocks of r, and of c
  float *t, *next;             // c x ld: the operand and its successor
  float *gram, *poly;          // r x ld
  float *factor;               // r: AOL
  struct binned *bins;         // one a thread
  double scale, floor; // what the operand is multiplied with; AOL's floor after that
  float a, b, k;       // coefficients of the current step; k: of the fifth power
};

static inline uint64_t ortho_min(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

// Runs the items on the team, or here one after the other.
void ortho_run(struct ortho *o, uint64_t n, rt_item_fn fn);

// t := the normalized operand. True: `gram` holds its t^T t already (AOL needs it).
bool ortho_normalize(struct ortho *o);

// gram := t^T t, mirrored; rounded where `round`.
void ortho_gram(struct ortho *o, bool round);

// One step with coefficients a, b, c from `gram`; the result is in `t`.
void ortho_step(struct ortho *o, const double abc[3]);

#endif
