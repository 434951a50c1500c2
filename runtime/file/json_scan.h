// The strict scan that stands before cJSON: it accepts a text or names the first place where it is wrong.
#ifndef STEPRT_FILE_JSON_SCAN_H
#define STEPRT_FILE_JSON_SCAN_H

#include "file/json.h"

// One value of the text, in the order of the text.
struct json_mark {
  // byte offset of the member's key; of the value itself where it is no member
  uint32_t key;
  uint32_t at, end; // bytes [at, end) of the value
  uint32_t subtree; // marks from this one through its last descendant
  bool is_uint;     // a number of digits only
};

struct json_marks {
  struct json_mark *v; // the caller frees it
  uint32_t n, cap;
};

// Checks all of json_parse's conditions but duplicate keys and the range of fractional numbers, which need decoded
// values. False: `err` is filled and `out` empty.
bool json_scan(const char *text, size_t n, struct json_marks *out,
               struct json_error *err);

#endif
