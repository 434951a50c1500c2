// The first products of each thread, before a step does any: libraries make their thread-local data and their packing
// buffers when a thread first calls them, and a step allocates nothing (L2).
#include "core/blas.h"
#include "core/team.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

// Beyond the sizes up to which BLIS takes its path without packing (config/zen3/bli_cntx_init_zen3.c).
enum { SIDE = 768, DEPTH = 256 };

struct warm {
  const struct rt_blas *blas;
  uint32_t threads;
  _Atomic uint32_t arrived;
  float *a, *b, *c; // `c` one per thread
};

// No thread takes a second item before all have one: each takes exactly one, and all are in the library at once.
static void warm_thread(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  struct warm *w = ctx;
  static const struct {
    int side, trans;
  } calls[] = {{8, BLAS_NO_TRANS}, {8, BLAS_TRANS}, {SIDE, BLAS_NO_TRANS}};
  float *c = w->c + item * SIDE * SIDE;
  atomic_fetch_add(&w->arrived, 1);
  while (atomic_load(&w->arrived) < w->threads) {
    sched_yield();
  }
  rt_blas_enter(w->blas);
  for (int i = 0; i < 3; i++) {
    int side = calls[i].side, trans = calls[i].trans;
    w->blas->sgemm(BLAS_ROW_MAJOR, trans, BLAS_NO_TRANS, side, side, DEPTH, 1.0f, w->a,
                   trans == BLAS_TRANS ? side : DEPTH, w->b, side, 0.0f, c, side);
  }
  rt_blas_leave(w->blas);
}

steprt_status rt_blas_warm(const struct rt_blas *blas, struct rt_team *team) {
  struct warm w = {.blas = blas, .threads = rt_team_size(team)};
  w.a = calloc((size_t)SIDE * DEPTH, sizeof *w.a);
  w.b = calloc((size_t)SIDE * DEPTH, sizeof *w.b);
  w.c = calloc((size_t)w.threads * SIDE * SIDE, sizeof *w.c);
  bool ok = w.a && w.b && w.c;
  if (ok) {
    rt_team_run(team, w.threads, warm_thread, &w);
  }
  free(w.a);
  free(w.b);
  free(w.c);
  return ok ? STEPRT_OK : STEPRT_NO_MEMORY;
}
