// Binned sums over arrays, at memory speed: a block's largest magnitude picks its bin, then all terms are deposited
// without a branch into one pair of accumulators per lane. Written with vector types; the loops are compiled once
// per instruction set and the result is the same for each, because it does not depend on order.
#include "core/binned_block.h"

#include "core/convert.h"

#include <math.h>

enum {
  WIDTH = 4,   // doubles of a vector: what AVX2 holds; wider ones gcc keeps in memory
  VECTORS = 4, // independent chains, to cover the latency of an addition
  LANES = WIDTH * VECTORS,
  BLOCK =
      4096, // elements; 256 deposits per lane move it by less than 2^47 units, all lanes together by 2^51
  INF_BITS = 0x7f800000
};

typedef double doubles __attribute__((vector_size(WIDTH * 8)));
typedef uint64_t words __attribute__((vector_size(WIDTH * 8)));
typedef float floats __attribute__((vector_size(WIDTH * 4)));
typedef uint32_t bits __attribute__((vector_size(WIDTH * 4)));

enum term { TERM_F32, TERM_SQUARE_F32, TERM_SQUARE_BF16 };

#define INLINE static inline __attribute__((always_inline))

// The k-th vector of the LANES elements from x[i] on, as f32 bits and in some order. By pointer: passed by value a
// vector's ABI would depend on the instruction set.
INLINE void load(bits *v, enum term term, const void *x, uint64_t i, uint64_t k) {
  if (term == TERM_SQUARE_BF16) { // two vectors from the even and the odd ones of eight
    memcpy(v, (const uint16_t *)x + i + k / 2 * 2 * WIDTH, sizeof *v);
    *v = k % 2 ? *v & 0xffff0000u : *v << 16;
  } else {
    memcpy(v, (const float *)x + i + k * WIDTH, sizeof *v);
  }
}

// The bits of x[i] as an f32.
INLINE uint32_t bits_at(enum term term, const void *x, uint64_t i) {
  uint32_t u;
  if (term == TERM_SQUARE_BF16) {
    return (uint32_t)((const uint16_t *)x)[i] << 16;
  }
  memcpy(&u, (const float *)x + i, sizeof u);
  return u;
}

// The largest magnitude, as the bits of an f32: they order like the values. Signed, for which SSE has a maximum.
INLINE uint32_t largest(enum term term, const void *x, uint64_t n) {
  if (term == TERM_SQUARE_BF16) {
    int16_t top = 0;
    for (uint64_t i = 0; i < n; i++) {
      int16_t u = (int16_t)(((const uint16_t *)x)[i] & 0x7fff);
      top = u > top ? u : top;
    }
    return (uint32_t)top << 16;
  }
  int32_t top = 0;
  for (uint64_t i = 0; i < n; i++) {
    int32_t u = (int32_t)(bits_at(term, x, i) & 0x7fffffffu);
    top = u > top ? u : top;
  }
  return (uint32_t)top;
}

INLINE void deposit(struct binned *b, enum term term, int32_t bin, const void *x,
                    uint64_t n) {
  uint64_t size = term == TERM_SQUARE_BF16 ? 2 : 4;
  double hi0 = bin_anchor(bin), lo0 = bin_anchor(bin - 1);
  doubles hi[VECTORS] = {{0}}, lo[VECTORS] = {{0}};
  for (int k = 0; k < VECTORS; k++) {
    hi[k] += hi0;
    lo[k] += lo0;
  }
  for (uint64_t i = 0; i < n; i += LANES) {
    __builtin_prefetch((const char *)x + (n + i) * size); // the next block
    for (uint64_t k = 0; k < VECTORS; k++) {
      bits v;
      floats f;
      load(&v, term, x, i, k);
      memcpy(&f, &v, sizeof f);
      // gcc 12 makes one instruction of this list, of __builtin_convertvector four.
      doubles d = {f[0], f[1], f[2], f[3]};
      if (term != TERM_F32) {
        d *= d; // exact: 48 bits
      }
      doubles sum = hi[k] + (doubles)((words)d | 1);
      doubles rest = d + (hi[k] - sum);
      hi[k] = sum;
      lo[k] += (doubles)((words)rest | 1);
    }
  }
  double h = 0, l = 0;
  for (int k = 0; k < LANES; k++) {
    h += hi[k / WIDTH][k % WIDTH] - hi0;
    l += lo[k / WIDTH][k % WIDTH] - lo0;
  }
  binned_add_offsets(b, bin, h, l);
}

