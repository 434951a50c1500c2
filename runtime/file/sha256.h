// SHA-256 (FIPS 180-4), with the processor's SHA instructions where it has them.
#ifndef STEPRT_FILE_SHA256_H
#define STEPRT_FILE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
  uint32_t h[8];
  uint64_t bytes;
  uint8_t tail[64]; // bytes % 64 of them are waiting
  void (*blocks)(uint32_t h[8], const uint8_t *p, size_t n);
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_hex(struct sha256 *s, char hex[65]); // ends it; lower case, NUL-terminated
// The same without SHA instructions: tests compare the two.
void sha256_init_portable(struct sha256 *s);

#endif
