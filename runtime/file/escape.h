// Text from files made safe to show: names are data (DESIGN section 16).
#ifndef STEPRT_FILE_ESCAPE_H
#define STEPRT_FILE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Control characters, and those that reorder or hide text on a terminal; all are below 0x10000.
bool rt_is_unsafe(uint32_t cp);

enum { RT_ESCAPE_PIECE = 16 };
// The character (or the byte that starts none) at s[0], n > 0, as text in `piece`: control and direction characters,
// invalid UTF-8 and `\` come out as \n, \t, \xNN or \u{...}. Returns how many bytes of s it stands for.
size_t rt_escape_piece(char piece[RT_ESCAPE_PIECE], const char *s, size_t n);

// Writes s[0, n) into out[0, cap), piece by piece, NUL-terminated; what does not fit is cut at a piece and ends
// in "...". cap >= 4. Returns `out`.
char *rt_escape(char *out, size_t cap, const char *s, size_t n);

#endif
