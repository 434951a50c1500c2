// orthogonalize on a GPU: the program's own kernels for norm, scale and the way back, cuBLASLt for the products.
//
// Workspace of n matrices (plan/work.h): X and its successor Y, squares A and B. Y first holds the parts of the norms, and
// AOL's factors; AOL's unrounded Gram matrices take the place of A and B.
#include "device/cuda/cuda.h"
#include "device/cuda/products.h"

#include "plan/work.h"

enum {
  PART_ELEMENTS = 1 << 16, // of a norm's part
  MOST_PARTS = 64,
  MOST_BLOCKS = 64,     // of one matrix in the other kernels
  MOST_MATRICES = 65535 // of one call: the second dimension of a grid
};

struct rt_cuda_ortho {
  struct lt_blas blas;
  struct lt_shape *shape;
  uint32_t n_shapes;
};

// Where the arrays of one call lie, and how it is cut.
struct layout {
  uint64_t x, y, a, b, factor;
  uint64_t work; // of the products
  uint32_t n_parts;
};

static struct layout lay_out(const struct lt_shape *s,
                             const struct rt_cuda_ortho_call *c) {
  uint64_t w = rt_storage_bytes((uint32_t)s->compute);
  uint64_t m = rt_round_up(s->m, 8), k = rt_round_up(s->k, 8);
  struct layout l = {.x = c->work};
  l.y = l.x + rt_round_up(c->n * m * k * w, 256);
  l.a = l.y + rt_round_up(c->n * m * k * w, 256);
  l.b = l.a + rt_round_up(c->n * m * m * w, 256);
  l.work = l.b + rt_round_up(c->n * m * m * w, 256);
  uint64_t parts = (s->rows * s->cols + PART_ELEMENTS - 1) / PART_ELEMENTS;
  l.n_parts = parts > MOST_PARTS ? MOST_PARTS : (uint32_t)parts;
  l.factor = l.y + rt_round_up(c->n * l.n_parts * RT_BINS_BYTES, 256);
  return l;
}

// ---- open

static uint64_t most_matrices(const struct rt_plan *p, const struct rt_op *op) {
  uint64_t n = 0;
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    n += p->row[i].numel / (op->rows * op->cols);
  }
  return n;
}

