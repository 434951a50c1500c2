// Members of a struct as members of a JSON object, by table: the writers and the readers of plans and programs share it.
#ifndef STEPRT_PLAN_FIELDS_H
#define STEPRT_PLAN_FIELDS_H

#include "file/text.h"
#include "plan/program.h"

enum rt_field_kind {
  RT_FIELD_U32,
  RT_FIELD_U64,
  RT_FIELD_BOOL,
  RT_FIELD_DOUBLE,
  RT_FIELD_STRING,  // const char *, never NULL
  RT_FIELD_ID,      // uint32_t; RT_NO_ID is null
  RT_FIELD_STORAGE, // uint32_t, by name
};
struct rt_field {
  const char *key;
  size_t offset;
  enum rt_field_kind kind;
};
struct rt_fields {
  const struct rt_field *field;
  uint32_t n;
};
#define RT_FIELD(KIND, type, member)                                                     \
  {#member, offsetof(struct type, member), RT_FIELD_##KIND}
#define RT_FIELD_AS(KIND, type, member, key)                                             \
  {key, offsetof(struct type, member), RT_FIELD_##KIND}
#define RT_FIELDS(rows) {rows, sizeof(rows) / sizeof *(rows)}

// The tables of a plan.
extern const struct rt_fields rt_configuration_fields, rt_memory_fields, rt_param_fields,
    rt_kernel_fields, rt_unit_fields, rt_chunk_fields, rt_totals_fields,
    rt_estimate_fields, rt_matrix_fields;

// Those of a program.
extern const struct rt_fields rt_program_fields, rt_hyper_fields, rt_iteration_fields,
    rt_program_kernel_fields, rt_built_fields, rt_ortho_set_fields, rt_rule_fields,
    rt_program_param_fields;

// Adds all members of `base` to the open object.
void rt_fields_write(struct rt_text *t, const struct rt_fields *f, const void *base);

#endif
