// orthogonalize on a GPU: its workspace, and what open makes: cuBLASLt, an algorithm per shape, every product run once.
#include "device/cuda/ortho_int.h"

#include "plan/work.h"

enum {
  PART_ELEMENTS = 1 << 16, // of a norm's part
  MOST_PARTS = 64,
  MOST_MATRICES = 65535 // of one call: the second dimension of a grid
};

struct ortho_layout ortho_lay_out(const struct lt_shape *s,
                                  const struct rt_cuda_ortho_call *c) {
  uint64_t w = rt_storage_bytes((uint32_t)s->compute);
  uint64_t m = rt_round_up(s->m, 8), k = rt_round_up(s->k, 8);
  struct ortho_layout l = {.x = c->work};
  l.y = l.x + rt_round_up(c->n * m * k * w, 256);
  l.a = l.y + rt_round_up(c->n * m * k * w, 256);
  l.b = l.a + rt_round_up(c->n * m * m * w, 256);
  l.work = l.b + rt_round_up(c->n * m * m * w, 256);
  uint64_t parts = (s->rows * s->cols + PART_ELEMENTS - 1) / PART_ELEMENTS;
  l.n_parts = parts > MOST_PARTS ? MOST_PARTS : (uint32_t)parts;
  // Close behind: of the smallest matrices Y has room for no more.
  l.factor = l.y + c->n * l.n_parts * RT_BINS_BYTES;
  return l;
}

static uint64_t most_matrices(const struct rt_plan *p, const struct rt_op *op) {
  uint64_t n = 0;
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    n += p->row[i].numel / (op->rows * op->cols);
  }
  return n;
}

struct lt_shape *ortho_find_shape(struct rt_cuda_ortho *o, uint64_t rows, uint64_t cols,
                                  uint32_t compute) {
  for (uint32_t i = 0; i < o->n_shapes; i++) {
    struct lt_shape *s = &o->shape[i];
    if (s->rows == rows && s->cols == cols && s->compute == compute) {
      return s;
    }
  }
  return NULL;
}

// The shapes of the plan; `most` receives the largest batch of each.
static steprt_status list_shapes(struct rt_device *d, struct rt_cuda_ortho *o,
                                 uint64_t *most) {
  for (uint32_t i = 0; i < d->plan->n_ops; i++) {
    const struct rt_op *op = &d->plan->op[i];
    if (op->kind != RT_OP_ORTHO) {
      continue;
    }
    uint32_t compute = d->program->iteration[op->kernel].compute;
    uint64_t n = most_matrices(d->plan, op);
    struct lt_shape *s = ortho_find_shape(o, op->rows, op->cols, compute);
    if (n > MOST_MATRICES) {
      return rt_refuse(d->rt, STEPRT_BAD_PROGRAM,
                       "operation %u orthogonalizes %llu matrices at once, at most %d", i,
                       (unsigned long long)n, MOST_MATRICES);
    }
    if (!s) {
      s = &o->shape[o->n_shapes++];
      *s = (struct lt_shape){.rows = op->rows, .cols = op->cols, .compute = compute};
    }
    most[s - o->shape] = n > most[s - o->shape] ? n : most[s - o->shape];
  }
  return STEPRT_OK;
}

static uint32_t count_orthos(const struct rt_plan *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_ops; i++) {
    n += p->op[i].kind == RT_OP_ORTHO;
  }
  return n;
}

static steprt_status open_shapes(struct rt_device *d, struct rt_cuda_ortho *o) {
  char why[640] = "";
  uint32_t n = count_orthos(d->plan);
  o->shape = rt_memory_alloc(&d->rt->memory, n, sizeof *o->shape);
  uint64_t *most = rt_memory_alloc(&d->rt->memory, n, sizeof *most);
  if (!o->shape || !most) {
    return rt_refuse(d->rt, STEPRT_NO_MEMORY, "out of memory");
  }
  steprt_status s = lt_open(&o->blas, why, sizeof why);
  if (s) {
    return rt_refuse(d->rt, s, "no cuBLASLt for matrix products: %s", why);
  }
  RT_TRY(list_shapes(d, o, most));
  for (uint32_t i = 0; i < o->n_shapes; i++) {
    s = lt_shape_open(&o->blas, &o->shape[i], most[i], why, sizeof why);
    if (s) {
      return rt_refuse(d->rt, s, "%s", why);
    }
  }
  rt_note(d->rt, "products by %s (%s)", o->blas.library.path, o->blas.library.how);
  return STEPRT_OK;
}

// Every product once, on a matrix of the arena as it is, so that no step loads their kernels.
static steprt_status warm_up(struct rt_device *d, struct rt_cuda_ortho *o) {
  for (uint32_t i = 0; i < d->plan->n_ops; i++) {
    const struct rt_op *op = &d->plan->op[i];
    if (op->kind != RT_OP_ORTHO) {
      continue;
    }
    struct lt_shape *s = ortho_find_shape(o, op->rows, op->cols,
                                          d->program->iteration[op->kernel].compute);
    struct rt_cuda_ortho_call c = {.n = 1, .work = cu_address(d, op->work)};
    struct ortho_layout l = ortho_lay_out(s, &c);
    const struct lt_operands operands[LT_N_PRODUCTS] = {
        [LT_GRAM] = {1, 0, l.x, l.x, l.a, l.a, l.work},
        [LT_GRAM_F32] = {1, 0, l.x, l.x, l.a, l.a, l.work},
        [LT_SQUARE] = {1, 1, l.a, l.a, l.a, l.b, l.work},
        [LT_APPLY] = {1, 1, s->rows <= s->cols ? l.x : l.b,
                      s->rows <= s->cols ? l.b : l.x, l.x, l.y, l.work}};
    for (int p = 0; p < LT_N_PRODUCTS; p++) {
      int error = lt_multiply(&o->blas, s, (enum lt_product)p, &operands[p], 1,
                              d->lane[RT_LANE_COMPUTE]);
      if (error) {
        return rt_refuse(d->rt, STEPRT_NO_LIBRARY,
                         "cuBLASLt does not multiply matrices of %llu x %llu: status %d",
                         (unsigned long long)op->rows, (unsigned long long)op->cols,
                         error);
      }
    }
  }
  CU_TRY(d, stream_synchronize, d->lane[RT_LANE_COMPUTE]);
  return STEPRT_OK;
}

steprt_status rt_cuda_ortho_open(struct rt_device *d, struct rt_cuda_ortho **out) {
  struct rt_cuda_ortho *o = *out = rt_memory_alloc(&d->rt->memory, 1, sizeof *o);
  if (!o) {
    return rt_refuse(d->rt, STEPRT_NO_MEMORY, "out of memory");
  }
  RT_TRY(open_shapes(d, o));
  return warm_up(d, o);
}

void rt_cuda_ortho_close(struct rt_device *d, struct rt_cuda_ortho *o) {
  (void)d;
  if (!o) {
    return;
  }
  for (uint32_t i = 0; i < o->n_shapes; i++) {
    lt_shape_close(&o->blas, &o->shape[i]);
  }
  lt_close(&o->blas);
}
