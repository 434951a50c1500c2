// Kernels on the fake driver.
#include "fake_kernels.h"

#include "core/binned.h"
#include "fake_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, NONE = RT_MAX_PTRS };

struct body {
  struct fake_kernel kernel;
  const struct steprt_program *program;
  rt_map_fn fn;
  uint32_t n_ptrs, grad, grad_bytes; // grad: which pointer it is; NONE
  uint32_t n_scalars;
  const uint32_t *scalar; // of the phase
  uint32_t tile, storage; // storage: of squares
};
static struct body bodies[MOST];

// ---- rows

struct tail {
  uint64_t first, numel;
  uint32_t first_tile, param, scalars, unused;
};
struct table {
  const char *rows;
  uint32_t n_rows, n_ptrs, tile;
};

static const struct tail *tail_of(const struct table *t, uint32_t row) {
  const char *at = t->rows + (uint64_t)row * (8 * t->n_ptrs + sizeof(struct tail));
  return (const void *)(at + 8 * (uint64_t)t->n_ptrs);
}

// The row of a tile, counted from the launch's first row, and the tile's elements in it.
static const struct tail *find_row(const struct table *t, uint32_t tile, uint64_t *begin,
                                   uint64_t *end) {
  uint32_t lo = 0, hi = t->n_rows, at = tile + tail_of(t, 0)->first_tile;
  while (hi - lo > 1) {
    uint32_t middle = lo + (hi - lo) / 2;
    *(tail_of(t, middle)->first_tile <= at ? &lo : &hi) = middle;
  }
  const struct tail *r = tail_of(t, lo);
  *begin = (uint64_t)(at - r->first_tile) * t->tile;
  *end = *begin + t->tile < r->numel ? *begin + t->tile : r->numel;
  return r;
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

// ---- maps

enum { ROWS, N_ROWS, N_TILES, SCALARS, SCALAR_AT, GRADS, VERDICT };

static void run_tile(const struct body *b, const struct table *t, uint32_t tile,
                     void *const *arg) {
  const struct rt_verdict *verdict = pointer(arg[VERDICT]);
  void *const *grads = pointer(arg[GRADS]);
  const uint32_t *scalar_at = pointer(arg[SCALAR_AT]);
  const float *scalars = pointer(arg[SCALARS]);
  uint64_t begin, end;
  const struct tail *r = find_row(t, tile, &begin, &end);
  const char *ptrs = (const char *)r - 8 * (uint64_t)t->n_ptrs;
  void *ptr[RT_MAX_PTRS];
  float scalar[RT_MAX_SCALARS];
  if (grads != NULL && grads[r->param] == NULL) {
    return;
  }
  for (uint32_t i = 0, k = 0; i < b->n_ptrs; i++) {
    ptr[i] = i == b->grad ? (char *)grads[r->param] + r->first * b->grad_bytes
                          : pointer(ptrs + 8 * k++);
  }
  for (uint32_t i = 0; i < b->n_scalars; i++) {
    scalar[i] = b->scalar[i] == RT_SCALAR_CLIP
                    ? verdict->clip
                    : scalars[scalar_at[r->param] + r->scalars + i];
  }
  b->fn(ptr, scalar, begin, end);
}

static void run_map(const struct fake_kernel *k, void *const *arg, unsigned blocks) {
  const struct body *b = k->ctx;
  const struct rt_verdict *verdict = pointer(arg[VERDICT]);
  struct table t = {pointer(arg[ROWS]), number(arg[N_ROWS]),
                    b->n_ptrs - (b->grad != NONE), b->tile};
  for (unsigned block = 0; block < blocks && verdict->skip == 0; block++) {
    for (uint32_t tile = block; tile < number(arg[N_TILES]); tile += blocks) {
      run_tile(b, &t, tile, arg);
    }
  }
}

// ---- sums: rows, n_rows, n_tiles, grads, parts; parts, n_parts, sum; parts, n_parts, bound, verdict

static void add_squares(struct binned *to, uint32_t storage, const void *grad,
                        uint64_t begin, uint64_t n) {
  switch (storage) {
  case RT_F32: binned_add_squares_f32(to, (const float *)grad + begin, n); break;
  case RT_BF16: binned_add_squares_bf16(to, (const uint16_t *)grad + begin, n); break;
  default: binned_add_squares_f16(to, (const uint16_t *)grad + begin, n); break;
  }
}

static void run_squares(const struct fake_kernel *k, void *const *arg, unsigned blocks) {
  const struct body *b = k->ctx;
  struct table t = {pointer(arg[0]), number(arg[1]), 0, b->tile};
  void *const *grads = pointer(arg[3]);
  struct binned *parts = pointer(arg[4]);
  for (unsigned block = 0; block < blocks; block++) {
    binned_init(&parts[block]);
    for (uint32_t tile = block; tile < number(arg[2]); tile += blocks) {
      uint64_t begin, end;
      const struct tail *r = find_row(&t, tile, &begin, &end);
      if (grads[r->param] != NULL) {
        add_squares(&parts[block], b->storage, grads[r->param], r->first + begin,
                    end - begin);
      }
    }
  }
}

static struct binned merged(void *const *arg) {
  const struct binned *parts = pointer(arg[0]);
  struct binned sum;
  binned_init(&sum);
  for (uint32_t i = 0; i < number(arg[1]); i++) {
    binned_merge(&sum, &parts[i]);
  }
  return sum;
}

static void run_merge(const struct fake_kernel *k, void *const *arg, unsigned blocks) {
  (void)k, (void)blocks;
  *(struct binned *)pointer(arg[2]) = merged(arg);
}

static void run_judge(const struct fake_kernel *k, void *const *arg, unsigned blocks) {
  const struct body *b = k->ctx;
  struct rt_verdict *verdict = pointer(arg[3]);
  struct binned sum = merged(arg);
  double bound;
  (void)blocks;
  memcpy(&bound, arg[2], sizeof bound);
  double norm = sqrt(binned_value(&sum)), factor = bound / (norm + 1e-6);
  *verdict = (struct rt_verdict){.clip = (float)(factor > 1 ? 1 : factor),
                                 .skip = b->program->skips_nonfinite && sum.specials != 0,
                                 .norm = norm};
}

// ---- registering

static void set_phases(struct body *b, uint32_t kernel, const struct rt_phase *ph,
                       uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (ph[i].kind != RT_PHASE_MAP || ph[i].kernel != kernel) {
      continue;
    }
    b->n_ptrs = ph[i].n_tensors;
    b->scalar = ph[i].scalar;
    b->grad = NONE;
    for (uint32_t t = 0; t < b->n_ptrs; t++) {
      if (ph[i].tensor[t].kind == RT_TENSOR_GRAD) {
        b->grad = t;
        b->grad_bytes = rt_storage_bytes(ph[i].tensor[t].storage);
      }
    }
  }
}

