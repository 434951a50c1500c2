// Any bytes as JSON: they are refused at a place inside the text, or every value has a kind, a range inside its
// parent's, and that range parses on its own.
#include "file/json.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_AGAIN = 200 }; // values that are parsed again: the whole stays linear

static void check(bool ok) {
  if (!ok) {
    abort();
  }
}

struct walk {
  const char *text;
  int again;
};

static void check_range(struct walk *w, const struct json *v) {
  struct json_range r = json_range(v);
  if (w->again-- <= 0) {
    return;
  }
  struct json_error err;
  struct json_doc *d = json_parse(w->text + r.at, r.end - r.at, &err);
  check(d != NULL && json_kind(json_root(d)) == json_kind(v));
  check(json_size(json_root(d)) == json_size(v));
  json_free(d);
}

static void walk_value(struct walk *w, const struct json *v, int depth) {
  struct json_range r = json_range(v);
  size_t n = 0;
  uint64_t x = 0;
  check(depth <= JSON_MAX_DEPTH && r.key <= r.at && r.at < r.end);
  check(json_kind(v) != JSON_STRING || strlen(json_string(v, &n)) == n);
  check(!json_u64(v, &x) || ((double)x == json_number(v) && x <= (uint64_t)1 << 53));
  check_range(w, v);
  uint32_t before = r.at;
  for (uint32_t i = 0; i < json_size(v); i++) {
    const struct json *item = json_item(v, i);
    struct json_range in = json_range(item);
    check(in.key > before && in.end < r.end);
    check(json_kind(v) != JSON_OBJECT || i > 100 || json_get(v, json_key(item)) == item);
    walk_value(w, item, depth + 1);
    before = in.end - 1;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct json_error err;
  struct json_doc *d = json_parse((const char *)data, size, &err);
  if (d == NULL) {
    check(err.at <= size && err.line >= 1 && err.col >= 1);
    check(err.text[0] != '\0' && !err.no_memory);
    return 0;
  }
  struct walk w = {(const char *)data, MAX_AGAIN};
  walk_value(&w, json_root(d), 0);
  json_free(d);
  return 0;
}
