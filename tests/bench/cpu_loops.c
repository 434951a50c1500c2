// Vectors of 16 f32 through the compiler's vector extension: one cache line each.
#include "cpu_loops.h"

typedef float line_t __attribute__((vector_size(64), aligned(4), may_alias));
typedef float stream_t __attribute__((vector_size(64), may_alias));

static line_t load(const float *p) {
  return *(const line_t *)(const void *)p;
}

static void store(float *p, line_t x) {
  *(line_t *)(void *)p = x;
}

void loop_read4_write3(float *m, const float *g, float *v, float *p, size_t n,
                       size_t prefetch) {
  for (size_t i = 0; i < n; i += 16) {
    if (prefetch != 0) {
      __builtin_prefetch(m + i + prefetch);
      __builtin_prefetch(g + i + prefetch);
      __builtin_prefetch(v + i + prefetch);
      __builtin_prefetch(p + i + prefetch);
    }
    line_t x = load(g + i);
    store(m + i, load(m + i) + x);
    store(v + i, load(v + i) + x);
    store(p + i, load(p + i) - x);
  }
}

#if defined(__AVX512F__)
#  include <immintrin.h>
static void stream(float *p, line_t x) {
  _mm512_stream_ps(p, (__m512)x);
}
#elif defined(__AVX__)
#  include <immintrin.h>
static void stream(float *p, line_t x) {
  for (int k = 0; k < 2; k++) {
    __m256 half;
    __builtin_memcpy(&half, (const char *)&x + 32 * k, 32);
    _mm256_stream_ps(p + 8 * k, half);
  }
}
#else
static void stream(float *p, line_t x) {
  *(stream_t *)(void *)p = (stream_t)x;
}
#endif

void loop_momentum(float *m, const float *g, float *u, size_t n, size_t prefetch) {
  const float beta = 0.95f, rest = 0.05f;
  for (size_t i = 0; i < n; i += 16) {
    if (prefetch != 0) {
      __builtin_prefetch(m + i + prefetch);
      __builtin_prefetch(g + i + prefetch);
    }
    line_t x = load(g + i), y = beta * load(m + i) + rest * x;
    store(m + i, y);
    stream(u + i, beta * y + rest * x);
  }
  __builtin_ia32_sfence();
}

void loop_momentum_bf16(float *m, const float *g, uint16_t *u, size_t n,
                        size_t prefetch) {
  const float beta = 0.95f, rest = 0.05f;
  for (size_t i = 0; i < n; i += 32) {
    _Alignas(64) uint16_t line[32];
    line_t whole;
    for (size_t j = 0; j < 32; j += 16) {
      if (prefetch != 0) {
        __builtin_prefetch(m + i + j + prefetch);
        __builtin_prefetch(g + i + j + prefetch);
      }
      line_t x = load(g + i + j), y = beta * load(m + i + j) + rest * x;
      store(m + i + j, y);
      line_t z = beta * y + rest * x;
      for (size_t k = 0; k < 16; k++) {
        uint32_t bits;
        float f = z[k];
        __builtin_memcpy(&bits, &f, sizeof bits);
        line[j + k] = (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
      }
    }
    __builtin_memcpy(&whole, line, sizeof whole);
    stream((float *)(void *)(u + i), whole);
  }
  __builtin_ia32_sfence();
}

void loop_adamw(float *restrict m, const float *restrict g, float *restrict v,
                float *restrict p, size_t n, size_t prefetch) {
  const float beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, decay = 1 - 1e-3f * 1e-2f;
  const float step = 1e-3f / 0.6513215599f;      // 1 - 0.9^10
  const float root = (float)(1 / 0.09977512887); // sqrt(1 - 0.999^10)
  for (size_t i = 0; i < n; i += 16) {
    if (prefetch != 0) {
      __builtin_prefetch(m + i + prefetch);
      __builtin_prefetch(g + i + prefetch);
      __builtin_prefetch(v + i + prefetch);
      __builtin_prefetch(p + i + prefetch);
    }
    for (size_t j = i; j < i + 16; j++) {
      m[j] = beta1 * m[j] + (1 - beta1) * g[j];
      v[j] = beta2 * v[j] + (1 - beta2) * (g[j] * g[j]);
      p[j] = p[j] * decay - step * (m[j] / (__builtin_sqrtf(v[j]) * root + eps));
    }
  }
}
