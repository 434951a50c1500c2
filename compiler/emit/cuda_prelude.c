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

void cuda_prelude_put(struct buf *b, const char *const *want, uint32_t n) {
  buf_puts(b, "// Start of prelude.cuh\n");
  const char *mark = strstr(cuda_prelude_text, "//: ");
  while (mark != NULL) {
    const char *name = mark + 4, *body = strchr(name, '\n') + 1;
    mark = strstr(body, "//: ");
    size_t size = mark != NULL ? (size_t)(mark - body) : strlen(body);
    if (wanted((struct str){name, (size_t)(body - 1 - name)}, want, n)) {
      while (size > 1 && body[size - 2] == '\n') {
        size--; // the empty line before the next mark
      }
      buf_puts(b, "\n");
      buf_put(b, body, size);
    }
  }
  buf_puts(b, "\n// End of prelude.cuh\n");
}
