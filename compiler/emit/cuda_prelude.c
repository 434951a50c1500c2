// Sections of prelude.cuh: `//: NAME` begins one, the next one ends it.
#include "emit/cuda_prelude.h"

#include <string.h>

static bool wanted(struct str name, const char *const *want, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (str_is(name, want[i])) {
      return true;
    }
  }
  return false;
}

// Appends the body of the section at `mark`, without the empty line before the next one; returns the next mark.
static const char *put_body(struct buf *b, const char *mark) {
  const char *body = strchr(mark, '\n') + 1, *next = strstr(body, "//: ");
  size_t size = next != NULL ? (size_t)(next - body) : strlen(body);
  while (size > 1 && body[size - 2] == '\n') {
    size--;
  }
  buf_put(b, body, size);
  return next;
}

static bool is_named(const char *mark, const char *const *want, uint32_t n) {
  return wanted((struct str){mark + 4, strcspn(mark + 4, "\n")}, want, n);
}

void cuda_prelude_put(struct buf *b, const char *const *want, uint32_t n) {
  buf_puts(b, "// Start of prelude.cuh\n");
  for (const char *mark = strstr(cuda_prelude_text, "//: "); mark != NULL;) {
    if (is_named(mark, want, n)) {
      buf_puts(b, "\n");
      mark = put_body(b, mark);
    } else {
      mark = strstr(mark + 4, "//: ");
    }
  }
  buf_puts(b, "\n// End of prelude.cuh\n");
}

void cuda_section_put(struct buf *b, const char *text, const char *section) {
  for (const char *mark = strstr(text, "//: "); mark != NULL;
       mark = strstr(mark + 4, "//: ")) {
    if (is_named(mark, &section, 1)) {
      (void)put_body(b, mark);
      return;
    }
  }
}
