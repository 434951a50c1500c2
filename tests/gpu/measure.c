// Time of launches.
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { WARM = 3, ROUNDS = 21 };
static const uint64_t past_caches =
    200u << 20; // bytes: three times the second-level cache of an H200

struct times {
  float ms[ROUNDS];
};

struct measurement {
  struct mirror *mirror;
  struct mirror_launch launch;
  uint64_t bytes;    // that the launch moves, read and written
  uint64_t from, to; // of the copy: bytes / 2 each
  void *start, *end; // events
};

static float time_one(struct measurement *x, bool copy) {
  const struct gpu *g = x->mirror->gpu;
  float ms = 0;
  GPU(g, event_record(x->start, NULL));
  if (copy) {
    GPU(g, copy(x->to, x->from, x->bytes / 2, NULL));
  } else {
    mirror_launch(x->mirror, &x->launch);
  }
  GPU(g, event_record(x->end, NULL));
  GPU(g, event_synchronize(x->end));
  GPU(g, event_elapsed(&ms, x->start, x->end));
  return ms;
}

static int by_value(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

// Bytes over the median time in TB/s, then the slowest and fastest round.
static double rate(const struct measurement *x, struct times *t, double *least,
                   double *most) {
  double tb = (double)x->bytes * 1e-12;
  qsort(t->ms, ROUNDS, sizeof *t->ms, by_value);
  *least = tb / ((double)t->ms[ROUNDS - 1] * 1e-3);
  *most = tb / ((double)t->ms[0] * 1e-3);
  return tb / ((double)t->ms[ROUNDS / 2] * 1e-3);
}

static void print(const struct measurement *x, struct times *copy, struct times *launch) {
  double c_least, c_most, least, most;
  double c = rate(x, copy, &c_least, &c_most), k = rate(x, launch, &least, &most);
  const struct cuda_kernel *kernel = x->launch.kernel;
  (void)printf(
      "  %-28.*s %8.1f MB %9.1f us  %.2f TB/s (%.2f-%.2f)  copy %.2f TB/s (%.2f-%.2f)  "
      "%.1f %% of the copy\n",
      STR_FMT(kernel->name), (double)x->bytes * 1e-6,
      (double)launch->ms[ROUNDS / 2] * 1e3, k, least, most, c, c_least, c_most,
      100 * k / c);
}

static void measure(struct mirror *m, struct mirror_launch launch) {
  const struct gpu *g = m->gpu;
  struct measurement x = {.mirror = m, .launch = launch};
  struct times copy, kernel;
  x.bytes = launch.elements * (launch.kernel->bytes_read + launch.kernel->bytes_written);
  if (x.bytes < past_caches) {
    return;
  }
  x.from = gpu_new(g, x.bytes / 2);
  x.to = gpu_new(g, x.bytes / 2);
  GPU(g, event_create(&x.start, 0));
  GPU(g, event_create(&x.end, 0));
  for (int i = -WARM; i < ROUNDS; i++) {
    float c = time_one(&x, true), k = time_one(&x, false);
    if (i >= 0) {
      copy.ms[i] = c;
      kernel.ms[i] = k;
    }
  }
  print(&x, &copy, &kernel);
  GPU(g, event_destroy(x.start));
  GPU(g, event_destroy(x.end));
  GPU(g, mem_free(x.from));
  GPU(g, mem_free(x.to));
}

void measure_launches(struct mirror *m) {
  for (uint32_t i = 0; i < m->text->n_kernels; i++) {
    const struct cuda_kernel *k = &m->text->kernel[i];
    if (k->kind != CUDA_MAP && k->kind != CUDA_SQUARES) {
      continue;
    }
    struct mirror_launch l =
        k->kind == CUDA_MAP ? mirror_prepare(m, k, 0) : mirror_prepare_squares(m, k);
    measure(m, l);
    mirror_launch_free(m, &l);
  }
}
