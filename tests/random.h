// Seeded pseudo-random numbers for tests: SplitMix64 (Steele, Lea, Flood 2014).
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t random_u64(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline uint64_t random_below(uint64_t *state, uint64_t n) {
  return random_u64(state) % n;
}
// Uniform in [0, 1).
static inline double random_unit(uint64_t *state) {
  return (double)(random_u64(state) >> 11) * 0x1p-53;
}
static inline double random_normal(uint64_t *state) {
  double u = 1 - random_unit(state), v = random_unit(state);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

#endif
