// Order-free sums: any cut and order gives the same bits, and those bits are what the definition says.
#include "core/binned.h"
#include "core/convert.h"
#include "random.h"

#include <criterion/criterion.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 int128;

enum { N = 20000 };

enum kind {
  NORMAL,
  WIDE,
  TINY,
  SPIKES,
  DENORMAL,
  HUGE_VALUES,
  MIXED_ZERO,
  TIES,
  N_KINDS
};

static float draw(enum kind kind, uint64_t *seed) {
  float g = (float)random_normal(seed);
  switch (kind) {
  case NORMAL: return g;
  case WIDE: return ldexpf(g, (int)random_below(seed, 120) - 60);
  case TINY: return g * 1e-18f;
  case SPIKES: return random_below(seed, 1000) ? g : g * 1e18f;
  case DENORMAL: return ldexpf((float)random_below(seed, 100), -149);
  case HUGE_VALUES: return g < 0 ? -FLT_MAX : FLT_MAX;
  case MIXED_ZERO: return random_below(seed, 3) ? (g < 0 ? -0.0f : 0.0f) : g;
  case TIES: return ldexpf(1, (int)random_below(seed, 40) - 20) * (g < 0 ? -1 : 1);
  case N_KINDS: break;
  }
  return 0;
}

static void fill(float *x, int n, enum kind kind, uint64_t *seed) {
  for (int i = 0; i < n; i++) {
    x[i] = draw(kind, seed);
  }
}

static bool same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

// --- the definition, in integers --------------------------------------------------------------------------------

static int floor_div(int a, int b) {
  return a / b - (a % b < 0);
}

// x / 2^unit, rounded half away from zero.
static int128 round_to(double x, int unit) {
  int e;
  double m = frexp(fabs(x), &e); // |x| = m 2^53 * 2^(e - 53)
  int128 digits = (int128)ldexp(m, 53);
  int shift = unit - (e - 53);
  if (x == 0 || shift > 120) {
    return 0;
  }
  int128 q =
      shift <= 0 ? digits << -shift : (digits + ((int128)1 << (shift - 1))) >> shift;
  return x < 0 ? -q : q;
}

static double defined_sum(const double *term, int n) {
  int top = -1000;
  for (int i = 0; i < n; i++) {
    int e;
    frexp(term[i], &e);
    if (term[i] != 0 && floor_div(e, 40) > top) {
      top = floor_div(e, 40);
    }
  }
  int128 total = 0;
  for (int i = 0; i < n && top > -1000; i++) {
    int128 hi = round_to(term[i], 40 * top);
    double rest = term[i] - ldexp((double)hi, 40 * top); // exact
    total += hi * ((int128)1 << 40) + round_to(rest, 40 * (top - 1));
  }
  return ldexp((double)total, 40 * (top - 1));
}

// --- exact sums of squares: a fixed-point number of 2048 bits in units of 2^-400 ---------------------------------------

enum { LIMBS = 64, UNIT = -400 };
struct exact {
  uint32_t limb[LIMBS];
};

static void exact_add(struct exact *s, double x) { // x > 0, a multiple of 2^UNIT
  int e;
  double m = frexp(x, &e);
  int low = e - 53 - UNIT; // may be negative only where the digits below are 0
  uint64_t digits = (uint64_t)ldexp(m, 53);
  for (; low < 0; low++) {
    digits >>= 1;
  }
  int at = low / 32;
  int128 carry = (int128)digits << (low % 32);
  for (; carry; at++) {
    carry += s->limb[at];
    s->limb[at] = (uint32_t)carry;
    carry >>= 32;
  }
}

static long double exact_value(const struct exact *s) { // to 2^-64, relative
  long double v = 0;
  for (int i = LIMBS - 1; i >= 0; i--) {
    v += ldexpl(s->limb[i], 32 * i + UNIT);
  }
  return v;
}

// --- cuts and orders --------------------------------------------------------------------------------------------

// The sum over x by random cuts, each part added in a random way, parts merged in a random order.
static struct binned cut_and_merge(const float *x, uint64_t n, bool square,
                                   uint64_t *seed) {
  enum { MAX_PARTS = 64 };
  struct binned part[MAX_PARTS];
  uint64_t cut[MAX_PARTS + 1] = {0};
  uint64_t parts = 1 + random_below(seed, MAX_PARTS);
  for (uint64_t p = 0; p < parts; p++) {
    uint64_t left = n - cut[p];
    cut[p + 1] =
        p + 1 == parts
            ? n
            : cut[p] + random_below(seed, left / (parts - p) * 2 + 1) % (left + 1);
    binned_init(&part[p]);
    const float *from = x + cut[p];
    uint64_t len = cut[p + 1] - cut[p];
    if (random_below(seed, 4) == 0) {
      for (uint64_t i = len; i-- > 0;) {
        binned_add(&part[p],
                   square ? (double)from[i] * (double)from[i] : (double)from[i]);
      }
    } else if (square) {
      binned_add_squares_f32(&part[p], from, len);
    } else {
      binned_add_f32(&part[p], from, len);
    }
  }
  for (; parts > 1; parts--) {
    uint64_t a = random_below(seed, parts), b = random_below(seed, parts - 1);
    b += b >= a;
    binned_merge(&part[a], &part[b]);
    part[b] = part[parts - 1];
    if (a == parts - 1) {
      part[b] = part[a];
    }
  }
  return part[0];
}

