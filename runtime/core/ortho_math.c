// The loops of rt_ortho that are no products: rounding, scaling, mirroring, transposing.
#include "core/ortho_math.h"
#include "core/convert.h"

// One object file serves every CPU: these loops are compiled for several and chosen at load. Contraction is off
// (cmake/Flags.cmake), so all of them give the same bits. Sanitizers run before the chooser may.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#  if !defined(__has_feature)
#    define __has_feature(x) 0
#  endif
#  if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#    define CLONED                                                                       \
      __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#  endif
#endif
#ifndef CLONED
#  define CLONED
#endif

enum {
  TILE = 32
}; // side of the squares in which matrices are transposed: two of them fit in L1

// rt_f32_to_bf16 and back without leaving 32-bit lanes, which is what vectorises.
static inline float round_bf16(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u;
  u = (u & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : rounded;
  memcpy(&x, &u, sizeof x);
  return x;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

CLONED static void scale_rounded(float *x, uint64_t n, double scale) {
  for (uint64_t i = 0; i < n; i++) {
    x[i] = round_bf16((float)((double)x[i] * scale));
  }
}

CLONED static void scale_plain(float *x, uint64_t n, double scale) {
  for (uint64_t i = 0; i < n; i++) {
    x[i] = (float)((double)x[i] * scale);
  }
}

void ortho_scale(float *x, uint64_t n, double scale, bool round) {
  if (round) {
    scale_rounded(x, n, scale);
  } else {
    scale_plain(x, n, scale);
  }
}

CLONED void ortho_scale_each(float *restrict x, const float *restrict factor, uint64_t n,
                             float by, bool round) {
  for (uint64_t i = 0; i < n; i++) {
    float y = x[i] * (factor[i] * by);
    x[i] = round ? round_bf16(y) : y;
  }
}

CLONED static void combine_rounded(float *restrict acc, const float *restrict x,
                                   uint64_t n, float a, float b) {
  for (uint64_t i = 0; i < n; i++) {
    acc[i] = round_bf16(a * x[i] + b * acc[i]);
  }
}

CLONED static void combine_plain(float *restrict acc, const float *restrict x, uint64_t n,
                                 float a, float b) {
  for (uint64_t i = 0; i < n; i++) {
    acc[i] = a * x[i] + b * acc[i];
  }
}

void ortho_combine(float *acc, const float *x, uint64_t ld, struct ortho_block block,
                   float a, float b, bool round) {
  for (uint64_t i = block.row; i < block.row + block.rows; i++) {
    uint64_t at = i * ld + block.col;
    if (round) {
      combine_rounded(acc + at, x + at, block.cols, a, b);
    } else {
      combine_plain(acc + at, x + at, block.cols, a, b);
    }
  }
}

void ortho_mirror(float *x, uint64_t ld, struct ortho_block block) {
  uint64_t row_end = block.row + block.rows, col_end = block.col + block.cols;
  for (uint64_t i0 = block.row; i0 < row_end; i0 += TILE) {
    for (uint64_t j0 = block.col; j0 < col_end && j0 < i0 + TILE; j0 += TILE) {
      for (uint64_t i = i0; i < min_u64(i0 + TILE, row_end); i++) {
        for (uint64_t j = j0; j < min_u64(min_u64(j0 + TILE, col_end), i); j++) {
          x[j * ld + i] = x[i * ld + j];
        }
      }
    }
  }
}

static inline float load_one(const struct ortho_user *u, uint64_t at) {
  return u->in_bf16 ? rt_bf16_to_f32(((const uint16_t *)u->in)[at])
                    : ((const float *)u->in)[at];
}

static inline void store_one(const struct ortho_user *u, uint64_t at, float x) {
  if (u->out_bf16) {
    ((uint16_t *)u->out)[at] = rt_f32_to_bf16(x);
  } else {
    ((float *)u->out)[at] = x;
  }
}

CLONED static void load_rows(float *t, uint64_t ld, struct ortho_user u, uint64_t begin,
                             uint64_t end) {
  for (uint64_t k = begin; k < end; k++) {
    for (uint64_t i = 0; i < u.r; i++) {
      t[k * ld + i] = load_one(&u, k * u.r + i);
    }
  }
}

// Tiles keep the lines of both sides in L1 while one side is walked across its rows.
CLONED static void load_columns(float *t, uint64_t ld, struct ortho_user u,
                                uint64_t begin, uint64_t end) {
  for (uint64_t k0 = begin; k0 < end; k0 += TILE) {
    for (uint64_t i0 = 0; i0 < u.r; i0 += TILE) {
      for (uint64_t i = i0; i < min_u64(i0 + TILE, u.r); i++) {
        for (uint64_t k = k0; k < min_u64(k0 + TILE, end); k++) {
          t[k * ld + i] = load_one(&u, i * u.c + k);
        }
      }
    }
  }
}

void ortho_load(float *t, uint64_t ld, const struct ortho_user *u, uint64_t begin,
                uint64_t end) {
  if (u->wide) {
    load_columns(t, ld, *u, begin, end);
  } else {
    load_rows(t, ld, *u, begin, end);
  }
}

CLONED static void store_rows(const float *t, uint64_t ld, struct ortho_user u,
                              uint64_t begin, uint64_t end) {
  for (uint64_t k = begin; k < end; k++) {
    for (uint64_t i = 0; i < u.r; i++) {
      store_one(&u, k * u.r + i, t[k * ld + i]);
    }
  }
}

CLONED static void store_columns(const float *t, uint64_t ld, struct ortho_user u,
                                 uint64_t begin, uint64_t end) {
  for (uint64_t k0 = begin; k0 < end; k0 += TILE) {
    for (uint64_t i0 = 0; i0 < u.r; i0 += TILE) {
      for (uint64_t i = i0; i < min_u64(i0 + TILE, u.r); i++) {
        for (uint64_t k = k0; k < min_u64(k0 + TILE, end); k++) {
          store_one(&u, i * u.c + k, t[k * ld + i]);
        }
      }
    }
  }
}

void ortho_store(const float *t, uint64_t ld, const struct ortho_user *u, uint64_t begin,
                 uint64_t end) {
  if (u->wide) {
    store_columns(t, ld, *u, begin, end);
  } else {
    store_rows(t, ld, *u, begin, end);
  }
}
