// Tables of edits to a text and what a reader says of each (bad_*_texts.def).
#ifndef TESTS_EDITS_H
#define TESTS_EDITS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct edit {
  const char *from, *to, *says;
};

// A copy, from malloc, in which the first `from` is `to`.
static inline char *edited(const char *text, const struct edit *e) {
  const char *at = strstr(text, e->from);
  cr_assert_not_null(at, "%s", e->from);
  size_t before = (size_t)(at - text), n = strlen(text) + strlen(e->to) + 1;
  char *copy = malloc(n);
  cr_assert_not_null(copy);
  memcpy(copy, text, before);
  strcpy(copy + before, e->to);
  strcat(copy, at + strlen(e->from));
  return copy;
}

#endif
