// Numbers of a spec: their grammar, their value, and which values are refused.
#include "front/lex_number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_word_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '.';
}

static size_t skip_digits(const char *p, size_t i) {
  while (is_digit(p[i])) {
    i++;
  }
  return i;
}

// NUM = INT | digits [ "." digits ] [ "e" [ "+" | "-" ] digits ]
size_t number_scan(const char *p, bool *is_int) {
  size_t end = skip_digits(p, 0);
  *is_int = true;
  if (end != 0 && p[end] == '.' && is_digit(p[end + 1])) {
    end = skip_digits(p, end + 1);
    *is_int = false;
  }
  if (end != 0 && p[end] == 'e') {
    size_t digits = end + (p[end + 1] == '+' || p[end + 1] == '-' ? 2 : 1);
    if (is_digit(p[digits])) {
      end = skip_digits(p, digits);
      *is_int = false;
    }
  }
  return is_word_char(p[end]) ? 0 : end;
}

size_t number_scan_wrong(const char *p) {
  size_t end = 0;
  while (is_word_char(p[end])) {
    end++;
  }
  return end;
}

// The host program may have called setlocale: a spec's decimal point is a point all the same.
static double read_double(const char *digits) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  double x = c == (locale_t)0 ? strtod(digits, NULL) : strtod_l(digits, NULL, c);
  if (c != (locale_t)0) {
    freelocale(c);
  }
  return x;
}

static bool has_nonzero_digit(struct str s) {
  for (size_t i = 0; i < s.n && s.p[i] != 'e'; i++) {
    if (s.p[i] >= '1' && s.p[i] <= '9') {
      return true;
    }
  }
  return false;
}

// Each integer up to 2^53 is a double.
static bool is_exact(struct str digits) {
  const uint64_t most = (uint64_t)1 << 53;
  uint64_t x = 0;
  for (size_t i = 0; i < digits.n && x <= most; i++) {
    x = x * 10 + (uint64_t)(digits.p[i] - '0');
  }
  return x <= most;
}

bool number_value(struct str text, bool is_int, double *x) {
  *x = read_double(text.p);
  return !isinf(*x) && !(is_int && !is_exact(text)) &&
         !(*x == 0.0 && has_nonzero_digit(text));
}
