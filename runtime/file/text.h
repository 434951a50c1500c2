// JSON as it is written: a text that grows. Deterministic to the byte; names are data and come out escaped.
#ifndef STEPRT_FILE_TEXT_H
#define STEPRT_FILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Starts as {0}. Once memory has run out `failed` is set and nothing more is added: one check at the end.
struct rt_text {
  char *p; // from malloc; NUL-terminated where anything was put
  size_t n, cap;
  bool failed;
};

void rt_text_put(struct rt_text *t, const char *s);
void rt_text_u64(struct rt_text *t, uint64_t x);
// The shortest decimal that reads back as `x`; what JSON has no number for is "inf", "-inf" or "nan", quoted.
void rt_text_double(struct rt_text *t, double x);
// A JSON string with its quotes. Characters that hide or reorder text on a terminal come out as \uXXXX, bytes that are
// no UTF-8 as \ufffd; NULL as null.
void rt_text_string(struct rt_text *t, const char *s);

// `, "key": ` and the value; the comma only behind an earlier member or item.
void rt_text_key(struct rt_text *t, const char *key);
void rt_text_member_u64(struct rt_text *t, const char *key, uint64_t x);
void rt_text_member_double(struct rt_text *t, const char *key, double x);
void rt_text_member_string(struct rt_text *t, const char *key, const char *s);
// ", " behind an item; nothing behind an opening bracket.
void rt_text_comma(struct rt_text *t);
// The next item of a list whose items have a line each: ",\n" behind one, "\n" behind the bracket.
void rt_text_line(struct rt_text *t);
// On a line of its own: `"key": [`, and `{"what": number`, an item of a table with its number.
void rt_text_open_list(struct rt_text *t, const char *key);
void rt_text_open_item(struct rt_text *t, const char *what, uint32_t number);

// The text, which the caller frees, or NULL where memory ran out. `t` is empty then.
char *rt_text_done(struct rt_text *t, uint64_t *n);

#endif
