// Strings are (pointer, length) pairs of bytes; text is built in a `buf`.
#ifndef STEPC_BASE_STR_H
#define STEPC_BASE_STR_H

#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct str {
  const char *p; // not terminated in general; str_cstr makes a terminated copy
  size_t n;
};

#define STR(lit) ((struct str){("" lit), sizeof(lit) - 1})
#define STR_FMT(s)                                                                       \
  (int)(s).n, (s).p // for "%.*s"; names from outside go through str_escape first

struct str str_of(const char *cstr); // views a terminated string
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *cstr);
int str_cmp(struct str a, struct str b); // bytewise, like memcmp; for sorting
bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
struct str str_copy(struct arena *a,
                    struct str s); // the copy is NUL-terminated after its end
const char *str_cstr(struct arena *a, struct str s);
struct str str_fmt(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
// Names are data (DESIGN section 16): control bytes, DEL, invalid UTF-8, bidirectional controls and `\` come out
// as \n, \t, \xNN or \u{...}, so that nothing from a file reaches a terminal raw.
struct str str_escape(struct arena *a, struct str s);
// Length of the valid UTF-8 sequence at s.p[i] with its code point, or 0.
size_t str_utf8(struct str s, size_t i, uint32_t *cp);
uint64_t str_hash(struct str s); // FNV-1a, 64 bits: stable over runs and hosts
// Glob with `*` and `?` over the whole of `s`; linear time for every pattern of one star, no recursion.
bool str_glob(struct str pattern, struct str s);
// Edit distance (optimal string alignment), at most `limit` + 1.
uint32_t str_distance(struct str a, struct str b, uint32_t limit);

// Text under construction.
struct buf {
  struct arena *arena;
  char *p; // kept NUL-terminated once anything was put
  size_t n, cap;
};

struct buf buf_new(struct arena *a);
void buf_put(struct buf *b, const char *p, size_t n);
void buf_puts(struct buf *b, const char *cstr);
void buf_str(struct buf *b, struct str s);
void buf_char(struct buf *b, char c);
void buf_pad(struct buf *b,
             size_t column); // spaces until the current line has `column` bytes
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
// `s` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
void buf_json(struct buf *b, struct str s);
struct str buf_done(const struct buf *b);

// The shortest decimal that reads back as exactly `x` ("0.1", "1e-08", "inf"); `f32` where it must as a float.
// Independent of the locale.
struct str num_shortest(struct arena *a, double x);
struct str num_shortest_f32(struct arena *a, float x);

#endif
