// Strict JSON: a scan of our own (positions, duplicates, numbers, depth, UTF-8), then cJSON builds the tree.
#ifndef STEPRT_FILE_JSON_H
#define STEPRT_FILE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  JSON_MAX_DEPTH = 64,
  JSON_MAX_NUMBER = 63,       // characters of one number
  JSON_MAX_VALUES = 1u << 24, // bounds the memory that a hostile text can ask for
};

struct json; // a value; owned by its document
struct json_doc;

struct json_error {
  uint64_t at;        // byte offset
  uint32_t line, col; // 1-based
  char text[200];     // lower case, no full stop; quotes from the text are escaped
  bool no_memory;     // not the text's fault
};

// Parses exactly one value. Refuses: BOM, invalid UTF-8, duplicate keys, depth over 64, integers beyond 2^53,
// numbers that are no finite double, leading zeros, control characters, \u0000, lone surrogates, trailing text,
// and what passes the limits above. Time n log n at most, whatever the text.
// NULL on refusal, `err` then filled. The text is not kept.
struct json_doc *json_parse(const char *text, size_t n, struct json_error *err);
void json_free(struct json_doc *d); // accepts NULL
const struct json *json_root(const struct json_doc *d);

enum json_kind {
  JSON_NULL,
  JSON_BOOL,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
};
enum json_kind json_kind(const struct json *v);
const char *json_kind_name(enum json_kind k); // "an object"
uint32_t json_size(const struct json *v);     // members or items
const struct json *json_item(const struct json *v,
                             uint32_t i);   // of an array or object; O(1)
const char *json_key(const struct json *v); // of a member of an object
const struct json *json_get(const struct json *obj,
                            const char *key); // case-sensitive, linear; NULL: absent
bool json_bool(const struct json *v);
double json_number(const struct json *v);
bool json_u64(const struct json *v,
              uint64_t *out); // an integer written without fraction in [0, 2^53]
const char *json_string(const struct json *v, size_t *n); // NUL-terminated, none inside

struct json_range { // byte offsets in the parsed text
  uint32_t key;     // of the member's key; `at` where the value is no member
  uint32_t at, end; // the value is [at, end)
};
struct json_range json_range(const struct json *v);

#endif