static uint32_t specials_of(enum term term, const void *x, uint64_t n) {
  uint32_t seen = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t u = bits_at(term, x, i);
    if ((u & 0x7fffffffu) > INF_BITS) {
      seen |= BINNED_NAN;
    } else if ((u & 0x7fffffffu) == INF_BITS) {
      seen |= u >> 31 && term == TERM_F32 ? BINNED_NEG_INF : BINNED_POS_INF;
    }
  }
  return seen;
}

// `n` is a multiple of LANES, at most BLOCK.
INLINE void add_block(struct binned *b, enum term term, const void *x, uint64_t n) {
  uint32_t m = largest(term, x, n);
  if (m >= INF_BITS) {
    b->specials |= specials_of(term, x, n);
  } else if (m > 0) {
    float f;
    memcpy(&f, &m, sizeof f);
    int32_t bin = bin_of(term == TERM_F32 ? (double)f : (double)f * (double)f);
    if (bin >= b->top - 1) { // else all of it is below half a unit of the lower bin
      deposit(b, term, bin, x, n);
    }
  }
}

INLINE void add_array(struct binned *b, enum term term, const void *x, uint64_t n) {
  uint64_t size = term == TERM_SQUARE_BF16 ? 2 : 4;
  uint64_t whole = n - n % LANES;
  for (uint64_t i = 0; i < whole; i += BLOCK) {
    add_block(b, term, (const char *)x + i * size, whole - i < BLOCK ? whole - i : BLOCK);
  }
  if (whole < n) {
    float tail[LANES] = {0};
    memcpy(tail, (const char *)x + whole * size, (n - whole) * size);
    add_block(b, term, tail, LANES);
  }
}

#define FOR_EACH_SET(SET)                                                                \
  SET(avx2, __attribute__((target("avx2"))))                                             \
  SET(base, )

#define DEFINE(set, attribute)                                                           \
  attribute static void add_##set(struct binned *b, enum term term, const void *x,       \
                                  uint64_t n) {                                          \
    if (term == TERM_F32)                                                                \
      add_array(b, TERM_F32, x, n);                                                      \
    else if (term == TERM_SQUARE_F32)                                                    \
      add_array(b, TERM_SQUARE_F32, x, n);                                               \
    else                                                                                 \
      add_array(b, TERM_SQUARE_BF16, x, n);                                              \
  }
FOR_EACH_SET(DEFINE)

static void add(struct binned *b, enum term term, const void *x, uint64_t n) {
  if (__builtin_cpu_supports("avx2")) {
    add_avx2(b, term, x, n);
  } else {
    add_base(b, term, x, n);
  }
}

void binned_add_f32(struct binned *b, const float *x, uint64_t n) {
  add(b, TERM_F32, x, n);
}
void binned_add_squares_f32(struct binned *b, const float *x, uint64_t n) {
  add(b, TERM_SQUARE_F32, x, n);
}
void binned_add_squares_bf16(struct binned *b, const uint16_t *x, uint64_t n) {
  add(b, TERM_SQUARE_BF16, x, n);
}

// Rarer: by way of f32.
void binned_add_squares_f16(struct binned *b, const uint16_t *x, uint64_t n) {
  float wide[BLOCK];
  for (uint64_t i = 0; i < n; i += BLOCK) {
    uint64_t m = n - i < BLOCK ? n - i : BLOCK;
    for (uint64_t k = 0; k < m; k++) {
      wide[k] = rt_f16_to_f32(x[i + k]);
    }
    binned_add_squares_f32(b, wide, m);
  }
}
