// A memory copy as a yardstick.
#include "tool/copy.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

struct copy {
  char *from, *to;
  size_t bytes;
  uint32_t threads;
};

// One contiguous part per thread, so that the C library sees a large copy and streams past the caches.
static void copy_part(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct copy *c = ctx;
  size_t begin = c->bytes / c->threads * item;
  size_t end = item + 1 == c->threads ? c->bytes : begin + c->bytes / c->threads;
  memcpy(c->to + begin, c->from + begin, end - begin);
}

static double measure(struct rt_team *team, struct copy *c, uint64_t times) {
  enum { RUNS = 3 };
  double best = 0;
  for (int run = 0; run < RUNS; run++) {
    double start = clock_now();
    for (uint64_t i = 0; i < times; i++) {
      rt_team_run(team, c->threads, copy_part, c);
    }
    double took = clock_now() - start;
    best = run == 0 || took < best ? took : best;
  }
  return best;
}

double copy_seconds(struct rt_team *team, uint64_t bytes) {
  enum { MOST = 512 << 20, LEAST = 1 << 20 };
  uint64_t half = bytes / 2, size = half < LEAST ? LEAST : half < MOST ? half : MOST;
  uint64_t times = half < size ? 1 : (half + size / 2) / size;
  struct copy c = {.from = malloc(size),
                   .to = malloc(size),
                   .bytes = size,
                   .threads = rt_team_size(team)};
  double seconds = 0;
  if (c.from != NULL && c.to != NULL) {
    memset(c.from, 1, size); // pages of their own, not the shared zero page
    memset(c.to, 2, size);
    seconds = measure(team, &c, times) * (double)half / (double)(times * size);
  }
  free(c.from);
  free(c.to);
  return seconds;
}