static void shuffle(float *x, int n, uint64_t *seed) {
  for (int i = n - 1; i > 0; i--) {
    int j = (int)random_below(seed, (uint64_t)i + 1);
    float t = x[i];
    x[i] = x[j];
    x[j] = t;
  }
}

Test(binned, any_cut_and_order_gives_the_defined_bits) {
  static float x[N];
  static double term[N];
  uint64_t seed = 1;
  for (int kind = 0; kind < N_KINDS; kind++) {
    for (int square = 0; square < 2; square++) {
      int n = 1 + (int)random_below(&seed, N);
      fill(x, n, (enum kind)kind, &seed);
      for (int i = 0; i < n; i++) {
        term[i] = square ? (double)x[i] * (double)x[i] : (double)x[i];
      }
      double expected = defined_sum(term, n);
      struct binned first = cut_and_merge(x, (uint64_t)n, square, &seed);
      cr_assert(same_bits(binned_value(&first), expected),
                "kind %d square %d: %a, not %a", kind, square, binned_value(&first),
                expected);
      for (int trial = 0; trial < 150; trial++) {
        if (trial % 10 == 0) {
          shuffle(x, n, &seed);
        }
        struct binned b = cut_and_merge(x, (uint64_t)n, square, &seed);
        cr_assert_arr_eq(&b, &first, sizeof b, "kind %d square %d trial %d", kind, square,
                         trial);
      }
    }
  }
}

Test(binned, error_is_within_half_a_unit_per_term) {
  static float x[N];
  uint64_t seed = 2;
  for (int kind = 0; kind < N_KINDS; kind++) {
    fill(x, N, (enum kind)kind, &seed);
    struct exact exact = {0};
    struct binned b;
    double most = 0;
    binned_init(&b);
    binned_add_squares_f32(&b, x, N);
    for (int i = 0; i < N; i++) {
      double square = (double)x[i] * (double)x[i];
      most = fmax(most, square);
      if (square > 0) {
        exact_add(&exact, square);
      }
    }
    int e;
    frexp(most, &e);
    long double unit = ldexpl(1, 40 * (floor_div(e, 40) - 1)), ref = exact_value(&exact);
    long double bound = N / 2 * unit + ref * 0x1p-53L + ref * 0x1p-60L;
    cr_assert_leq(fabsl(binned_value(&b) - ref), bound, "kind %d", kind);
  }
}

Test(binned, long_sums_carry) {
  enum { M = 1 << 22 };
  float *x = malloc(M * sizeof *x);
  for (int i = 0; i < M; i++) {
    x[i] = 0x1.fffffep63f; // just below a bin's upper end when squared
  }
  struct binned b, all;
  binned_init(&b);
  binned_add_squares_f32(&b, x, M);
  double square = (double)x[0] * (double)x[0];
  cr_assert(same_bits(binned_value(&b), square * (double)M));
  binned_init(&all);
  for (int k = 0; k < 4096; k++) {
    binned_merge(&all, &b);
  }
  cr_assert(same_bits(binned_value(&all), square * (double)M * 4096));
  free(x);
}

// 2^49 units, half of what a carry counts: reached from below and from above.
Test(binned, one_sum_has_one_representation) {
  struct binned up, down;
  binned_init(&up);
  binned_init(&down);
  for (int i = 0; i < 3 * 2048; i++) {
    binned_add(&down, 0x1p38);
  }
  for (int i = 0; i < 2 * 2048; i++) {
    binned_add(&down, -0x1p38);
  }
  for (int i = 0; i < 2048; i++) {
    binned_add(&up, 0x1p38);
  }
  cr_assert_arr_eq(&up, &down, sizeof up);
  cr_assert(same_bits(binned_value(&up), 0x1p49));
}

Test(binned, opposite_terms_cancel) {
  struct binned b;
  binned_init(&b);
  for (int i = 0; i < 100; i++) {
    binned_add(&b, 1.25);
    binned_add(&b, -1.25);
  }
  binned_add(&b, 0x1p-30);
  cr_assert(same_bits(binned_value(&b), 0x1p-30));
}

