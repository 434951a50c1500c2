// How fast a device multiplies: square bf16 matrices through cuBLASLt, as an orthogonalize does.
#include "device/cuda/probe_products.h"

#include "core/handle.h"
#include "device/cuda/products.h"

#include <string.h>

enum { SIDE = 8192, WARM = 3, PRODUCTS = 10 };
static const uint64_t BYTES = (uint64_t)SIDE * SIDE * 2;

// Values between -2 and 2: products of zeros run faster than others.
static void fill(uint16_t *x, uint64_t n) {
  uint64_t random = 1;
  for (uint64_t i = 0; i < n; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    x[i] = (uint16_t)((random >> 63 << 15) | (0x3f00 + (random >> 40 & 0xff)));
  }
}

static steprt_status multiply(struct lt_blas *b, struct lt_shape *s,
                              const struct lt_operands *o, int n, void *stream,
                              struct why why) {
  for (int i = 0; i < n; i++) {
    int error = lt_multiply(b, s, LT_SQUARE, o, 1, stream);
    if (error) {
      rt_append(why.text, why.n, "cuBLASLt: status %d", error);
      return STEPRT_NO_LIBRARY;
    }
  }
  return STEPRT_OK;
}

static steprt_status time_products(struct rt_link *l, struct lt_blas *b,
                                   struct lt_shape *s, double *rate, struct why why) {
  const struct cu_way *w = &l->way[LINK_UP];
  const struct lt_operands o = {
      1, 0, w->at, w->at, w->at + BYTES, w->at + BYTES, w->at + 2 * BYTES};
  float ms = 0;
  void *host = link_host(l, LINK_UP);
  fill(host, BYTES / 2);
  RT_TRY(link_enqueue(l, LINK_UP, 0, BYTES, why));
  RT_TRY(multiply(b, s, &o, WARM, w->stream, why));
  LINK_TRY(l, event_record, w->begun, w->stream);
  RT_TRY(multiply(b, s, &o, PRODUCTS, w->stream, why));
  LINK_TRY(l, event_record, w->ended, w->stream);
  LINK_TRY(l, stream_synchronize, w->stream);
  LINK_TRY(l, event_elapsed, &ms, w->begun, w->ended);
  *rate = ms > 0 ? 2.0 * SIDE * SIDE * SIDE * PRODUCTS / (ms * 1e-3) : 0;
  return STEPRT_OK;
}

steprt_status probe_products(struct rt_link *l, double *rate, struct why why) {
  struct lt_blas b = {0};
  struct lt_shape s = {.rows = SIDE, .cols = SIDE, .compute = RT_BF16};
  if (l->room < 2 * BYTES + LT_WORK_BYTES) {
    rt_append(why.text, why.n, "the buffers are too small");
    return STEPRT_BAD_ARGUMENT;
  }
  steprt_status status = lt_open(&b, why.text, why.n);
  if (!status) {
    status = lt_shape_open(&b, &s, 1, why.text, why.n);
  }
  if (!status) {
    status = time_products(l, &b, &s, rate, why);
  }
  lt_shape_close(&b, &s);
  lt_close(&b);
  return status;
}