static void set_map(struct body *b, const struct steprt_program *p, uint32_t kernel) {
  b->kernel.run = run_map;
  b->kernel.n_args = 7;
  memcpy(b->kernel.arg_bytes, (uint32_t[]){8, 4, 4, 8, 8, 8, 8}, 7 * sizeof(uint32_t));
  for (uint32_t r = 0; r < p->n_rules; r++) {
    set_phases(b, kernel, p->rule[r].phase, p->rule[r].n_phases);
    set_phases(b, kernel, p->rule[r].init, p->rule[r].n_init);
  }
}

// False: a kernel around products.
static bool set_sum(struct body *b, const struct steprt_program *p, uint32_t kernel) {
  for (uint32_t s = RT_F32; s <= RT_F16; s++) {
    if (p->squares[s] == kernel) {
      b->storage = s;
      b->kernel.run = run_squares;
      b->kernel.n_args = 5;
      memcpy(b->kernel.arg_bytes, (uint32_t[]){8, 4, 4, 8, 8}, 5 * sizeof(uint32_t));
      return true;
    }
  }
  b->kernel.run = kernel == p->merge ? run_merge : run_judge;
  b->kernel.n_args = kernel == p->merge ? 3 : 4;
  memcpy(b->kernel.arg_bytes, (uint32_t[]){8, 4, 8, 8}, 4 * sizeof(uint32_t));
  return kernel == p->merge || kernel == p->judge;
}

void fake_kernels_register(const struct steprt_program *p, const rt_map_fn *fn) {
  memset(bodies, 0, sizeof bodies);
  for (uint32_t k = 0; k < p->n_kernels && k < MOST; k++) {
    struct body *b = &bodies[k];
    *b = (struct body){.kernel = {.name = p->kernel[k].name, .ctx = b},
                       .program = p,
                       .fn = fn[k],
                       .n_scalars = p->kernel[k].n_scalars,
                       .tile = p->kernel[k].tile};
    bool known = true;
    if (fn[k] != NULL) {
      set_map(b, p, k);
    } else {
      known = set_sum(b, p, k);
    }
    if (known) {
      fake_cuda_register(&b->kernel);
    }
  }
}
