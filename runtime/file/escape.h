// Text from files made safe to show: names are data (DESIGN section 16).
#ifndef STEPRT_FILE_ESCAPE_H
#define STEPRT_FILE_ESCAPE_H

#include <stddef.h>

// Writes s[0, n) into out[0, cap), NUL-terminated: control and direction characters, invalid UTF-8 and `\` come out
// as \n, \t, \xNN or \u{...}; what does not fit is cut at a character and ends in "...". cap >= 4. Returns `out`.
char *rt_escape(char *out, size_t cap, const char *s, size_t n);

#endif
