// The members of a program's structs.
#include "plan/fields.h"

static const struct rt_field program[] = {
    RT_FIELD(STRING, steprt_program, target),
    RT_FIELD(BOOL, steprt_program, clips),
    RT_FIELD(BOOL, steprt_program, skips_nonfinite),
    RT_FIELD(ID, steprt_program, merge),
    RT_FIELD(ID, steprt_program, judge),
};
static const struct rt_field hyper[] = {
    RT_FIELD(STRING, rt_hyper, label),   RT_FIELD(STRING, rt_hyper, name),
    RT_FIELD(BOOL, rt_hyper, has_range), RT_FIELD(BOOL, rt_hyper, lo_open),
    RT_FIELD(BOOL, rt_hyper, hi_open),   RT_FIELD(DOUBLE, rt_hyper, lo),
    RT_FIELD(DOUBLE, rt_hyper, hi),
};
static const struct rt_field iteration[] = {
    RT_FIELD(STRING, rt_iteration, name),   RT_FIELD(BOOL, rt_iteration, norm_in_f32),
    RT_FIELD(DOUBLE, rt_iteration, safety), RT_FIELD(DOUBLE, rt_iteration, eps),
    RT_FIELD(DOUBLE, rt_iteration, floor),  RT_FIELD(STORAGE, rt_iteration, compute),
};
static const struct rt_field kernel[] = {
    RT_FIELD(STRING, rt_kernel, name),    RT_FIELD(U32, rt_kernel, n_scalars),
    RT_FIELD(U32, rt_kernel, bytes_read), RT_FIELD(U32, rt_kernel, bytes_written),
    RT_FIELD(U32, rt_kernel, block),      RT_FIELD(U32, rt_kernel, tile),
};
static const struct rt_field built[] = {
    // what the kernel compiler told
    RT_FIELD(U32, rt_kernel, registers),
    RT_FIELD(U32, rt_kernel, shared),
    RT_FIELD(U32, rt_kernel, spilled),
};
static const struct rt_field ortho_set[] = {
    RT_FIELD(STORAGE, rt_ortho_set, operand),
    RT_FIELD(STORAGE, rt_ortho_set, compute),
    RT_FIELD(BOOL, rt_ortho_set, cast_first),
};
static const struct rt_field rule[] = {
    RT_FIELD(STRING, rt_rule, name),   RT_FIELD(U32, rt_rule, use),
    RT_FIELD(U64, rt_rule, rows),      RT_FIELD(U64, rt_rule, cols),
    RT_FIELD(U32, rt_rule, n_scalars),
};
static const struct rt_field param[] = {
    RT_FIELD(STRING, rt_param, name),  RT_FIELD(STORAGE, rt_param, storage),
    RT_FIELD(STORAGE, rt_param, grad), RT_FIELD(BOOL, rt_param, active),
    RT_FIELD(ID, rt_param, rule),
};
const struct rt_fields rt_program_fields = RT_FIELDS(program),
                       rt_hyper_fields = RT_FIELDS(hyper),
                       rt_iteration_fields = RT_FIELDS(iteration),
                       rt_program_kernel_fields = RT_FIELDS(kernel),
                       rt_built_fields = RT_FIELDS(built),
                       rt_ortho_set_fields = RT_FIELDS(ortho_set),
                       rt_rule_fields = RT_FIELDS(rule),
                       rt_program_param_fields = RT_FIELDS(param);