static struct lt_shape *find_shape(struct rt_cuda_ortho *o, uint64_t rows, uint64_t cols,
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
    struct lt_shape *s = find_shape(o, op->rows, op->cols, compute);
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
    struct lt_shape *s =
        find_shape(o, op->rows, op->cols, d->program->iteration[op->kernel].compute);
    struct rt_cuda_ortho_call c = {.n = 1, .work = cu_address(d, op->work)};
    struct layout l = lay_out(s, &c);
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

// ---- run

// What one call works with.
struct run {
  struct rt_device *d;
  struct rt_cuda_ortho *o;
  const struct rt_cuda_ortho_call *call;
  struct lt_shape *shape;
  const uint32_t *kernel; // of the program, by enum rt_ortho_kernel
  struct layout at;
};

static const uint32_t *find_kernels(const struct steprt_program *p,
                                    const struct rt_cuda_ortho_call *c) {
  uint32_t operand = c->operand_bytes == 2 ? RT_BF16 : RT_F32;
  const struct rt_iteration *it = c->iteration;
  bool cast_first = it->compute == RT_BF16 && operand == RT_F32 && !it->norm_in_f32;
  for (uint32_t i = 0; i < p->n_ortho; i++) {
    const struct rt_ortho_set *s = &p->ortho[i];
    if (s->operand == operand && s->compute == it->compute &&
        s->cast_first == cast_first) {
      return s->kernel;
    }
  }
  return NULL;
}

static steprt_status launch(struct run *r, enum rt_ortho_kernel kernel, uint64_t blocks,
                            uint64_t n, void **parameters) {
  uint32_t id = r->kernel[kernel];
  r->d->n_launched++;
  CU_TRY(r->d, launch, r->d->kernel[id].function, (unsigned)blocks, (unsigned)n, 1,
         r->d->program->kernel[id].block, 1, 1, 0, r->call->stream, parameters, NULL);
  return STEPRT_OK;
}

static uint64_t row_blocks(const struct lt_shape *s) {
  return s->rows < MOST_BLOCKS ? s->rows : MOST_BLOCKS;
}

// X := the operands of all ranges, normalized: by their norm, or for AOL by a power of two.
static steprt_status normalize(struct run *r) {
  const struct rt_cuda_ortho_call *c = r->call;
  const struct rt_iteration *it = c->iteration;
  uint64_t rows = c->rows, cols = c->cols, ld = r->shape->ld, numel = rows * cols;
  uint64_t w = rt_storage_bytes(it->compute), done = 0;
  double safety = it->safety, floor = it->floor, eps = it->eps;
  uint32_t by_power = it->norm == RT_NORM_AOL;
  for (uint32_t i = 0; i < c->n_list; done += c->list[i].n, i++) {
    uint64_t in = c->list[i].operand, x = r->at.x + done * rows * ld * w;
    uint64_t parts = r->at.y + done * r->at.n_parts * RT_BINS_BYTES;
    void *norm[] = {&in, &numel, &parts};
    void *scale[] = {&in,     &rows,  &cols, &ld,       &parts, &r->at.n_parts,
                     &safety, &floor, &eps,  &by_power, &x};
    RT_TRY(launch(r, RT_ORTHO_NORM, r->at.n_parts, c->list[i].n, norm));
    RT_TRY(launch(r, RT_ORTHO_SCALE, row_blocks(r->shape), c->list[i].n, scale));
  }
  return STEPRT_OK;
}

static steprt_status multiply(struct run *r, enum lt_product product,
                              const struct lt_operands *o) {
  r->d->n_launched++;
  int error = lt_multiply(&r->o->blas, r->shape, product, o, r->call->n, r->call->stream);
  return error ? rt_fail(r->d->rt, "cuBLASLt: status %d for %llu matrices of %llu x %llu",
                         error, (unsigned long long)r->call->n,
                         (unsigned long long)r->call->rows,
                         (unsigned long long)r->call->cols)
               : STEPRT_OK;
}

// AOL: rows of the wide form scaled by their factors.
static steprt_status rescale(struct run *r) {
  uint64_t rows = r->call->rows, cols = r->call->cols, ld = r->shape->ld;
  uint64_t m = r->shape->m, side = r->shape->side;
  double floor = r->call->iteration->floor;
  const struct lt_operands gram = {1, 0, r->at.x, r->at.x, r->at.a, r->at.a, r->at.work};
  void *factor[] = {&r->at.a, &m, &side, &r->at.y, &r->at.n_parts, &floor, &r->at.factor};
  void *by[] = {&r->at.factor, &rows, &cols, &ld, &r->at.x};
  RT_TRY(multiply(r, LT_GRAM_F32, &gram));
  RT_TRY(launch(r, RT_ORTHO_FACTOR, (m + 255) / 256, r->call->n, factor));
  return launch(r, RT_ORTHO_RESCALE, row_blocks(r->shape), r->call->n, by);
}

// One step, X into `to`; X is then there.
static steprt_status step(struct run *r, const double abc[3], uint64_t to) {
  struct layout *l = &r->at;
  float a = (float)abc[0], b = (float)abc[1], c = (float)abc[2];
  bool wide = r->shape->rows <= r->shape->cols;
  uint64_t square = c == 0 ? l->a : l->b;
  const struct lt_operands gram = {1, 0, l->x, l->x, l->a, l->a, l->work};
  const struct lt_operands poly = {c, b, l->a, l->a, l->a, l->b, l->work};
  const struct lt_operands apply = {
      c == 0 ? b : 1, a, wide ? l->x : square, wide ? square : l->x, l->x, to, l->work};
  RT_TRY(multiply(r, LT_GRAM, &gram));
  if (c != 0) {
    RT_TRY(multiply(r, LT_SQUARE, &poly));
  }
  RT_TRY(multiply(r, LT_APPLY, &apply));
  l->y = l->x;
  l->x = to;
  return STEPRT_OK;
}

// The last product may write where the results belong: they lie like X.
static bool is_direct(const struct run *r) {
  return r->call->n_list == 1 && r->shape->ld == r->call->cols &&
         r->call->list[0].result % 16 == 0;
}

static steprt_status finish(struct run *r) {
  const struct rt_cuda_ortho_call *c = r->call;
  uint64_t rows = c->rows, cols = c->cols, ld = r->shape->ld, done = 0;
  for (uint32_t i = 0; i < c->n_list; done += c->list[i].n, i++) {
    uint64_t out = c->list[i].result;
    uint64_t x = r->at.x + done * rows * ld * c->result_bytes;
    void *parameters[] = {&out, &rows, &cols, &ld, &x};
    RT_TRY(launch(r, RT_ORTHO_FINISH, row_blocks(r->shape), c->list[i].n, parameters));
  }
  return STEPRT_OK;
}

steprt_status rt_cuda_ortho_run(struct rt_device *d, struct rt_cuda_ortho *o,
                                const struct rt_cuda_ortho_call *c) {
  const struct rt_iteration *it = c->iteration;
  struct run r = {.d = d,
                  .o = o,
                  .call = c,
                  .shape = find_shape(o, c->rows, c->cols, it->compute),
                  .kernel = find_kernels(d->program, c)};
  if (!r.shape || !r.kernel) {
    return rt_fail(d->rt, "internal error: an orthogonalize that open did not see");
  }
  r.at = lay_out(r.shape, c);
  bool direct = is_direct(&r);
  RT_TRY(normalize(&r));
  if (it->norm == RT_NORM_AOL) {
    RT_TRY(rescale(&r));
  }
  for (uint32_t i = 0; i < it->n_steps; i++) {
    bool last = i + 1 == it->n_steps;
    RT_TRY(step(&r, it->abc[i], last && direct ? c->list[0].result : r.at.y));
  }
  return direct ? STEPRT_OK : finish(&r);
}