Test(binned, bf16_squares_equal_those_of_the_widened_values) {
  static uint16_t h[N];
  static float x[N];
  uint64_t seed = 3;
  for (int n = 0; n < 300; n++) {
    for (int i = 0; i < n; i++) {
      h[i] = (uint16_t)(random_u64(&seed) &
                        (n % 2 ? 0xbfff : 0x807f)); // finite; denormal when even
      x[i] = rt_bf16_to_f32(h[i]);
    }
    struct binned a, b;
    binned_init(&a);
    binned_init(&b);
    binned_add_squares_bf16(&a, h, (uint64_t)n);
    binned_add_squares_f32(&b, x, (uint64_t)n);
    cr_assert_arr_eq(&a, &b, sizeof a);
  }
}

// IEEE 754 binary16 by its definition.
static double f16_value(uint32_t h) {
  int exponent = (int)(h >> 10 & 31), mantissa = (int)(h & 0x3ff);
  double magnitude = exponent == 31  ? mantissa != 0 ? (double)NAN : (double)INFINITY
                     : exponent == 0 ? ldexp(mantissa, -24)
                                     : ldexp(1024 + mantissa, exponent - 25);
  return h >> 15 ? -magnitude : magnitude;
}

Test(binned, squares_of_f16_are_those_of_the_same_values) {
  struct binned all, one;
  binned_init(&all);
  binned_init(&one);
  static uint16_t h[0x10000];
  for (uint32_t i = 0; i < 0x10000; i++) {
    double want = f16_value(i), got = (double)rt_f16_to_f32((uint16_t)i);
    cr_assert(same_bits(got, want) || (isnan(got) && isnan(want)), "%x: %a", i, got);
    uint16_t back = rt_f32_to_f16((float)got);
    cr_assert(back == i || (isnan(want) && back == 0x7e00), "%x -> %x", i, back);
    h[i] = isfinite(want) ? (uint16_t)i : 0;
    binned_add(&one, isfinite(want) ? want * want : 0);
  }
  for (uint32_t i = 0; i < 0x7c00; i++) { // halfway to the next: to even, Inf is even
    double next = i == 0x7bff ? 65536 : f16_value(i + 1);
    float half = (float)((f16_value(i) + next) / 2);
    cr_assert_eq(rt_f32_to_f16(half), i + i % 2, "%x", i);
    cr_assert_eq(rt_f32_to_f16(-nextafterf(half, 0)), i | 0x8000, "%x", i);
    cr_assert_eq(rt_f32_to_f16(nextafterf(half, 1e6f)), i + 1, "%x", i);
  }
  binned_add_squares_f16(&all, h, 0x10000);
  cr_assert_arr_eq(&all, &one, sizeof all);
}

Test(binned, empty_and_zero_sums_are_zero) {
  struct binned b;
  binned_init(&b);
  cr_assert(same_bits(binned_value(&b), 0.0));
  float zeros[20] = {-0.0f};
  binned_add_f32(&b, zeros, 20);
  binned_add_squares_f32(&b, zeros, 0);
  binned_merge(&b, &b);
  cr_assert(same_bits(binned_value(&b), 0.0));
}

Test(binned, nan_and_infinities) {
  static const struct {
    float a, b;
    double sum, squares;
  } rows[] = {
      {NAN, 1, NAN, NAN},
      {INFINITY, 1, INFINITY, INFINITY},
      {-INFINITY, 1, -INFINITY, INFINITY},
      {INFINITY, -INFINITY, NAN, INFINITY},
      {-INFINITY, NAN, NAN, NAN},
  };
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    for (int at = 0; at < 40; at++) {
      float x[40] = {0};
      x[39 - at] = rows[r].a;
      x[at == 0 ? 1 : (39 - at + 1) % 40] = rows[r].b;
      struct binned sum, squares, scalar;
      binned_init(&sum);
      binned_init(&squares);
      binned_init(&scalar);
      binned_add_f32(&sum, x, 40);
      binned_add_squares_f32(&squares, x, 40);
      for (int i = 0; i < 40; i++) {
        binned_add(&scalar, (double)x[i]);
      }
      double got[3] = {binned_value(&sum), binned_value(&squares), binned_value(&scalar)};
      double expected[3] = {rows[r].sum, rows[r].squares, rows[r].sum};
      for (int k = 0; k < 3; k++) {
        cr_assert(isnan(expected[k]) ? isnan(got[k]) : got[k] == expected[k],
                  "row %zu at %d: %g, not %g", r, at, got[k], expected[k]);
      }
    }
  }
}
