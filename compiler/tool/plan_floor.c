// The floor of a plan.
#include "tool/plan_floor.h"

#include <string.h>

enum rate {
#define RATE(id, cpu, gpu, what) RATE_##id,
#include "tool/rates.def"
#undef RATE
  N_RATES
};
static const double per_second[N_RATES][2] = {
#define RATE(id, cpu, gpu, what) {cpu, gpu},
#include "tool/rates.def"
#undef RATE
};

static double longer(double x, double y) {
  return x > y ? x : y;
}

struct plan_floor plan_floor_of(const struct plan_totals *t) {
  bool gpu = strncmp(t->plan->configuration.target, "cuda", 4) == 0;
  double up = (double)t->loaded, down = (double)t->stored, bytes = 0;
  for (uint32_t k = 0; k < RT_N_OP_KINDS; k++) {
    bool copies = k == RT_OP_LOAD || k == RT_OP_STORE;
    if (!copies &&
        k != RT_OP_ORTHO) { // an orthogonalize hides its bytes under its products
      bytes += (double)t->kind[k].bytes_read + (double)t->kind[k].bytes_written;
    }
  }
  struct plan_floor f = {
      .copies =
          longer(longer(up / per_second[RATE_UP][gpu], down / per_second[RATE_DOWN][gpu]),
                 (up + down) / per_second[RATE_BOTH][gpu]),
      .kernels = bytes / per_second[RATE_MEMORY][gpu],
      .products = (double)t->kind[RT_OP_ORTHO].flops / per_second[RATE_PRODUCTS][gpu],
      .rates = gpu ? "an H200 and its host" : "a modest CPU"};
  f.step = longer(f.copies, f.kernels + f.products);
  f.bound = f.copies >= f.kernels + f.products ? "copies"
            : f.products >= f.kernels          ? "matrix products"
                                               : "element-wise kernels";
  return f;
}
