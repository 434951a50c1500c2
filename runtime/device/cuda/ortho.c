// orthogonalize on a GPU: the program's own kernels for norm, scale and the way back, cuBLASLt for the products.
#include "device/cuda/ortho_int.h"

enum { MOST_BLOCKS = 64 }; // of one matrix

// What one call works with.
struct run {
  struct rt_device *d;
  struct rt_cuda_ortho *o;
  const struct rt_cuda_ortho_call *call;
  struct lt_shape *shape;
  const uint32_t *kernel; // of the program, by enum rt_ortho_kernel
  struct ortho_layout at;
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
  struct ortho_layout *l = &r->at;
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
                  .shape = ortho_find_shape(o, c->rows, c->cols, it->compute),
                  .kernel = find_kernels(d->program, c)};
  if (!r.shape || !r.kernel) {
    return rt_fail(d->rt, "internal error: an orthogonalize that open did not see");
  }
  r.at = ortho_lay_out(r.shape, c);
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
