// A small plan made by hand.
#include "support/sample_plan.h"

enum { K_ADAMW, K_MUON_IN, K_MUON_OUT, N_KERNELS };
static const struct rt_access adamw_access[] = {
    {4, true, true}, {4, true, false}, {4, true, true}, {4, true, true}};
static const struct rt_access in_access[] = {
    {4, true, false}, {4, true, true}, {2, false, true}};
static const struct rt_access out_access[] = {{4, true, true}, {2, true, false}};

static const struct rt_kernel_info kernels[N_KERNELS] = {
    [K_ADAMW] = {"adamw__0", 4, 5, adamw_access, 16, 12, 40, 0, 0},
    [K_MUON_IN] = {"muon__0", 3, 1, in_access, 8, 6, 32, 0, 16},
    [K_MUON_OUT] = {"muon__1", 2, 2, out_access, 6, 4, 24, 0, 0}};

static const struct rt_plan_param params[] = {{.name = "wte",
                                               .label = "embed",
                                               .reason = "name ~ \"*wte*\"",
                                               .rule = "adamw",
                                               .rank = 2,
                                               .dim = {64, 16},
                                               .numel = 1024,
                                               .unit = 0,
                                               .first_state = 0,
                                               .n_states = 2,
                                               .counted = true},
                                              {.name = "h.0.w",
                                               .label = "muon",
                                               .reason = "rank >= 2",
                                               .rule = "muon",
                                               .rank = 2,
                                               .dim = {16, 16},
                                               .numel = 256,
                                               .unit = 1,
                                               .first_state = 2,
                                               .n_states = 1,
                                               .counted = true,
                                               .order = 1},
                                              {.name = "h.1.w",
                                               .label = "muon",
                                               .reason = "rank >= 2",
                                               .rule = "muon",
                                               .rank = 2,
                                               .dim = {16, 16},
                                               .numel = 256,
                                               .unit = 1,
                                               .first_state = 3,
                                               .n_states = 1,
                                               .counted = true,
                                               .order = 2},
                                              {.name = "b",
                                               .label = "rest",
                                               .reason = "",
                                               .rule = "adamw",
                                               .rank = 1,
                                               .dim = {16},
                                               .start = {16},
                                               .numel = 16,
                                               .unit = 2,
                                               .first_state = 4,
                                               .n_states = 2,
                                               .order = 3},
                                              {.name = "still",
                                               .label = "",
                                               .reason = "",
                                               .rule = "",
                                               .rank = 0,
                                               .numel = 1,
                                               .unit = RT_NO_ID}};

static const struct rt_state_home states[] = {{{RT_AT_HOST, 0, 0}, 4096, "m", RT_F32},
                                              {{RT_AT_HOST, 0, 4096}, 4096, "v", RT_F32},
                                              {{RT_AT_HOST, 0, 8192}, 1024, "m", RT_F32},
                                              {{RT_AT_HOST, 0, 9216}, 1024, "m", RT_F32},
                                              {{RT_AT_STATE, 0, 0}, 64, "m", RT_F32},
                                              {{RT_AT_STATE, 0, 256}, 64, "v", RT_F32}};

static const uint32_t unit_params[] = {0, 1, 2, 3};
static const struct rt_unit units[] = {
    {0, 1, 0, 1, 8192}, {1, 2, 1, 1, 2048}, {3, 1, 2, 1, 128}};

static const struct rt_event events[] = {{RT_EVENT_LOADED, 0},   {RT_EVENT_COMPUTED, 0},
                                         {RT_EVENT_FREE, 0},     {RT_EVENT_LOADED, 1},
                                         {RT_EVENT_COMPUTED, 1}, {RT_EVENT_FREE, 1}};
static const uint32_t waits[] = {2, 0, 1, 5, 3, 4};

static const struct rt_copy copies[] = {{0, 0, 8192, 0}, {8192, 8192, 2048, 1}};
static const struct rt_row rows[] = {
    {0, 0, 0, 1024, 0, 0}, {1, 1, 0, 256, 0, 0}, {2, 1, 0, 256, 0, 0}, // gradients
    {0, 0, 0, 1024, 0, 0}, {1, 1, 0, 256, 0, 0}, {2, 1, 0, 256, 0, 0},
    {1, 1, 0, 256, 1, 0},  {2, 1, 0, 256, 1, 0}, {1, 1, 0, 256, 2, 0},
    {2, 1, 0, 256, 2, 0},  {3, 2, 0, 16, 0, 0}};

