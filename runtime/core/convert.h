// Conversions between f32 and 16-bit storage as integer code: the same on every target; NaN becomes 0x7fc0 with
// its sign dropped, denormals are kept.
#ifndef STEPRT_CORE_CONVERT_H
#define STEPRT_CORE_CONVERT_H

#include <stdint.h>
#include <string.h>

static inline float rt_bf16_to_f32(uint16_t h) {
  uint32_t u = (uint32_t)h << 16;
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

static inline uint16_t rt_f32_to_bf16(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

// With the exponent in its place what is missing is a factor of 2^112; the product is exact, denormals too.
static inline float rt_f16_to_f32(uint16_t h) {
  uint32_t u = (uint32_t)(h & 0x7fffu) << 13;
  float f;
  memcpy(&f, &u, sizeof f);
  f *= 0x1p112f;
  memcpy(&u, &f, sizeof u);
  u |= ((h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u) | (uint32_t)(h & 0x8000u) << 16;
  memcpy(&f, &u, sizeof f);
  return f;
}

// To nearest even; beyond the largest to Inf, every NaN to 0x7e00.
static inline uint16_t rt_f32_to_f16(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  uint32_t sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) {
    return 0x7e00u;
  }
  if (u >= 0x47800000u) { // 65536
    return (uint16_t)(sign | 0x7c00u);
  }
  if (u < 0x38800000u) { // a denormal: beside 0.5 the unit is 2^-24
    memcpy(&f, &u, sizeof f);
    f += 0.5f;
    memcpy(&u, &f, sizeof u);
    return (uint16_t)(sign | (u - 0x3f000000u));
  }
  uint32_t rounded = (u - (112u << 23) + 0xfffu + (u >> 13 & 1u)) >> 13;
  return (uint16_t)(sign | rounded);
}

#endif
