// The members of a plan's structs, and how they are written.
#include "plan/fields.h"

#include "plan/names.h"
#include "plan/totals.h"

static const struct rt_field configuration[] = {
    RT_FIELD(STRING, rt_configuration, target),
    RT_FIELD(STRING, rt_configuration, offload),
    RT_FIELD(U64, rt_configuration, chunk_bytes),
    RT_FIELD(U32, rt_configuration, slots),
    RT_FIELD(BOOL, rt_configuration, overlap),
    RT_FIELD(U64, rt_configuration, gpu_memory),
    RT_FIELD(U64, rt_configuration, host_memory),
    RT_FIELD(U32, rt_configuration, rank),
    RT_FIELD(U32, rt_configuration, world),
};
static const struct rt_field memory[] = {
    RT_FIELD(U32, rt_plan, n_slots),     RT_FIELD(U64, rt_plan, slot_bytes),
    RT_FIELD(U64, rt_plan, arena_bytes), RT_FIELD(U64, rt_plan, state_bytes),
    RT_FIELD(U64, rt_plan, host_bytes),  RT_FIELD(U64, rt_plan, step_bytes),
    RT_FIELD(U32, rt_plan, first_ahead), RT_FIELD(U32, rt_plan, ahead),
};
static const struct rt_field param[] = {
    RT_FIELD(STRING, rt_plan_param, name),     RT_FIELD(STRING, rt_plan_param, rule),
    RT_FIELD(STRING, rt_plan_param, label),    RT_FIELD(STRING, rt_plan_param, reason),
    RT_FIELD(STORAGE, rt_plan_param, storage), RT_FIELD(STORAGE, rt_plan_param, grad),
    RT_FIELD(U64, rt_plan_param, numel),       RT_FIELD(ID, rt_plan_param, unit),
    RT_FIELD(BOOL, rt_plan_param, counted),    RT_FIELD(U64, rt_plan_param, order),
};
static const struct rt_field kernel[] = {
    RT_FIELD(STRING, rt_kernel_info, name),
    RT_FIELD(U32, rt_kernel_info, n_scalars),
    RT_FIELD(U32, rt_kernel_info, bytes_read),
    RT_FIELD(U32, rt_kernel_info, bytes_written),
    RT_FIELD(U32, rt_kernel_info, registers),
    RT_FIELD(U32, rt_kernel_info, shared),
    RT_FIELD(U32, rt_kernel_info, spilled),
};
static const struct rt_field unit[] = {
    RT_FIELD(U32, rt_unit, first_chunk),
    RT_FIELD(U32, rt_unit, n_chunks),
    RT_FIELD(U64, rt_unit, bytes),
};
static const struct rt_field chunk[] = {
    RT_FIELD(ID, rt_chunk, slot),     RT_FIELD(U64, rt_chunk, bytes),
    RT_FIELD(U64, rt_chunk, order),   RT_FIELD(U32, rt_chunk, first_unit),
    RT_FIELD(U32, rt_chunk, n_units), RT_FIELD(U32, rt_chunk, first_op),
    RT_FIELD(U32, rt_chunk, n_ops),
};
static const struct rt_field totals[] = {
    RT_FIELD(U64, rt_plan_totals, params),   RT_FIELD(U64, rt_plan_totals, updated),
    RT_FIELD(U64, rt_plan_totals, elements), RT_FIELD(U64, rt_plan_totals, resident),
    RT_FIELD(U64, rt_plan_totals, streamed), RT_FIELD(U64, rt_plan_totals, loads),
    RT_FIELD(U64, rt_plan_totals, stores),   RT_FIELD(U64, rt_plan_totals, read),
    RT_FIELD(U64, rt_plan_totals, written),  RT_FIELD(U64, rt_plan_totals, flops),
};
static const struct rt_field estimate[] = {
    // of every operation
    RT_FIELD_AS(U64, rt_op, bytes_read, "read"),
    RT_FIELD_AS(U64, rt_op, bytes_written, "written"),
    RT_FIELD(U64, rt_op, flops),
};
static const struct rt_field matrix[] = {
    // of ORTHO
    RT_FIELD_AS(U32, rt_op, kernel, "iteration"),
    RT_FIELD_AS(U64, rt_op, rows, "matrix_rows"),
    RT_FIELD_AS(U64, rt_op, cols, "matrix_cols"),
    RT_FIELD(U32, rt_op, in_bytes),
    RT_FIELD(U32, rt_op, out_bytes),
};
const struct rt_fields rt_configuration_fields = RT_FIELDS(configuration),
                       rt_memory_fields = RT_FIELDS(memory),
                       rt_param_fields = RT_FIELDS(param),
                       rt_kernel_fields = RT_FIELDS(kernel),
                       rt_unit_fields = RT_FIELDS(unit),
                       rt_chunk_fields = RT_FIELDS(chunk),
                       rt_totals_fields = RT_FIELDS(totals),
                       rt_estimate_fields = RT_FIELDS(estimate),
                       rt_matrix_fields = RT_FIELDS(matrix);

static void write_id(struct rt_text *t, uint32_t id) {
  if (id == RT_NO_ID) {
    rt_text_put(t, "null");
  } else {
    rt_text_u64(t, id);
  }
}

static void write_value(struct rt_text *t, enum rt_field_kind kind, const void *at) {
  uint32_t small = 0;
  switch (kind) {
  case RT_FIELD_U32: rt_text_u64(t, *(const uint32_t *)at); break;
  case RT_FIELD_U64: rt_text_u64(t, *(const uint64_t *)at); break;
  case RT_FIELD_BOOL: rt_text_put(t, *(const bool *)at ? "true" : "false"); break;
  case RT_FIELD_DOUBLE: rt_text_double(t, *(const double *)at); break;
  case RT_FIELD_STRING: rt_text_string(t, *(const char *const *)at); break;
  case RT_FIELD_ID: write_id(t, *(const uint32_t *)at); break;
  case RT_FIELD_STORAGE:
    small = *(const uint32_t *)at;
    rt_text_string(t, small < RT_N_STORAGES ? rt_storage_names[small] : "unknown");
    break;
  }
}

void rt_fields_write(struct rt_text *t, const struct rt_fields *f, const void *base) {
  for (uint32_t i = 0; i < f->n; i++) {
    rt_text_key(t, f->field[i].key);
    write_value(t, f->field[i].kind, (const char *)base + f->field[i].offset);
  }
}
