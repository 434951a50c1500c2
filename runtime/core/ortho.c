// Newton-Schulz orthogonalization: shapes, scratch and the order of phases (DESIGN sections 3, 4 and 12; Jordan et
// al. 2024). The arithmetic stands in ortho_steps.c, ortho_normalize.c and ortho_math.c.
#include "core/ortho.h"

#include "core/fpmode.h"
#include "core/ortho_int.h"
#include "plan/work.h"

enum {
  SIDE = 192, // blocks of r x r results, and columns of T
  ROWS = 256, // rows of T in a block
  SMALL = 256 *
          1024, // elements of a matrix that one thread takes whole when there are several
  ALIGN = 64
};

// Equal blocks of at most `target`, in multiples of 16: what the micro-kernels of the libraries divide best.
static struct ortho_cut cut_evenly(uint64_t n, uint64_t target) {
  uint64_t parts = (n + target - 1) / target;
  uint64_t size = rt_round_up((n + parts - 1) / parts, 16);
  return (struct ortho_cut){size, (n + size - 1) / size};
}

// Rows start at cache lines where that is cheap, and never a multiple of 1 KiB apart: those share few cache sets.
static uint64_t leading_dimension(uint64_t r) {
  if (r < 64) {
    return r;
  }
  uint64_t ld = rt_round_up(r, 16);
  return ld % 256 == 0 ? ld + 16 : ld;
}

static bool is_small(uint64_t rows, uint64_t cols) {
  return rows <= SMALL && cols <= SMALL && rows * cols <= SMALL;
}

// Everything that follows from iteration and shape.
static struct ortho ortho_shape(const struct rt_iteration *it, uint64_t rows,
                                uint64_t cols) {
  struct ortho o = {.it = it};
  o.user.wide = rows <= cols;
  o.r = o.user.r = rows <= cols ? rows : cols;
  o.c = o.user.c = rows <= cols ? cols : rows;
  o.ld = leading_dimension(o.r);
  o.side = cut_evenly(o.r, SIDE);
  o.rows = cut_evenly(o.c, ROWS);
  o.round = it->compute == RT_BF16;
  o.user.out_bf16 = o.round;
  return o;
}

// Lays a matrix's scratch out from `at`, and its bins with one place a thread; returns the bytes taken.
static size_t ortho_place(struct ortho *o, uint32_t threads, char *at) {
  size_t tall = rt_round_up(o->c * o->ld * sizeof(float), ALIGN);
  size_t square = rt_round_up(o->r * o->ld * sizeof(float), ALIGN);
  size_t factor = rt_round_up(o->r * sizeof(float), ALIGN);
  size_t bins = rt_round_up(threads * sizeof(struct binned), ALIGN);
  o->threads = threads;
  if (at) {
    o->t = (float *)at;
    o->next = (float *)(at + tall);
    o->gram = (float *)(at + 2 * tall);
    o->poly = (float *)(at + 2 * tall + square);
    o->factor = (float *)(at + 2 * tall + 2 * square);
    o->bins = (struct binned *)(at + 2 * tall + 2 * square + factor);
  }
  return 2 * tall + 2 * square + factor + bins;
}

size_t rt_ortho_scratch(const struct rt_iteration *it, uint64_t rows, uint64_t cols,
                        uint32_t threads) {
  if (rows == 0 || cols == 0) {
    return 0;
  }
  struct ortho o = ortho_shape(it, rows, cols);
  size_t together = ortho_place(&o, threads, NULL);
  size_t each = is_small(rows, cols) ? threads * ortho_place(&o, 1, NULL) : 0;
  return ALIGN + (together > each ? together : each);
}

void ortho_run(struct ortho *o, uint64_t n, rt_item_fn fn) {
  if (o->team) {
    rt_team_run(o->team, n, fn, o);
    return;
  }
  for (uint64_t i = 0; i < n; i++) {
    fn(o, i, 0);
  }
}

static void store_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct ortho *o = ctx;
  uint64_t begin = item * ORTHO_STRIP, end = ortho_min(begin + ORTHO_STRIP, o->c);
  ortho_store(o->t, o->ld, &o->user, begin, end);
}

static void whole_matrix(struct ortho *o) {
  bool has_gram = ortho_normalize(o);
  for (uint32_t i = 0; i < o->it->n_steps; i++) {
    if (!has_gram) {
      ortho_gram(o, o->round);
    }
    has_gram = false;
    ortho_step(o, o->it->abc[i]);
  }
  ortho_run(o, (o->c + ORTHO_STRIP - 1) / ORTHO_STRIP, store_item);
}

// What each thread needs to take a matrix of the batch whole.
struct batch {
  struct ortho shape;
  const struct rt_matrices *m;
  char *scratch;
  size_t scratch_bytes; // of one matrix
};

static void select_matrix(struct ortho *o, const struct rt_matrices *m, uint64_t i) {
  uint64_t at = i * m->rows * m->cols;
  o->user.in = (const char *)m->in + at * rt_storage_bytes(m->in_storage);
  o->user.out = (char *)m->out + at * rt_storage_bytes(o->it->compute);
}

static void batch_item(void *ctx, uint64_t item, uint32_t thread) {
  const struct batch *b = ctx;
  struct ortho o = b->shape;
  select_matrix(&o, b->m, item);
  ortho_place(&o, 1, b->scratch + thread * b->scratch_bytes);
  whole_matrix(&o);
}

// In the floating-point mode of the numbers section: the norm is taken on the calling thread.
static void all_matrices(const struct rt_blas *blas, struct rt_team *team,
                         const struct rt_iteration *it, const struct rt_matrices *m,
                         void *scratch) {
  char *aligned = (char *)scratch + (ALIGN - (uintptr_t)scratch % ALIGN) % ALIGN;
  struct ortho o = ortho_shape(it, m->rows, m->cols);
  o.blas = blas;
  o.user.in_bf16 = m->in_storage == RT_BF16;
  if (m->batch > 1 && is_small(m->rows, m->cols)) {
    struct batch b = {o, m, aligned, ortho_place(&o, 1, NULL)};
    rt_team_run(team, m->batch, batch_item, &b);
    return;
  }
  o.team = team;
  ortho_place(&o, rt_team_size(team), aligned);
  for (uint64_t i = 0; i < m->batch; i++) {
    select_matrix(&o, m, i);
    whole_matrix(&o);
  }
}

void rt_ortho(const struct rt_blas *blas, struct rt_team *team,
              const struct rt_iteration *it, const struct rt_matrices *m, void *scratch) {
  if (m->rows == 0 || m->cols == 0 || m->batch == 0) {
    return;
  }
  uint32_t mode = rt_fpmode_enter();
  all_matrices(blas, team, it, m, scratch);
  rt_fpmode_leave(mode);
}
