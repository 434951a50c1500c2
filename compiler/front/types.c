// Shape classes, storages and shapes: the algebra behind front/types.h.
#include "front/types.h"

enum cls cls_join(enum cls a, enum cls b) {
  if ((a == CLS_ROW && b == CLS_COL) || (a == CLS_COL && b == CLS_ROW)) {
    return CLS_ELEM;
  }
  return a > b ? a : b;
}

bool cls_fits(enum cls value, enum cls into) {
  return cls_join(value, into) == into;
}

const char *cls_name(enum cls c) {
  switch (c) {
  case CLS_GROUP: return "per group";
  case CLS_PARAM: return "per param";
  case CLS_MATRIX: return "per matrix";
  case CLS_ROW: return "per row";
  case CLS_COL: return "per col";
  case CLS_ELEM: return "like param";
  }
  return "?";
}

static const struct {
  const char *name;
  uint32_t bytes;
} storages[] = {
    [ST_F32] = {"f32", 4},       [ST_BF16] = {"bf16", 2},     [ST_F16] = {"f16", 2},
    [ST_F8E4M3] = {"f8e4m3", 1}, [ST_F8E5M2] = {"f8e5m2", 1}, [ST_Q8] = {"q8", 1},
    [ST_Q8U] = {"q8u", 1},
};

const char *storage_name(enum storage s) {
  return storages[s].name;
}

uint32_t storage_bytes(enum storage s) {
  return storages[s].bytes;
}

bool storage_find(struct str name, enum storage *out) {
  for (uint32_t i = 0; i < sizeof storages / sizeof *storages; i++) {
    if (str_is(name, storages[i].name)) {
      *out = (enum storage)i;
      return true;
    }
  }
  return false;
}

const char *vtype_noun(enum vtype t) {
  switch (t) {
  case VT_POISON: return "an invalid value";
  case VT_NUMBER: return "a number";
  case VT_BOOL: return "a bool";
  case VT_STRING: return "a string";
  case VT_ITERATION: return "an iteration";
  case VT_STORAGE: return "a storage";
  }
  return "?";
}

uint64_t shape_numel(const struct shape *s) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < s->rank; i++) {
    n *= s->dim[i];
  }
  return n;
}

uint64_t shape_rows(const struct shape *s) {
  return s->dim[s->rank - 2];
}

uint64_t shape_cols(const struct shape *s) {
  return s->dim[s->rank - 1];
}

uint64_t shape_batch(const struct shape *s) {
  uint64_t n = 1;
  for (uint32_t i = 0; i + 2 < s->rank; i++) {
    n *= s->dim[i];
  }
  return n;
}

bool shape_eq(const struct shape *a, const struct shape *b) {
  if (a->rank != b->rank) {
    return false;
  }
  for (uint32_t i = 0; i < a->rank; i++) {
    if (a->dim[i] != b->dim[i]) {
      return false;
    }
  }
  return true;
}

struct str shape_text(struct arena *a, const struct shape *s) {
  struct buf b = buf_new(a);
  buf_char(&b, '[');
  for (uint32_t i = 0; i < s->rank; i++) {
    buf_printf(&b, "%s%llu", i == 0 ? "" : ", ", (unsigned long long)s->dim[i]);
  }
  buf_char(&b, ']');
  return buf_done(&b);
}
