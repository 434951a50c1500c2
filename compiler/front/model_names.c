// Names of parameters, sorted: by hash first, so that most comparisons are of integers. Sorting, unlike a table,
// has no input that makes it slow.
#include "front/model_int.h"

#include <stdlib.h>

struct name_key {
  uint64_t hash;
  uint32_t param;
};

static int compare_keys(const void *a, const void *b, void *model) {
  const struct name_key *x = a, *y = b;
  const struct model *m = model;
  if (x->hash != y->hash) {
    return x->hash < y->hash ? -1 : 1;
  }
  int c = str_cmp(m->param[x->param].name, m->param[y->param].name);
  return c != 0 ? c : (x->param > y->param) - (x->param < y->param);
}

struct model_names model_names_new(struct arena *a, const struct model *m) {
  struct model_names n = {.m = m, .key = ARENA_ARRAY(a, struct name_key, m->n_params)};
  for (uint32_t i = 0; i < m->n_params; i++) {
    n.key[i] = (struct name_key){str_hash(m->param[i].name), i};
  }
  struct model view = *m; // qsort_r wants a pointer to something it may write
  qsort_r(n.key, m->n_params, sizeof *n.key, compare_keys, &view);
  return n;
}

uint32_t model_names_find(const struct model_names *n, struct str name) {
  uint64_t hash = str_hash(name);
  uint32_t lo = 0, hi = n->m->n_params;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    const struct name_key *k = &n->key[mid];
    int c = k->hash != hash ? (k->hash < hash ? -1 : 1)
                            : str_cmp(n->m->param[k->param].name, name);
    if (c == 0) {
      return k->param;
    }
    if (c < 0) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return UINT32_MAX;
}

bool model_names_twice(const struct model_names *n, uint32_t *at, uint32_t *first,
                       uint32_t *second) {
  for (; *at + 1 < n->m->n_params; ++*at) {
    const struct name_key *k = &n->key[*at];
    if (k[0].hash == k[1].hash &&
        str_eq(n->m->param[k[0].param].name, n->m->param[k[1].param].name)) {
      *first = k[0].param;
      *second = k[1].param;
      ++*at;
      return true;
    }
  }
  return false;
}
