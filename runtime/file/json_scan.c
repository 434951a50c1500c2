// RFC 8259 by recursive descent over bytes, with the limits that json.h states. Linear in the text; the stack is
// bounded by JSON_MAX_DEPTH.
#include "file/json_scan.h"

#include "file/escape.h"
#include "file/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scan {
  const char *text;
  uint32_t n, at;
  uint32_t depth;
  struct json_marks *marks;
  struct json_error *err;
};

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
static const char *found(const struct scan *s, char out[40]) {
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

static bool fail_expected(struct scan *s, const char *what) {
  char buf[40];
  json_fail(s->err, s->text, s->at, "expected %s, found %s", what, found(s, buf));
  return false;
}

static bool fail_at(struct scan *s, uint32_t at, const char *text) {
  json_fail(s->err, s->text, at, "%s", text);
  return false;
}

static char peek(const struct scan *s) {
  if (s->at == s->n) {
    return '\0';
  }
  return s->text[s->at];
}

static bool accept(struct scan *s, char c) {
  if (s->at < s->n && s->text[s->at] == c) {
    s->at++;
    return true;
  }
  return false;
}

static void skip_space(struct scan *s) {
  while (s->at < s->n && strchr(" \t\r\n", s->text[s->at]) != NULL &&
         s->text[s->at] != '\0') {
    s->at++;
  }
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static uint32_t skip_digits(struct scan *s) {
  uint32_t from = s->at;
  while (is_digit(peek(s))) {
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
static bool scan_number(struct scan *s, bool *is_uint) {
  uint32_t from = s->at;
  bool negative = accept(s, '-');
  uint32_t first = s->at, digits = skip_digits(s);
  if (digits == 0) {
    return fail_expected(s, "a digit");
  }
  if (digits > 1 && s->text[first] == '0') {
    return fail_at(s, from, "a number has no leading zeros");
  }
  bool integer = true;
  if (accept(s, '.')) {
    integer = false;
    if (skip_digits(s) == 0) {
      return fail_expected(s, "a digit");
    }
  }
  if (accept(s, 'e') || accept(s, 'E')) {
    integer = false;
    if (!accept(s, '+')) {
      (void)accept(s, '-');
    }
    if (skip_digits(s) == 0) {
      return fail_expected(s, "a digit");
    }
  }
  if (integer && !fits_2_53(s->text + first, digits)) {
    return fail_at(s, from, "an integer is at most 2^53 in magnitude");
  }
  if (s->at - from > JSON_MAX_NUMBER) {
    return fail_at(s, from, "a number has at most 63 characters");
  }
  *is_uint = integer && !negative;
  return true;
}

static bool scan_hex4(struct scan *s, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++, s->at++) {
    char c = peek(s);
    uint32_t d = is_digit(c)            ? (uint32_t)(c - '0')
                 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                        : 16;
    if (d == 16) {
      return fail_expected(s, "a hexadecimal digit");
    }
    *out = *out << 4 | d;
  }
  return true;
}

// After the backslash: one of "\/bfnrt or u and four digits, a high surrogate followed by its low one.
static bool scan_escape(struct scan *s) {
  uint32_t from = s->at - 1;
  char c = peek(s);
  if (c != 'u') {
    if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL) {
      return fail_at(s, from, "unknown escape in a string");
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
    return fail_at(s, from, "\\u0000 in a string");
  }
  if (hi < 0xd800 || hi > 0xdfff) {
    return true;
  }
  if (hi > 0xdbff || !accept(s, '\\') || !accept(s, 'u')) {
    return fail_at(s, from, "a surrogate without its partner in a string");
  }
  if (!scan_hex4(s, &lo)) {
    return false;
  }
  if (lo < 0xdc00 || lo > 0xdfff) {
    return fail_at(s, from, "a surrogate without its partner in a string");
  }
  return true;
}

static bool scan_string(struct scan *s) {
  uint32_t from = s->at;
  if (!accept(s, '"')) {
    return fail_expected(s, "a string");
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
      return fail_at(s, s->at, "a control character in a string");
    } else if (c < 0x80) {
      s->at++;
    } else {
      uint32_t cp;
      size_t len = rt_utf8_decode(s->text + s->at, s->n - s->at, &cp);
      if (len == 0) {
        return fail_at(s, s->at, "invalid UTF-8");
      }
      s->at += (uint32_t)len;
    }
  }
  return fail_at(s, from, "a string without its end");
}

static bool scan_value(struct scan *s, uint32_t key);

// member = string ":" value
static bool scan_member(struct scan *s) {
  uint32_t key = s->at;
  if (!scan_string(s)) {
    return false;
  }
  skip_space(s);
  if (!accept(s, ':')) {
    return fail_expected(s, "`:`");
  }
  skip_space(s);
  return scan_value(s, key);
}

// object = "{" [ member { "," member } ] "}"   array = "[" [ value { "," value } ] "]"
static bool scan_group(struct scan *s, bool is_object) {
  char close = is_object ? '}' : ']';
  if (++s->depth > JSON_MAX_DEPTH) {
    return fail_at(s, s->at, "nested more than 64 deep");
  }
  s->at++;
  skip_space(s);
  if (!accept(s, close)) {
    do {
      skip_space(s);
      if (!(is_object ? scan_member(s) : scan_value(s, s->at))) {
        return false;
      }
      skip_space(s);
    } while (accept(s, ','));
    if (!accept(s, close)) {
      return fail_expected(s, is_object ? "`,` or `}`" : "`,` or `]`");
    }
  }
  s->depth--;
  return true;
}

static bool scan_word(struct scan *s, const char *word) {
  size_t n = strlen(word);
  if (s->n - s->at < n || memcmp(s->text + s->at, word, n) != 0) {
    return fail_expected(s, "a value");
  }
  s->at += (uint32_t)n;
  return true;
}

static bool push_mark(struct scan *s, uint32_t key) {
  struct json_marks *m = s->marks;
  if (m->n == JSON_MAX_VALUES) {
    return fail_at(s, s->at, "more than 2^24 values");
  }
  if (m->n == m->cap) {
    uint32_t cap = m->cap == 0 ? 64 : m->cap * 2;
    struct json_mark *v = realloc(m->v, cap * sizeof *v);
    if (v == NULL) {
      (void)fail_at(s, s->at, "out of memory");
      s->err->no_memory = true;
      return false;
    }
    m->v = v;
    m->cap = cap;
  }
  m->v[m->n++] = (struct json_mark){.key = key, .at = s->at};
  return true;
}

static bool scan_value(struct scan *s, uint32_t key) {
  uint32_t mine = s->marks->n;
  if (!push_mark(s, key)) {
    return false;
  }
  bool ok, is_uint = false;
  switch (peek(s)) {
  case '{': ok = scan_group(s, true); break;
  case '[': ok = scan_group(s, false); break;
  case '"': ok = scan_string(s); break;
  case 't': ok = scan_word(s, "true"); break;
  case 'f': ok = scan_word(s, "false"); break;
  case 'n': ok = scan_word(s, "null"); break;
  default:
    ok = is_digit(peek(s)) || peek(s) == '-' ? scan_number(s, &is_uint)
                                             : fail_expected(s, "a value");
    break;
  }
  if (ok) {
    struct json_mark *m = &s->marks->v[mine];
    m->end = s->at;
    m->subtree = s->marks->n - mine;
    m->is_uint = is_uint;
  }
  return ok;
}

static bool scan_document(struct scan *s) {
  if (s->n >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0) {
    return fail_at(s, 0, "JSON starts with no byte order mark");
  }
  skip_space(s);
  if (!scan_value(s, s->at)) {
    return false;
  }
  skip_space(s);
  return s->at == s->n || fail_expected(s, "the end of the text");
}

bool json_scan(const char *text, size_t n, struct json_marks *out,
               struct json_error *err) {
  *out = (struct json_marks){0};
  if (n > UINT32_MAX) {
    json_fail(err, text, 0, "the text is longer than 4 GiB");
    return false;
  }
  struct scan s = {.text = text, .n = (uint32_t)n, .marks = out, .err = err};
  if (!scan_document(&s)) {
    free(out->v);
    *out = (struct json_marks){0};
    return false;
  }
  return true;
}
