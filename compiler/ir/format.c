// Floating-point storages as numbers.
#include "ir/value.h"

#include <math.h>
#include <string.h>

struct float_format storage_format(enum storage s) {
  static const struct float_format format[] = {
      [ST_F32] = {24, -126, 0x1.fffffep127},
      [ST_BF16] = {8, -126, 0x1.fep127},
      [ST_F16] = {11, -14, 65504},
      [ST_F8E4M3] = {4, -6, 448},
      [ST_F8E5M2] = {3, -14, 57344},
      [ST_Q8] = {0, 0, 0},
      [ST_Q8U] = {0, 0, 0},
  };
  return format[s];
}

// The exponent is read from the bits: this runs for every value that the interpreter bounds.
double format_half_ulp(struct float_format f, double x) {
  if (!isfinite(x)) {
    return INFINITY;
  }
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int e = (int)(bits >> 52 & 0x7ff) - 1023;
  e = (e > f.min_exp ? e : f.min_exp) - f.bits;
  bits = (uint64_t)(e + 1023) << 52;
  memcpy(&x, &bits, sizeof x);
  return x;
}

bool storage_holds(enum storage s, double x) {
  if (s == ST_Q8 || s == ST_Q8U) {
    return x == 0;
  }
  if (isnan(x) || isinf(x)) {
    return s != ST_F8E4M3 || isnan(x);
  }
  struct float_format f = storage_format(s);
  double ulp = 2 * format_half_ulp(f, x);
  return fabs(x) <= f.max && x / ulp == trunc(x / ulp);
}
