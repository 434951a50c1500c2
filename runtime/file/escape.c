// Escaping of names for messages.
#include "file/escape.h"

#include "file/utf8.h"

#include <stdio.h>
#include <string.h>

bool rt_is_unsafe(uint32_t cp) {
  return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x200b && cp <= 0x200f) ||
         (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x2069) || cp == 0xfeff;
}

size_t rt_escape_piece(char piece[RT_ESCAPE_PIECE], const char *s, size_t n) {
  uint32_t cp = 0;
  size_t len = rt_utf8_decode(s, n, &cp);
  if (len == 0) {
    (void)snprintf(piece, RT_ESCAPE_PIECE, "\\x%02x", (unsigned)(unsigned char)s[0]);
    return 1;
  }
  if (cp == '\n' || cp == '\t' || cp == '\\') {
    (void)snprintf(piece, RT_ESCAPE_PIECE, "\\%c",
                   cp == '\n'   ? 'n'
                   : cp == '\t' ? 't'
                                : '\\');
  } else if (rt_is_unsafe(cp)) {
    (void)snprintf(piece, RT_ESCAPE_PIECE, cp < 0x100 ? "\\x%02x" : "\\u{%x}",
                   (unsigned)cp);
  } else {
    memcpy(piece, s, len);
    piece[len] = '\0';
  }
  return len;
}

char *rt_escape(char *out, size_t cap, const char *s, size_t n) {
  size_t used = 0, safe = 0; // safe: where "..." still fits
  out[0] = '\0';
  for (size_t i = 0; i < n;) {
    char piece[RT_ESCAPE_PIECE];
    i += rt_escape_piece(piece, s + i, n - i);
    size_t len = strlen(piece);
    if (used + len >= cap) {
      memcpy(out + safe, "...", 4);
      return out;
    }
    memcpy(out + used, piece, len + 1);
    used += len;
    safe = used + 4 <= cap ? used : safe;
  }
  return out;
}
