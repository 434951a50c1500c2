// Decoding of UTF-8 as RFC 3629 restricts it: no overlong forms, no surrogates, nothing above U+10FFFF.
#ifndef STEPRT_FILE_UTF8_H
#define STEPRT_FILE_UTF8_H

#include <stddef.h>
#include <stdint.h>

// Length of the sequence that starts at p[0] with its code point, or 0 where the first of `n` bytes starts none.
static inline size_t rt_utf8_decode(const char *p, size_t n, uint32_t *cp) {
  static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char c = n == 0 ? 0xff : (unsigned char)p[0];
  size_t len = c < 0x80                ? 1
               : c >= 0xc2 && c < 0xe0 ? 2
               : c >= 0xe0 && c < 0xf0 ? 3
               : c >= 0xf0 && c < 0xf5 ? 4
                                       : 0;
  if (len == 0 || len > n) {
    return 0;
  }
  uint32_t v = len == 1 ? c : c & (0x7fu >> len);
  for (size_t i = 1; i < len; i++) {
    unsigned char t = (unsigned char)p[i];
    if ((t & 0xc0) != 0x80) {
      return 0;
    }
    v = v << 6 | (t & 0x3fu);
  }
  if (v < lowest[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000)) {
    return 0;
  }
  *cp = v;
  return len;
}

#endif
