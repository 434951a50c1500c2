// Medians.
#include "tool/spread.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct spread spread_of(struct arena *a, const double *x, uint64_t n) {
  double *sorted = ARENA_ARRAY(a, double, n);
  for (uint64_t i = 0; i < n; i++) {
    sorted[i] = x[i];
  }
  qsort(sorted, n, sizeof *sorted, by_value);
  double middle = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  return (struct spread){middle, sorted[0], sorted[n - 1]};
}