#define NO_WORK .work = {RT_AT_STEP, 0, 0}
#define BEGIN(k, f, count, r, w)                                                         \
  {.kind = RT_OP_##k,                                                                    \
   .lane = RT_LANE_COMPUTE,                                                              \
   .chunk = RT_NO_ID,                                                                    \
   .first = (f),                                                                         \
   .n = (count),                                                                         \
   .signal = RT_NO_ID,                                                                   \
   .bytes_read = (r),                                                                    \
   .bytes_written = (w),                                                                 \
   NO_WORK}
#define COPY(k, c, i, w, s, bytes)                                                       \
  {.kind = RT_OP_##k,                                                                    \
   .lane = RT_LANE_##k,                                                                  \
   .chunk = (c),                                                                         \
   .first = (i),                                                                         \
   .n = 1,                                                                               \
   .first_wait = (w),                                                                    \
   .n_waits = 1,                                                                         \
   .signal = (s),                                                                        \
   .bytes_read = (bytes),                                                                \
   .bytes_written = (bytes),                                                             \
   NO_WORK}
#define MAP(c, f, count, kern, w, nw, s, r, wr)                                          \
  {.kind = RT_OP_MAP,                                                                    \
   .lane = RT_LANE_COMPUTE,                                                              \
   .chunk = (c),                                                                         \
   .first = (f),                                                                         \
   .n = (count),                                                                         \
   .kernel = (kern),                                                                     \
   .first_wait = (w),                                                                    \
   .n_waits = (nw),                                                                      \
   .signal = (s),                                                                        \
   .bytes_read = (r),                                                                    \
   .bytes_written = (wr),                                                                \
   NO_WORK}

static const struct rt_op ops[] = {BEGIN(UPLOAD, 0, 0, 64, 64),
                                   BEGIN(REDUCE, 0, 3, 6144, 40),
                                   BEGIN(VERDICT, 0, 0, 40, 16),
                                   COPY(LOAD, 0, 0, 0, 0, 8192),
                                   MAP(0, 3, 1, K_ADAMW, 1, 1, 1, 16384, 12288),
                                   COPY(STORE, 0, 0, 2, 2, 8192),
                                   COPY(LOAD, 1, 1, 3, 3, 2048),
                                   MAP(1, 4, 2, K_MUON_IN, 4, 1, RT_NO_ID, 4096, 3072),
                                   {.kind = RT_OP_ORTHO,
                                    .lane = RT_LANE_COMPUTE,
                                    .chunk = 1,
                                    .first = 6,
                                    .n = 2,
                                    .signal = RT_NO_ID,
                                    .rows = 16,
                                    .cols = 16,
                                    .in_bytes = 2,
                                    .out_bytes = 2,
                                    .bytes_read = 1024,
                                    .bytes_written = 1024,
                                    .flops = 245760,
                                    .work = {RT_AT_ARENA, 0, 30720},
                                    .work_bytes = 4096},
                                   MAP(1, 8, 2, K_MUON_OUT, 0, 0, 4, 3072, 2048),
                                   COPY(STORE, 1, 1, 5, 5, 2048),
                                   MAP(2, 10, 1, K_ADAMW, 0, 0, RT_NO_ID, 256, 192)};
static const struct rt_chunk chunks[] = {
    {0, 1, 3, 3, 0, 8192, 0}, {1, 1, 6, 5, 1, 2048, 1}, {2, 1, 11, 1, RT_NO_ID, 0, 3}};

static const char *const notes[] = {"`wte` [64, 16] is larger than a chunk",
                                    "`h.0.w` [16, 16] is larger than a chunk",
                                    "states of `rest` stay on the device"};

#define TABLE(name, from) .name = (from), .n_##name##s = sizeof(from) / sizeof *(from)
struct rt_plan sample_plan(void) {
  return (struct rt_plan){.version = RT_PLAN_VERSION,
                          .configuration = {.target = "cuda:sm_90a",
                                            .offload = "host:0.9",
                                            .chunk_bytes = 4096,
                                            .slots = 3,
                                            .world = 2},
                          .program_digest = "aa",
                          .digest = "bb",
                          .agreed = "cc",
                          TABLE(param, params),
                          TABLE(kernel, kernels),
                          TABLE(state, states),
                          TABLE(unit_param, unit_params),
                          TABLE(unit, units),
                          TABLE(chunk, chunks),
                          TABLE(op, ops),
                          .n_begin = 3,
                          TABLE(event, events),
                          TABLE(wait, waits),
                          TABLE(row, rows),
                          .copy = copies,
                          .n_copies = 2,
                          .n_slots = 3,
                          .slot_bytes = 8192,
                          .arena_bytes = 34816,
                          .state_bytes = 512,
                          .host_bytes = 10240,
                          .step_bytes = 256,
                          TABLE(note, notes)};
}
