// What the case's kernels do, after the contract in compiler/emit/cuda.h: one function of elements each, and around it
// the walk over tiles as blocks take them.
#include "cuda_case.h"

#include "core/binned.h"
#include "fake_cuda.h"

#include <math.h>
#include <string.h>

// ---- arithmetic. Scalars as the host makes them; a clip's place holds the clip.

static void step(void *const *ptr, const float *s, uint64_t begin, uint64_t end) {
  float *p = ptr[0], *m = ptr[2];
  const float *g = ptr[1];
  for (uint64_t i = begin; i < end; i++) {
    m[i] = s[1] * m[i] + s[2] * g[i];
    p[i] = p[i] - s[0] * m[i];
  }
}

static void momentum(void *const *ptr, const float *s, uint64_t begin, uint64_t end) {
  const float *g = ptr[0];
  float *m = ptr[1], *u = ptr[2];
  for (uint64_t i = begin; i < end; i++) {
    m[i] = s[0] * m[i] + s[1] * g[i];
    u[i] = m[i] * 0.5f;
  }
}

static void update(void *const *ptr, const float *s, uint64_t begin, uint64_t end) {
  float *p = ptr[0];
  const float *u = ptr[1];
  for (uint64_t i = begin; i < end; i++) {
    p[i] = p[i] - s[0] * u[i];
  }
}

static void init(void *const *ptr, const float *s, uint64_t begin, uint64_t end) {
  (void)s;
  memcpy((float *)ptr[1] + begin, (const float *)ptr[0] + begin,
         (end - begin) * sizeof(float));
}

struct body {
  rt_map_fn fn;
  uint32_t n_ptrs, grad, clip, n_scalars; // grad, clip: which of them; 9: none
};
static const struct body bodies[] = {
    [CASE_STEP] = {step, 3, 1, 2, 3},
    [CASE_MOMENTUM] = {momentum, 3, 0, 1, 2},
    [CASE_UPDATE] = {update, 2, 9, 9, 1},
    [CASE_INIT] = {init, 2, 9, 9, 0},
};

rt_map_fn cuda_case_map(uint32_t kernel) {
  return bodies[kernel].fn;
}

// ---- rows

struct tail {
  uint64_t first, numel;
  uint32_t first_tile, param, scalars, unused;
};
struct table {
  const char *rows;
  uint32_t n_rows, n_ptrs;
};

static const struct tail *tail_of(const struct table *t, uint32_t row) {
  const char *at = t->rows + (uint64_t)row * (8 * t->n_ptrs + sizeof(struct tail));
  return (const void *)(at + 8 * (uint64_t)t->n_ptrs);
}

// The row of a tile, counted from the launch's first row, and the tile's elements in it.
static uint32_t find_row(const struct table *t, uint32_t tile, uint64_t *begin,
                         uint64_t *end) {
  uint32_t row = 0, at = tile + tail_of(t, 0)->first_tile;
  while (row + 1 < t->n_rows && tail_of(t, row + 1)->first_tile <= at) {
    row++;
  }
  const struct tail *r = tail_of(t, row);
  *begin = (uint64_t)(at - r->first_tile) * CASE_TILE;
  *end = *begin + CASE_TILE < r->numel ? *begin + CASE_TILE : r->numel;
  return row;
}

static void *pointer(const void *at) {
  uint64_t address;
  memcpy(&address, at, sizeof address);
  return (void *)(uintptr_t)address;
}
static uint32_t number(const void *at) {
  uint32_t n;
  memcpy(&n, at, sizeof n);
  return n;
}

// Arguments of a MAP, in order.
enum { ROWS, N_ROWS, N_TILES, SCALARS, SCALAR_AT, GRADS, VERDICT };

