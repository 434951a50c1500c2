// Places, numbers and strings of a JSON text.
#include "file/json_token.h"

#include "file/escape.h"
#include "file/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void json_fail(struct json_error *err, const char *text, uint64_t at, const char *fmt,
               ...) {
  *err = (struct json_error){.at = at, .line = 1, .col = 1};
  for (uint64_t i = 0; i < at; i++) {
    err->col = text[i] == '\n' ? 1 : err->col + 1;
    err->line += text[i] == '\n' ? 1 : 0;
  }
  va_list ap;
  va_start(ap, fmt);
  (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
  va_end(ap);
}

// What stands at the current place, for "found ...".
static const char *found(const struct json_cursor *s, char out[40]) {
  if (s->at == s->n) {
    (void)snprintf(out, 40, "the end of the text");
    return out;
  }
  uint32_t cp;
  size_t len = rt_utf8_decode(s->text + s->at, s->n - s->at, &cp);
  char one[16];
  rt_escape(one, sizeof one, s->text + s->at, len == 0 ? 1 : len);
  (void)snprintf(out, 40, "`%s`", one);
  return out;
}

bool json_fail_expected(struct json_cursor *s, const char *what) {
  char buf[40];
  json_fail(s->err, s->text, s->at, "expected %s, found %s", what, found(s, buf));
  return false;
}

bool json_fail_at(struct json_cursor *s, uint32_t at, const char *text) {
  json_fail(s->err, s->text, at, "%s", text);
  return false;
}

char json_peek(const struct json_cursor *s) {
  if (s->at == s->n) {
    return '\0';
  }
  return s->text[s->at];
}

bool json_accept(struct json_cursor *s, char c) {
  if (s->at < s->n && s->text[s->at] == c) {
    s->at++;
    return true;
  }
  return false;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static uint32_t skip_digits(struct json_cursor *s) {
  uint32_t from = s->at;
  while (is_digit(json_peek(s))) {
    s->at++;
  }
  return s->at - from;
}

// True for at most 9007199254740992 = 2^53, in digits without leading zeros.
static bool fits_2_53(const char *digits, uint32_t n) {
  static const char most[] = "9007199254740992";
  return n < sizeof most - 1 ||
         (n == sizeof most - 1 && memcmp(digits, most, sizeof most - 1) <= 0);
}

// number = [ "-" ] ( "0" | digit1-9 { digit } ) [ "." digit { digit } ] [ ("e" | "E") [ "+" | "-" ] digit { digit } ]
bool json_number_token(struct json_cursor *s, bool *is_uint) {
  uint32_t from = s->at;
  bool negative = json_accept(s, '-');
  uint32_t first = s->at, digits = skip_digits(s);
  if (digits == 0) {
    return json_fail_expected(s, "a digit");
  }
  if (digits > 1 && s->text[first] == '0') {
    return json_fail_at(s, from, "a number has no leading zeros");
  }
  bool integer = true;
  if (json_accept(s, '.')) {
    integer = false;
    if (skip_digits(s) == 0) {
      return json_fail_expected(s, "a digit");
    }
  }
  if (json_accept(s, 'e') || json_accept(s, 'E')) {
    integer = false;
    if (!json_accept(s, '+')) {
      (void)json_accept(s, '-');
    }
    if (skip_digits(s) == 0) {
      return json_fail_expected(s, "a digit");
    }
  }
  if (integer && !fits_2_53(s->text + first, digits)) {
    return json_fail_at(s, from, "an integer is at most 2^53 in magnitude");
  }
  if (s->at - from > JSON_MAX_NUMBER) {
    return json_fail_at(s, from, "a number has at most 63 characters");
  }
  *is_uint = integer && !negative;
  return true;
}

static bool scan_hex4(struct json_cursor *s, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++, s->at++) {
    char c = json_peek(s);
    uint32_t d = is_digit(c)            ? (uint32_t)(c - '0')
                 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                        : 16;
    if (d == 16) {
      return json_fail_expected(s, "a hexadecimal digit");
    }
    *out = *out << 4 | d;
  }
  return true;
}

// After the backslash: one of "\/bfnrt or u and four digits, a high surrogate followed by its low one.
static bool scan_escape(struct json_cursor *s) {
  uint32_t from = s->at - 1;
  char c = json_peek(s);
  if (c != 'u') {
    if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL) {
      return json_fail_at(s, from, "unknown escape in a string");
    }
    s->at++;
    return true;
  }
  s->at++;
  uint32_t hi, lo;
  if (!scan_hex4(s, &hi)) {
    return false;
  }
  if (hi == 0) {
    return json_fail_at(s, from, "\\u0000 in a string");
  }
  if (hi < 0xd800 || hi > 0xdfff) {
    return true;
  }
  if (hi > 0xdbff || !json_accept(s, '\\') || !json_accept(s, 'u')) {
    return json_fail_at(s, from, "a surrogate without its partner in a string");
  }
  if (!scan_hex4(s, &lo)) {
    return false;
  }
  if (lo < 0xdc00 || lo > 0xdfff) {
    return json_fail_at(s, from, "a surrogate without its partner in a string");
  }
  return true;
}

bool json_string_token(struct json_cursor *s) {
  uint32_t from = s->at;
  if (!json_accept(s, '"')) {
    return json_fail_expected(s, "a string");
  }
  while (s->at < s->n) {
    unsigned char c = (unsigned char)s->text[s->at];
    if (c == '"') {
      s->at++;
      return true;
    }
    if (c == '\\') {
      s->at++;
      if (!scan_escape(s)) {
        return false;
      }
    } else if (c < 0x20) {
      return json_fail_at(s, s->at, "a control character in a string");
    } else if (c < 0x80) {
      s->at++;
    } else {
      uint32_t cp;
      size_t len = rt_utf8_decode(s->text + s->at, s->n - s->at, &cp);
      if (len == 0) {
        return json_fail_at(s, s->at, "invalid UTF-8");
      }
      s->at += (uint32_t)len;
    }
  }
  return json_fail_at(s, from, "a string without its end");
}
