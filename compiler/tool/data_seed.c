// Seeded parameters and gradients: a hash of (seed, role, name, step) picks a stream, the element its place in it.
#include "tool/data.h"

#include "core/convert.h"

#include <assert.h>

enum { PIECE = 1 << 16 }; // elements a thread takes at a time

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose output bits look independent.
static inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t stream_of(const struct data_key *k) {
  uint64_t h = mix(k->seed + 0x9e3779b97f4a7c15u);
  h = mix(h ^ str_hash(k->name));
  return mix(h + 2 * k->step + (k->role == DATA_GRADS ? 1 : 0));
}

// Four uniform 16-bit integers, added and centred: integers with standard deviation sqrt(4 (2^32 - 1) / 12), about
// normal up to 3.4 deviations. Exact in f32, so that one rounding, the product with `scale`, gives the value.
static inline float value_at(uint64_t stream, uint64_t element, float scale) {
  uint64_t h = mix(stream + (element + 1) * 0x9e3779b97f4a7c15u);
  int32_t sum =
      (int32_t)((h & 0xffff) + (h >> 16 & 0xffff) + (h >> 32 & 0xffff) + (h >> 48));
  return (float)(2 * sum - 4 * 0xffff) * scale;
}

static float scale_of(enum data_role role) {
  const double deviation = 75674.45; // of 2 * sum
  return (float)((role == DATA_PARAMS ? 0.02 : 1e-3) / deviation);
}

void data_seed(const struct data_key *key, enum storage dtype, uint64_t begin,
               uint64_t end, void *out) {
  const uint64_t stream = stream_of(key);
  const float scale = scale_of(key->role);
  if (dtype == ST_F32) {
    float *p = out;
    for (uint64_t i = begin; i < end; i++) {
      p[i - begin] = value_at(stream, i, scale);
    }
  } else {
    assert(dtype == ST_BF16 || dtype == ST_F16);
    uint16_t *p = out;
    for (uint64_t i = begin; i < end; i++) {
      float x = value_at(stream, i, scale);
      p[i - begin] = dtype == ST_BF16 ? rt_f32_to_bf16(x) : rt_f32_to_f16(x);
    }
  }
}

struct job {
  const struct data_key *key;
  enum storage dtype;
  uint64_t numel;
  char *out;
};

static void seed_piece(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct job *j = ctx;
  uint64_t begin = item * PIECE,
           end = j->numel - begin < PIECE ? j->numel : begin + PIECE;
  data_seed(j->key, j->dtype, begin, end, j->out + begin * storage_bytes(j->dtype));
}

void data_seed_all(struct rt_team *team, const struct data_key *key, enum storage dtype,
                   uint64_t numel, void *out) {
  struct job job = {key, dtype, numel, out};
  rt_team_run(team, numel / PIECE + (numel % PIECE != 0 ? 1 : 0), seed_piece, &job);
}
