// Shared by the files that read models.
#ifndef STEPC_FRONT_MODEL_INT_H
#define STEPC_FRONT_MODEL_INT_H

#include "front/json_text.h"
#include "front/model.h"

enum {
  MODEL_MAX_PARAMS = 1 << 20,
  MODEL_MAX_NAME = 1024, // bytes
  MODEL_MAX_BRACES = 3,  // i, j, k
};

struct tensor_files;

// One entry of `params` before its names are expanded; what its parameters share.
struct model_entry {
  struct span span;        // of its name: where messages about its parameters point
  struct model_param like; // everything but name, order and on_coord
  struct str name;         // with braces
  struct str tied;         // empty: not tied
  struct span tied_span;
  const struct json *order, *on; // expressions; NULL: absent
};

struct model_reader {
  struct front *f;
  struct model *m;
  uint32_t file;                         // the source that spans refer to
  struct json_doc *doc;                  // released by model_read
  struct tensor_files *files;            // likewise
  VEC(struct model_param) param;         // the model under construction
  VEC(const struct model_entry *) entry; // of each parameter
};

// ---- values with messages
// Reports E0505: `v`, the value of `what`, is not `want`.
void model_bad_value(struct model_reader *r, const struct json *v, struct str what,
                     const char *want);
// The member `key` of `obj`, of that kind. NULL when it is absent (E0504 if `where` is given) or of another kind
// (E0505); `*ok` is then cleared unless an optional one is absent.
const struct json *model_member(struct model_reader *r, const struct json *obj,
                                const char *key, enum json_kind kind, const char *where,
                                bool *ok);
// Reports keys that are not among the `n` known ones.
bool model_check_keys(struct model_reader *r, const struct json *obj, const char *where,
                      const char *const *known, uint32_t n);

// ---- what holds for every form of an entry; false: reported
bool model_check_name(struct model_reader *r, const struct model_entry *e);
bool model_check_tied(struct model_reader *r,
                      const struct model_entry *e); // of one that is tied
bool model_read_dtype(struct model_reader *r, struct span at, const char *key,
                      struct str text, enum storage *out);
const char *model_shape_problem(const struct shape *s); // NULL: none

// ---- parts
void model_read_json(struct model_reader *r, const struct json *root); // stepc-model/1
bool model_read_mesh(struct model_reader *r, const struct json *root);
void model_read_entry(struct model_reader *r, const struct json *v);
bool model_read_placement(struct model_reader *r, const struct json *v,
                          struct model_entry *e);
void model_expand(struct model_reader *r, const struct model_entry *e);
void model_read_table(struct model_reader *r, const struct model_tensor *t, uint32_t n);

// Evaluates "1+i", "j/16": integers, i, j, k (var[0, n_vars)), + - * / % and parentheses; / and % round down.
// False: `*why` says what is wrong. The result is at most 2^53.
bool model_eval(struct arena *a, struct str text, const uint64_t *var, uint32_t n_vars,
                uint64_t *out, struct str *why);

// ---- names
// Parameters by name, without regard to how often a name stands. Lookups take log n.
struct model_names {
  const struct model *m;
  struct name_key *key; // sorted by hash, name, index
};
struct model_names model_names_new(struct arena *a, const struct model *m);
uint32_t model_names_find(const struct model_names *n,
                          struct str name); // UINT32_MAX: none
// The next pair of equal names at or after *at, in the order of hashes; false: no more.
bool model_names_twice(const struct model_names *n, uint32_t *at, uint32_t *first,
                       uint32_t *second);

#endif