static void run_tile(const struct body *b, const struct table *t, uint32_t tile,
                     void *const *arg) {
  const struct rt_verdict *verdict = pointer(arg[VERDICT]);
  void *const *grads = pointer(arg[GRADS]);
  const uint32_t *scalar_at = pointer(arg[SCALAR_AT]);
  const float *scalars = pointer(arg[SCALARS]);
  uint64_t begin, end;
  const struct tail *r = tail_of(t, find_row(t, tile, &begin, &end));
  const char *ptrs = (const char *)r - 8 * (uint64_t)t->n_ptrs;
  void *ptr[4];
  float scalar[4];
  if (grads != NULL && grads[r->param] == NULL) {
    return;
  }
  for (uint32_t i = 0, k = 0; i < b->n_ptrs; i++) {
    ptr[i] = i == b->grad ? (float *)grads[r->param] + r->first : pointer(ptrs + 8 * k++);
  }
  for (uint32_t i = 0; i < b->n_scalars; i++) {
    scalar[i] =
        i == b->clip ? verdict->clip : scalars[scalar_at[r->param] + r->scalars + i];
  }
  b->fn(ptr, scalar, begin, end);
}

static void run_map(const struct fake_kernel *k, void *const *arg, unsigned blocks) {
  const struct body *b = k->ctx;
  const struct rt_verdict *verdict = pointer(arg[VERDICT]);
  struct table t = {pointer(arg[ROWS]), number(arg[N_ROWS]), b->n_ptrs - (b->grad != 9)};
  for (unsigned block = 0; block < blocks && verdict->skip == 0; block++) {
    for (uint32_t tile = block; tile < number(arg[N_TILES]); tile += blocks) {
      run_tile(b, &t, tile, arg);
    }
  }
}

// rows, n_rows, n_tiles, grads, parts.
static void run_squares(const struct fake_kernel *k, void *const *arg, unsigned blocks) {
  struct table t = {pointer(arg[0]), number(arg[1]), 0};
  void *const *grads = pointer(arg[3]);
  struct binned *parts = pointer(arg[4]);
  (void)k;
  for (unsigned block = 0; block < blocks; block++) {
    binned_init(&parts[block]);
    for (uint32_t tile = block; tile < number(arg[2]); tile += blocks) {
      uint64_t begin, end;
      const struct tail *r = tail_of(&t, find_row(&t, tile, &begin, &end));
      const float *g = grads[r->param];
      for (uint64_t i = begin; g != NULL && i < end; i++) {
        binned_add(&parts[block], (double)g[r->first + i] * (double)g[r->first + i]);
      }
    }
  }
}

// parts, n_parts, bound, verdict.
static void run_judge(const struct fake_kernel *k, void *const *arg, unsigned blocks) {
  const struct binned *parts = pointer(arg[0]);
  struct rt_verdict *verdict = pointer(arg[3]);
  struct binned sum;
  double bound;
  (void)k, (void)blocks;
  binned_init(&sum);
  memcpy(&bound, arg[2], sizeof bound);
  for (uint32_t i = 0; i < number(arg[1]); i++) {
    binned_merge(&sum, &parts[i]);
  }
  verdict->norm = sqrt(binned_value(&sum));
  verdict->skip = isfinite(verdict->norm) ? 0u : 1u;
  verdict->clip = verdict->norm > bound ? (float)(bound / verdict->norm) : 1;
}

#define MAP(id, text)                                                                    \
  {.name = (text),                                                                       \
   .run = run_map,                                                                       \
   .ctx = &bodies[id],                                                                   \
   .n_args = 7,                                                                          \
   .arg_bytes = {8, 4, 4, 8, 8, 8, 8}}
static const struct fake_kernel registered[] = {
    MAP(CASE_STEP, "step"),
    MAP(CASE_MOMENTUM, "momentum"),
    MAP(CASE_UPDATE, "update"),
    MAP(CASE_INIT, "init"),
    {.name = "squares", .run = run_squares, .n_args = 5, .arg_bytes = {8, 4, 4, 8, 8}},
    {.name = "judge", .run = run_judge, .n_args = 4, .arg_bytes = {8, 4, 8, 8}},
};

void cuda_case_register(void) {
  for (size_t i = 0; i < sizeof registered / sizeof *registered; i++) {
    fake_cuda_register(&registered[i]);
  }
}
