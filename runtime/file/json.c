// The tree: cJSON decodes what the scan has accepted; positions and children's order come from the scan's marks.
//
// cJSON alone would look keys up without regard to case, keep duplicate keys, accept raw control characters and
// round integers silently; nothing of that is reachable here.
#include "file/escape.h"
#include "file/json_scan.h"
#include "file/json_token.h"

#include <cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct json {
  const cJSON *node;
  uint32_t mark;  // index of its mark
  uint32_t first; // index of the first child; children are contiguous
  uint32_t size;
  uint32_t key, at, end;
  bool is_uint;
  const struct json *all; // the document's values
};

struct json_doc {
  cJSON *tree;
  struct json *value; // by level, root first
  uint32_t n;
};

// Lays the values out level by level, so that an item is found by its index. cJSON keeps the order of the text,
// and a mark knows how many marks its value spans: child k + 1 stands behind child k's subtree.
static void lay_out(struct json_doc *d, const struct json_marks *marks) {
  uint32_t filled = 1;
  d->value[0] = (struct json){.node = d->tree, .all = d->value};
  for (uint32_t i = 0; i < d->n; i++) {
    struct json *v = &d->value[i];
    const struct json_mark *m = &marks->v[v->mark];
    v->key = m->key;
    v->at = m->at;
    v->end = m->end;
    v->is_uint = m->is_uint;
    v->first = filled;
    uint32_t mark = v->mark + 1;
    for (const cJSON *c = v->node->child; c != NULL; c = c->next) {
      d->value[filled++] = (struct json){.node = c, .mark = mark, .all = d->value};
      mark += marks->v[mark].subtree;
    }
    v->size = filled - v->first;
  }
}

// Orders members by key, equal keys by place.
static int compare_keys(const void *a, const void *b) {
  const struct json *x = *(const struct json *const *)a,
                    *y = *(const struct json *const *)b;
  int c = strcmp(x->node->string, y->node->string);
  return c != 0 ? c : (x->key > y->key) - (x->key < y->key);
}

// The first member whose key stood before in the same object; NULL: none. Sorting, unlike hashing, has no input
// that makes it quadratic. `order` has room for the members.
static const struct json *find_duplicate(const struct json *obj,
                                         const struct json **order) {
  const struct json *first = NULL;
  for (uint32_t i = 0; i < obj->size; i++) {
    order[i] = &obj->all[obj->first + i];
  }
  qsort(order, obj->size, sizeof *order, compare_keys);
  for (uint32_t i = 1; i < obj->size; i++) {
    if (strcmp(order[i - 1]->node->string, order[i]->node->string) == 0 &&
        (first == NULL || order[i]->key < first->key)) {
      first = order[i];
    }
  }
  return first;
}

// What the scan could not see: decoded keys that are equal, and numbers beyond the range of double.
static bool check_values(const struct json_doc *d, const char *text,
                         struct json_error *err) {
  const struct json **order = malloc(d->n * sizeof *order);
  if (order == NULL) {
    json_fail(err, text, 0, "out of memory");
    err->no_memory = true;
    return false;
  }
  const struct json *wrong = NULL;
  for (uint32_t i = 0; i < d->n && wrong == NULL; i++) {
    const struct json *v = &d->value[i];
    if (cJSON_IsObject(v->node)) {
      wrong = find_duplicate(v, order);
    } else if (cJSON_IsNumber(v->node) && !isfinite(v->node->valuedouble)) {
      wrong = v;
    }
  }
  free(order);
  if (wrong != NULL && cJSON_IsNumber(wrong->node) &&
      !isfinite(wrong->node->valuedouble)) {
    json_fail(err, text, wrong->at, "a number beyond the range of double");
  } else if (wrong != NULL) {
    char key[120];
    rt_escape(key, sizeof key, wrong->node->string, strlen(wrong->node->string));
    json_fail(err, text, wrong->key, "duplicate key `%s`", key);
  }
  return wrong == NULL;
}

struct json_doc *json_parse(const char *text, size_t n, struct json_error *err) {
  struct json_marks marks;
  if (!json_scan(text, n, &marks, err)) {
    return NULL;
  }
  struct json_doc *d = calloc(1, sizeof *d);
  if (d == NULL) {
    goto no_memory;
  }
  d->n = marks.n;
  d->tree = cJSON_ParseWithLength(text, n);
  d->value = malloc(marks.n * sizeof *d->value);
  if (d->tree == NULL || d->value == NULL) {
    goto no_memory;
  }
  lay_out(d, &marks);
  if (!check_values(d, text, err)) {
    goto fail;
  }
  free(marks.v);
  return d;
no_memory:
  json_fail(err, text, 0, "out of memory");
  err->no_memory = true;
fail:
  free(marks.v);
  json_free(d);
  return NULL;
}

void json_free(struct json_doc *d) {
  if (d != NULL) {
    cJSON_Delete(d->tree);
    free(d->value);
    free(d);
  }
}

const struct json *json_root(const struct json_doc *d) {
  return &d->value[0];
}

enum json_kind json_kind(const struct json *v) {
  return cJSON_IsObject(v->node)   ? JSON_OBJECT
         : cJSON_IsArray(v->node)  ? JSON_ARRAY
         : cJSON_IsString(v->node) ? JSON_STRING
         : cJSON_IsNumber(v->node) ? JSON_NUMBER
         : cJSON_IsBool(v->node)   ? JSON_BOOL
                                   : JSON_NULL;
}

const char *json_kind_name(enum json_kind k) {
  static const char *const names[] = {"null",     "a boolean", "a number",
                                      "a string", "an array",  "an object"};
  return names[k];
}

uint32_t json_size(const struct json *v) {
  return v->size;
}

const struct json *json_item(const struct json *v, uint32_t i) {
  return &v->all[v->first + i];
}

const char *json_key(const struct json *v) {
  return v->node->string;
}

const struct json *json_get(const struct json *obj, const char *key) {
  for (uint32_t i = 0; i < obj->size; i++) {
    const struct json *m = json_item(obj, i);
    if (strcmp(m->node->string, key) == 0) {
      return m;
    }
  }
  return NULL;
}

bool json_bool(const struct json *v) {
  return cJSON_IsTrue(v->node) != 0;
}

double json_number(const struct json *v) {
  return v->node->valuedouble;
}

bool json_u64(const struct json *v, uint64_t *out) {
  if (!v->is_uint) {
    return false;
  }
  *out = (uint64_t)v->node->valuedouble; // exact: the scan allows at most 2^53
  return true;
}

const char *json_string(const struct json *v, size_t *n) {
  *n = strlen(v->node->valuestring); // no NUL inside: the scan refuses \u0000
  return v->node->valuestring;
}

struct json_range json_range(const struct json *v) {
  return (struct json_range){v->key, v->at, v->end};
}
