// Reading a plan or a program from JSON: every member is known, there and of its kind, or the place is named.
#ifndef STEPRT_PLAN_READER_H
#define STEPRT_PLAN_READER_H

#include "file/json.h"
#include "plan/fields.h"
#include "plan/pool.h"
#include "steprt.h"

struct rt_reader {
  const char *text;
  struct rt_pool *pool; // of all that is read
  char *why;            // the first failure: "line 3, column 7: op 12: `chunk` is no ..."
  size_t n_why;
  steprt_status status; // of that failure
  const char *what;     // the item being read: "op"; NULL: none
  uint32_t item;
};

// All `bool` calls: false is a failure that stands in `why`. Keep the first: return at once.
__attribute__((format(printf, 3, 4))) bool
rt_reader_fail(struct rt_reader *r, const struct json *v, const char *format, ...);
bool rt_reader_no_memory(struct rt_reader *r);
// Parses the text; the caller frees the document. NULL: failed.
struct json_doc *rt_reader_parse(struct rt_reader *r, uint64_t n);

// An object whose members are those of `f` (or NULL) and `more` (separated by spaces); whether they are there is left to
// who reads them.
bool rt_reader_object(struct rt_reader *r, const struct json *v,
                      const struct rt_fields *f, const char *more);
// The member of an object whose keys were checked, of that kind; NULL: failed. Members that may be absent are found by json_get.
const struct json *rt_reader_get(struct rt_reader *r, const struct json *obj,
                                 const char *key, enum json_kind kind);
// A list and memory for one struct of `size` bytes per item.
bool rt_reader_list(struct rt_reader *r, const struct json *obj, const char *key,
                    size_t size, const struct json **list, void **items, uint32_t *n);
// The item's number stands in it under the name of its kind; later failures are said to be of it.
bool rt_reader_item(struct rt_reader *r, const struct json *v, const char *what,
                    uint32_t i);

bool rt_reader_u64(struct rt_reader *r, const struct json *v, const char *name,
                   uint64_t most, uint64_t *out);
bool rt_reader_u32(struct rt_reader *r, const struct json *v, const char *name,
                   uint32_t *out);
bool rt_reader_double(struct rt_reader *r, const struct json *v, const char *name,
                      double *out);
bool rt_reader_string(struct rt_reader *r, const struct json *v, const char *name,
                      const char **out);
// One of a table's names.
bool rt_reader_name(struct rt_reader *r, const struct json *v, const char *name,
                    const char *const *table, uint32_t n, uint32_t *out);
// 64 lower case hexadecimal digits.
bool rt_reader_digest(struct rt_reader *r, const struct json *obj, const char *key,
                      char out[65]);
bool rt_reader_format(struct rt_reader *r, const struct json *obj, const char *format);

// Members of `base` by table; rt_fields_read checks the object's keys, with `more`, before.
bool rt_fields_take(struct rt_reader *r, const struct json *obj,
                    const struct rt_fields *f, void *base);
bool rt_fields_read(struct rt_reader *r, const struct json *obj,
                    const struct rt_fields *f, const char *more, void *base);

#endif
