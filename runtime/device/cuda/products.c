// Descriptors, algorithms and calls of the products.
#include "device/cuda/products.h"

#include "plan/work.h"

enum {
  CANDIDATES = 16,
  USUAL_BATCH =
      32, // algorithms are chosen for it where a matrix does not fill a GPU by itself
  LARGE_SIDE = 4096,
  ALIGNMENT = 16 // bytes of every operand: rows are multiples of 8 elements
};

static int type_of(uint64_t storage) {
  return storage == RT_BF16 ? LT_BF16 : LT_F32;
}

// A layout of `rows` x `cols`, column-major, for a batch whose size is set before each call.
static int make_layout(struct lt_blas *b, void **out, int type, uint64_t rows,
                       uint64_t cols, uint64_t ld) {
  int64_t stride = (int64_t)(ld * cols);
  int error = b->layout_create(out, type, rows, cols, (int64_t)ld);
  return error ? error : b->layout_set(*out, LT_LAYOUT_STRIDE, &stride, sizeof stride);
}

static int set_batch(struct lt_blas *b, const struct lt_call *c, uint64_t n) {
  int32_t batch = (int32_t)n;
  int error = b->layout_set(c->a, LT_LAYOUT_BATCH, &batch, sizeof batch);
  error = error ? error : b->layout_set(c->b, LT_LAYOUT_BATCH, &batch, sizeof batch);
  return error ? error : b->layout_set(c->c, LT_LAYOUT_BATCH, &batch, sizeof batch);
}

static int make_product(struct lt_blas *b, struct lt_call *c, bool transpose_a,
                        bool transpose_b) {
  int32_t transposed = LT_TRANSPOSED;
  int error = b->product_create(&c->product, LT_COMPUTE_F32, LT_F32);
  if (!error && transpose_a) {
    error = b->product_set(c->product, LT_PRODUCT_TRANSPOSE_A, &transposed,
                           sizeof transposed);
  }
  if (!error && transpose_b) {
    error = b->product_set(c->product, LT_PRODUCT_TRANSPOSE_B, &transposed,
                           sizeof transposed);
  }
  return error;
}

// Column-major: X is cols x rows.
static int make_call(struct lt_blas *b, struct lt_shape *s, enum lt_product product) {
  struct lt_call *c = &s->call[product];
  bool wide = s->rows <= s->cols, gram = product == LT_GRAM || product == LT_GRAM_F32;
  int type = type_of(s->compute), out = product == LT_GRAM_F32 ? LT_F32 : type;
  int error = make_product(b, c, gram && wide, gram && !wide);
  for (int i = 0; i < 3 && !error; i++) {
    void **layout = i == 0 ? &c->a : i == 1 ? &c->b : &c->c;
    bool is_x = gram ? i < 2 : product == LT_APPLY && (i == 2 || i == (wide ? 0 : 1));
    error = is_x ? make_layout(b, layout, type, s->cols, s->rows, s->ld)
                 : make_layout(b, layout, i == 2 ? out : type, s->m, s->m, s->side);
  }
  return error;
}

static int make_preference(struct lt_blas *b, void **out) {
  uint32_t reductions = 0, alignment = ALIGNMENT;
  uint64_t work = LT_WORK_BYTES;
  int error = b->preference_create(out);
  error = error ? error
                : b->preference_set(*out, LT_PREFER_REDUCTIONS, &reductions,
                                    sizeof reductions);
  error =
      error ? error : b->preference_set(*out, LT_PREFER_WORK_BYTES, &work, sizeof work);
  for (int i = 0; i < 4 && !error; i++) {
    error = b->preference_set(*out, LT_PREFER_ALIGN_A + i, &alignment, sizeof alignment);
  }
  return error;
}

static bool splits(struct lt_blas *b, const struct lt_algorithm *a) {
  int32_t pieces = 0;
  size_t written;
  int error = b->algorithm_get(a, LT_ALGORITHM_SPLIT_K, &pieces, sizeof pieces, &written);
  return error || pieces > 1;
}

// The first candidate that splits no sum and serves single matrices and the largest batch alike.
static bool choose(struct lt_blas *b, struct lt_call *c, const struct lt_choice *choice,
                   int n, uint64_t most) {
  for (int i = 0; i < n; i++) {
    struct lt_choice checked;
    const struct lt_algorithm *a = &choice[i].algorithm;
    if (choice[i].status || splits(b, a)) {
      continue;
    }
    bool serves = true;
    for (int k = 0; k < 2 && serves; k++) {
      serves = !set_batch(b, c, k ? most : 1) &&
               !b->check(b->handle, c->product, c->a, c->b, c->c, c->c, a, &checked) &&
               checked.work_bytes <= LT_WORK_BYTES;
    }
    if (serves) {
      c->algorithm = *a;
      return true;
    }
  }
  return false;
}

static int choose_algorithm(struct lt_blas *b, const struct lt_shape *s,
                            struct lt_call *c, uint64_t most, bool *found) {
  struct lt_choice choice[CANDIDATES] = {0};
  void *preference = NULL;
  int n = 0;
  int error = make_preference(b, &preference);
  error = error ? error : set_batch(b, c, s->m >= LARGE_SIDE ? 1 : USUAL_BATCH);
  error = error ? error
                : b->heuristic(b->handle, c->product, c->a, c->b, c->c, c->c, preference,
                               CANDIDATES, choice, &n);
  *found = !error && choose(b, c, choice, n, most);
  if (preference) {
    b->preference_destroy(preference);
  }
  return error;
}

steprt_status lt_shape_open(struct lt_blas *b, struct lt_shape *s, uint64_t most,
                            char *why, size_t n) {
  s->m = s->rows < s->cols ? s->rows : s->cols;
  s->k = s->rows < s->cols ? s->cols : s->rows;
  s->ld = rt_round_up(s->cols, 8);
  s->side = rt_round_up(s->m, 8);
  for (int i = 0; i < LT_N_PRODUCTS; i++) {
    bool found = false;
    int error = make_call(b, s, (enum lt_product)i);
    error = error ? error : choose_algorithm(b, s, &s->call[i], most, &found);
    if (error || !found) {
      rt_append(why, n, "cuBLASLt has no product for matrices of %llu x %llu (status %d)",
                (unsigned long long)s->rows, (unsigned long long)s->cols, error);
      return STEPRT_NO_LIBRARY;
    }
  }
  return STEPRT_OK;
}

void lt_shape_close(struct lt_blas *b, struct lt_shape *s) {
  for (int i = 0; i < LT_N_PRODUCTS; i++) {
    struct lt_call *c = &s->call[i];
    void *layout[] = {c->a, c->b, c->c};
    for (int k = 0; k < 3; k++) {
      if (layout[k]) {
        b->layout_destroy(layout[k]);
      }
    }
    if (c->product) {
      b->product_destroy(c->product);
    }
    *c = (struct lt_call){0};
  }
}

int lt_multiply(struct lt_blas *b, struct lt_shape *s, enum lt_product product,
                const struct lt_operands *o, uint64_t n, void *stream) {
  const struct lt_call *c = &s->call[product];
  int error = set_batch(b, c, n);
  return error ? error
               : b->multiply(b->handle, c->product, &o->alpha, o->a, c->a, o->b, c->b,
                             &o->beta, o->c, c->c, o->d, c->c, &c->algorithm, o->work,
                             LT_WORK_BYTES, stream);
}
