// The progress bar.
#include "tool/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 32 };

struct progress progress_begin(uint64_t total) {
  struct progress p = {.on = isatty(2) == 1 && total > 1, .total = total};
  p.started = p.drawn = clock_now();
  return p;
}

void progress_show(struct progress *p, uint64_t done) {
  double now = clock_now();
  if (!p->on || (now - p->drawn < 0.1 && done != p->total)) {
    return;
  }
  p->drawn = now;
  char bar[WIDTH + 1] = {0};
  for (uint64_t i = 0; i < WIDTH; i++) {
    bar[i] = i * p->total < done * WIDTH ? '#' : '.';
  }
  double left =
      done == 0 ? 0 : (now - p->started) / (double)done * (double)(p->total - done);
  (void)fprintf(stderr, "\r[%s] step %llu of %llu, %.0f s left \033[K", bar,
                (unsigned long long)done, (unsigned long long)p->total, left);
}

void progress_end(struct progress *p) {
  if (p->on) {
    (void)fputs("\r\033[K", stderr);
    p->on = false;
  }
}
