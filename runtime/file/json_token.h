// Tokens of a JSON text: where the scan stands, numbers, strings, and what is said when they are wrong.
#ifndef STEPRT_FILE_JSON_TOKEN_H
#define STEPRT_FILE_JSON_TOKEN_H

#include "file/json.h"

struct json_cursor {
  const char *text;
  uint32_t n, at; // the next byte is text[at]; at == n: the end
  struct json_error *err;
};

// Fills `err` for the byte `at` of the text.
void json_fail(struct json_error *err, const char *text, uint64_t at, const char *fmt,
               ...) __attribute__((format(printf, 4, 5)));
// Both fill s->err and return false: "expected WHAT, found ..." at the next byte; TEXT at byte `at`.
bool json_fail_expected(struct json_cursor *s, const char *what);
bool json_fail_at(struct json_cursor *s, uint32_t at, const char *text);

char json_peek(const struct json_cursor *s);     // the next byte; NUL at the end
bool json_accept(struct json_cursor *s, char c); // steps over `c` where it is next
// Step over a number or a string. False: s->err is filled. A number of digits only sets *is_uint.
bool json_number_token(struct json_cursor *s, bool *is_uint);
bool json_string_token(struct json_cursor *s);

#endif
