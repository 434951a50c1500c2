// The value types of the language: stage, shape class, storage.
#ifndef STEPC_FRONT_TYPES_H
#define STEPC_FRONT_TYPES_H

#include "base/str.h"

// When a value is known (DESIGN section 3). Ordered: a join takes the larger.
enum stage {
  STAGE_STATIC, // at compile time, per instantiation
  STAGE_HOST, // once per step on the host, in double: hypers, `step`, host states, scalar inputs
  STAGE_DEVICE, // in the kernels, in f32
};

// Shape class: how many values there are. `cls_join` is the only broadcasting.
enum cls {
  CLS_GROUP,  // one for all parameters of a `use` line
  CLS_PARAM,  // one per parameter
  CLS_MATRIX, // one per matrix of a stack
  CLS_ROW,    // one per row of each matrix
  CLS_COL,    // one per column of each matrix
  CLS_ELEM,   // one per element: `like param`
};
enum cls cls_join(enum cls a, enum cls b); // row with col gives elem
bool cls_fits(
    enum cls value,
    enum cls into); // may a value of class `value` be stored where `into` is declared
const char *cls_name(enum cls c); // "per row", "like param"

// How a tensor rests. Arithmetic is f32.
enum storage { ST_F32, ST_BF16, ST_F16, ST_F8E4M3, ST_F8E5M2, ST_Q8, ST_Q8U };
const char *storage_name(enum storage s);
bool storage_find(struct str name, enum storage *out);
uint32_t storage_bytes(enum storage s); // bytes per element, without scales

// What an expression is.
enum vtype { VT_POISON, VT_NUMBER, VT_BOOL, VT_STRING, VT_ITERATION, VT_STORAGE };
const char *vtype_noun(enum vtype t); // "a number", "an iteration"

enum { MAX_RANK = 8 };
struct shape {
  uint32_t rank;
  uint64_t dim[MAX_RANK];
};
uint64_t shape_numel(const struct shape *s); // fits 2^63: the readers check
uint64_t shape_rows(const struct shape *s);  // second to last dimension; rank >= 2
uint64_t shape_cols(const struct shape *s);  // last dimension; rank >= 2
uint64_t shape_batch(const struct shape *s); // product of the others; rank >= 2
bool shape_eq(const struct shape *a, const struct shape *b);
struct str shape_text(struct arena *a, const struct shape *s); // "[768, 2304]"

#endif
