// SHA-256 after FIPS 180-4, sections 4.1.2, 5.1.1 and 6.2.2.
#include "file/sha256.h"

#include <string.h>

#if defined(__x86_64__)
#  include <cpuid.h>
#  include <immintrin.h>
#endif

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

static uint32_t rotate(uint32_t x, int n) {
  return x >> n | x << (32 - n);
}

static uint32_t big_endian(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void blocks_portable(uint32_t h[8], const uint8_t *p, size_t n) {
  for (; n != 0; n--, p += 64) {
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++) {
      w[t] = big_endian(p + (size_t)4 * (size_t)t);
    }
    for (int t = 16; t < 64; t++) {
      uint32_t a = w[t - 15], b = w[t - 2];
      w[t] = (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10) + w[t - 7] +
             (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[t - 16];
    }
    memcpy(v, h, sizeof v);
    for (unsigned t = 0; t < 64;
         t++) { // a, b, ... h are v[-t], v[1 - t], ... v[7 - t] modulo 8
      uint32_t a = v[-t & 7], e = v[(4 - t) & 7], *d = &v[(3 - t) & 7],
               *last = &v[(7 - t) & 7];
      uint32_t t1 = *last + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                    ((e & v[(5 - t) & 7]) ^ (~e & v[(6 - t) & 7])) + k[t] + w[t];
      uint32_t b = v[(1 - t) & 7], c = v[(2 - t) & 7];
      *d += t1;
      *last = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
              ((a & b) ^ (a & c) ^ (b & c));
    }
    for (int i = 0; i < 8; i++) {
      h[i] += v[i];
    }
  }
}

#if defined(__x86_64__)
// The instructions hold the state as (a b e f) and (c d g h), highest word first, and do two rounds at a time;
// msg1 and msg2 are the two halves of the message schedule (Intel SDM, SHA256RNDS2 and SHA256MSG1/2).
__attribute__((target("sha,sse4.1"))) static void blocks_sha(uint32_t h[8],
                                                             const uint8_t *p, size_t n) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef = _mm_set_epi32((int)h[0], (int)h[1], (int)h[4], (int)h[5]);
  __m128i cdgh = _mm_set_epi32((int)h[2], (int)h[3], (int)h[6], (int)h[7]);
  for (; n != 0; n--, p += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4]; // the last 16 words of the schedule
    for (int g = 0; g < 16; g++) {
      __m128i *now = &w[g & 3];
      if (g < 4) {
        *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * g)), swap);
      } else {
        __m128i last = w[(g - 1) & 3];
        __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(g - 3) & 3]),
                                    _mm_alignr_epi8(last, w[(g - 2) & 3], 4));
        *now = _mm_sha256msg2_epu32(sum, last);
      }
      __m128i wk = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(k + 4 * g)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  h[0] = (uint32_t)_mm_extract_epi32(abef, 3);
  h[1] = (uint32_t)_mm_extract_epi32(abef, 2);
  h[2] = (uint32_t)_mm_extract_epi32(cdgh, 3);
  h[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
  h[4] = (uint32_t)_mm_extract_epi32(abef, 1);
  h[5] = (uint32_t)_mm_extract_epi32(abef, 0);
  h[6] = (uint32_t)_mm_extract_epi32(cdgh, 1);
  h[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}

static int has_sha(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1u) != 0;
}
#endif

void sha256_init_portable(struct sha256 *s) {
  *s = (struct sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                             0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
                       .blocks = blocks_portable};
}

void sha256_init(struct sha256 *s) {
  sha256_init_portable(s);
#if defined(__x86_64__)
  if (has_sha()) {
    s->blocks = blocks_sha;
  }
#endif
}

void sha256_add(struct sha256 *s, const void *data, size_t n) {
  const uint8_t *p = data;
  size_t waiting = s->bytes % 64;
  s->bytes += n;
  if (waiting + n < 64) {
    if (n != 0) {
      memcpy(s->tail + waiting, p, n);
    }
    return;
  }
  if (waiting != 0) {
    size_t fill = 64 - waiting;
    memcpy(s->tail + waiting, p, fill);
    s->blocks(s->h, s->tail, 1);
    p += fill;
    n -= fill;
  }
  s->blocks(s->h, p, n / 64);
  memcpy(s->tail, p + n / 64 * 64, n % 64);
}

void sha256_hex(struct sha256 *s, char hex[65]) {
  uint8_t end[72] = {0x80};
  uint64_t bits = s->bytes * 8;
  size_t pad = (s->bytes % 64 < 56 ? 56 : 120) - s->bytes % 64;
  for (size_t i = 0; i < 8; i++) {
    end[pad + i] = (uint8_t)(bits >> (56 - 8 * i));
  }
  sha256_add(s, end, pad + 8);
  for (size_t i = 0; i < 64; i++) {
    hex[i] = "0123456789abcdef"[s->h[i / 8] >> (28 - 4 * (i % 8)) & 15u];
  }
  hex[64] = '\0';
}
