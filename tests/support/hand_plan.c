#include "support/hand_plan.h"

#include "plan/program_json.h"

#include <stdlib.h>
#include <string.h>

enum {
  SLOT = 32768,
  TEMP_U = HAND_SLOTS * SLOT,
  TEMP_O = TEMP_U + 256,
  WORK = TEMP_O + 256,
  WORK_BYTES = 1280, // of two matrices on a GPU
  ARENA = WORK + WORK_BYTES,
  V_M = 256, // on the host
  V_SEED = V_M + 32768,
  HOST = V_SEED + 32768,
  H_SEED = 256, // resident
  SUMS = RT_STEP_GATHERED + 2 * RT_BINS_BYTES
};

// ---- the program

static void never_run(void *const *ptr, const float *scalar, uint64_t begin,
                      uint64_t end) {
  (void)ptr, (void)scalar, (void)begin, (void)end;
  abort();
}

static const struct rt_tensor momentum_tensors[] = {
    {RT_TENSOR_GRAD, 0, RT_F32, true, false},
    {RT_TENSOR_STATE, 0, RT_F32, true, true},
    {RT_TENSOR_TEMP, 0, RT_F32, false, true}};
static const struct rt_tensor ortho_tensors[] = {
    {RT_TENSOR_TEMP, 0, RT_F32, true, false}, {RT_TENSOR_TEMP, 1, RT_BF16, false, true}};
static const struct rt_tensor update_tensors[] = {
    {RT_TENSOR_PARAM, 0, RT_F32, true, true}, {RT_TENSOR_TEMP, 1, RT_BF16, true, false}};
static const struct rt_tensor adam_tensors[] = {
    {RT_TENSOR_PARAM, 0, RT_F32, true, true},
    {RT_TENSOR_GRAD, 0, RT_F32, true, false},
    {RT_TENSOR_STATE, 0, RT_F32, true, true},
    {RT_TENSOR_STATE, 1, RT_F32, true, false}};
static const struct rt_tensor adam_bf16_tensors[] = {
    {RT_TENSOR_PARAM, 0, RT_F32, true, true},
    {RT_TENSOR_GRAD, 0, RT_BF16, true, false},
    {RT_TENSOR_STATE, 0, RT_F32, true, true},
    {RT_TENSOR_STATE, 1, RT_F32, true, false}};
static const struct rt_tensor seed_tensors[] = {
    {RT_TENSOR_PARAM, 0, RT_F32, true, false}, {RT_TENSOR_STATE, 1, RT_F32, false, true}};

static const uint32_t scalars[] = {0, RT_SCALAR_CLIP};
static const struct rt_state states[] = {{"m", RT_F32}, {"seed", RT_F32}};
static const uint32_t temps[] = {RT_F32, RT_BF16};
static const double abc[][3] = {{3.4445, -4.775, 2.0315}, {1.5, -0.5, 0}};
static const double host_init[] = {1};
static const uint8_t host_is_group[] = {0};
static const struct rt_host_ins rule_code[] = {
    {.op = RT_HOST_HYPER, .out = 0, .index = 0},
    {.op = RT_HOST_STATE, .out = 1, .index = 0},
    {.op = RT_HOST_CONST, .out = 2, .num = 0.1},
    {.op = RT_HOST_FMA, .out = 1, .arg = {0, 1, 2}},
    {.op = RT_HOST_SET, .index = 0, .arg = {1}},
    {.op = RT_HOST_OUT, .index = 0, .arg = {1}},
};
static const struct rt_host_ins bound[] = {
    {.op = RT_HOST_HYPER, .out = 0, .index = 0},
    {.op = RT_HOST_ADD, .out = 1, .arg = {0, 0}},
};
static const struct rt_host_ins clip[] = {{.op = RT_HOST_HYPER, .out = 0, .index = 0}};
static const struct rt_hyper hypers[] = {{.label = "muon",
                                          .name = "lr",
                                          .value = 0.02,
                                          .has_range = true,
                                          .hi_open = true,
                                          .hi = (double)__builtin_inf()},
                                         {.label = "adam",
                                          .name = "lr",
                                          .value = 0.04,
                                          .bound = bound,
                                          .n_bound = 2,
                                          .n_bound_regs = 2}};

static struct rt_phase map_phase(uint32_t kernel, const struct rt_tensor *t, uint32_t n,
                                 const uint32_t *scalar) {
  return (struct rt_phase){RT_PHASE_MAP, kernel, t, n, scalar};
}

static void make_kernel(struct hand *h, uint32_t i, const char *name,
                        const struct rt_tensor *t, uint32_t n, uint32_t n_scalars) {
  struct rt_kernel *k = &h->program_kernel[i];
  *k = (struct rt_kernel){.name = name,
                          .fn = never_run,
                          .n_ptrs = n,
                          .n_scalars = n_scalars,
                          .access = h->access[i]};
  for (uint32_t p = 0; p < n; p++) {
    uint32_t bytes = rt_storage_bytes(t[p].storage);
    h->access[i][p] = (struct rt_access){bytes, t[p].read, t[p].written};
    k->bytes_read += t[p].read ? bytes : 0;
    k->bytes_written += t[p].written ? bytes : 0;
  }
  h->kernel[i] = (struct rt_kernel_info){
      name, n, n_scalars, h->access[i], k->bytes_read, k->bytes_written, .registers = 32};
}

static struct rt_rule make_rule(const char *name, const struct rt_phase *phase,
                                uint32_t n_phases, uint32_t n_states) {
  return (struct rt_rule){.name = name,
                          .phase = phase,
                          .n_phases = n_phases,
                          .state = states,
                          .n_states = n_states,
                          .ins = rule_code,
                          .n_ins = sizeof rule_code / sizeof *rule_code,
                          .n_regs = 3,
                          .n_scalars = 1,
                          .n_host_states = 1,
                          .host_init = host_init,
                          .host_is_group = host_is_group};
}

static void make_rules(struct hand *h) {
  h->muon[0] = map_phase(HAND_MOMENTUM, momentum_tensors, 3, scalars);
  h->muon[1] = (struct rt_phase){RT_PHASE_ORTHO, 0, ortho_tensors, 2, NULL};
  h->muon[2] = map_phase(HAND_UPDATE, update_tensors, 2, scalars);
  h->adam[0] = map_phase(HAND_ADAM, adam_tensors, 4, scalars);
  h->adam_bf16[0] = map_phase(HAND_ADAM_BF16, adam_bf16_tensors, 4, scalars);
  h->init[0] = map_phase(HAND_SEED, seed_tensors, 2, NULL);
  h->rule[0] = make_rule("muon", h->muon, 3, 1);
  h->rule[0].temp = temps;
  h->rule[0].n_temps = 2;
  h->rule[0].rows = h->rule[0].cols = 4;
  h->rule[1] = make_rule("adam", h->adam, 1, 2);
  h->rule[2] = make_rule("adam_bf16", h->adam_bf16, 1, 2);
  h->rule[1].init = h->rule[2].init = h->init;
  h->rule[1].n_init = h->rule[2].n_init = 1;
  h->iteration[0] = (struct rt_iteration){.name = "jordan",
                                          .norm = RT_NORM_FROBENIUS,
                                          .safety = 1,
                                          .eps = 1e-7,
                                          .compute = RT_BF16,
                                          .n_steps = 2,
                                          .abc = abc};
}

static void make_program(struct hand *h) {
  make_kernel(h, HAND_MOMENTUM, "momentum", momentum_tensors, 3, 2);
  make_kernel(h, HAND_UPDATE, "update", update_tensors, 2, 1);
  make_kernel(h, HAND_ADAM, "adam", adam_tensors, 4, 2);
  make_kernel(h, HAND_SEED, "seed", seed_tensors, 2, 0);
  make_kernel(h, HAND_ADAM_BF16, "adam_bf16", adam_bf16_tensors, 4, 2);
  make_rules(h);
  h->program = (struct steprt_program){.version = RT_PROGRAM_VERSION,
                                       .target = "cpu",
                                       .plan = &h->plan,
                                       .squares = {RT_NO_ID, RT_NO_ID, RT_NO_ID},
                                       .merge = RT_NO_ID,
                                       .judge = RT_NO_ID,
                                       .n_params = HAND_PARAMS,
                                       .param = h->program_param,
                                       .kernel = h->program_kernel,
                                       .n_kernels = HAND_KERNELS,
                                       .rule = h->rule,
                                       .n_rules = 3,
                                       .hyper = hypers,
                                       .n_hypers = 2,
                                       .iteration = h->iteration,
                                       .n_iterations = 1,
                                       .clips = true,
                                       .clip = clip,
                                       .n_clip = 1,
                                       .n_clip_regs = 1};
}

// ---- the tables of the plan

static void make_params(struct hand *h) {
  static const struct rt_plan_param params[HAND_PARAMS] = {
      {.name = "w",
       .label = "muon",
       .reason = "when rank >= 2",
       .rule = "muon",
       .rank = 3,
       .dim = {2, 4, 4},
       .start = {2, 0, 0},
       .numel = 32,
       .unit = 0,
       .n_states = 1,
       .counted = true,
       .order = 1},
      {.name = "v \"quoted\" \xc3\xa9\xe2\x80\xae",
       .label = "adam",
       .reason = "",
       .rule = "adam",
       .rank = 1,
       .dim = {8192},
       .start = {8192},
       .numel = 8192,
       .unit = 1,
       .first_state = 1,
       .n_states = 2,
       .counted = true,
       .order = 2},
      {.name = "frozen",
       .label = "",
       .reason = "frozen",
       .rule = "",
       .rank = 1,
       .dim = {3},
       .numel = 3,
       .unit = RT_NO_ID,
       .first_state = 3},
      {.name = "h",
       .label = "adam",
       .reason = "",
       .rule = "adam_bf16",
       .rank = 1,
       .dim = {16},
       .numel = 16,
       .grad = RT_BF16,
       .unit = 2,
       .first_state = 3,
       .n_states = 2,
       .counted = true,
       .order = 3}};
  static const struct rt_state_home homes[] = {
      {{RT_AT_HOST, 0, 0}, 128, "m", RT_F32},
      {{RT_AT_HOST, 0, V_M}, 32768, "m", RT_F32},
      {{RT_AT_HOST, 0, V_SEED}, 32768, "seed", RT_F32},
      {{RT_AT_STATE, 0, 0}, 64, "m", RT_F32},
      {{RT_AT_STATE, 0, H_SEED}, 64, "seed", RT_F32}};
  static const uint32_t rules[HAND_PARAMS] = {0, 1, 0, 2};
  memcpy(h->param, params, sizeof params);
  memcpy(h->state, homes, sizeof homes);
  for (uint32_t i = 0; i < HAND_PARAMS; i++) {
    const struct rt_plan_param *p = &h->param[i];
    h->program_param[i] = (struct rt_param){.name = p->name,
                                            .rank = p->rank,
                                            .numel = p->numel,
                                            .grad = p->grad,
                                            .active = p->unit != RT_NO_ID,
                                            .rule = rules[i]};
    memcpy(h->program_param[i].dim, p->dim, sizeof p->dim);
    if (p->start[0] != 0) { // the second half of the whole
      h->program_param[i].dim[0] *= 2;
      h->program_param[i].numel *= 2;
    }
  }
}

static void make_groups(struct hand *h) {
  static const uint32_t members[] = {HAND_W, HAND_V, HAND_H};
  static const struct rt_unit units[] = {
      {0, 1, 0, 1, 128}, {1, 1, 1, 2, 65536}, {2, 1, 3, 1, 128}};
  static const struct rt_chunk chunks[] = {{0, 1, HAND_LOAD_0, 5, 0, 128, 1},
                                           {1, 1, HAND_LOAD_1, 3, 1, 32768, 2},
                                           {1, 1, HAND_LOAD_2, 3, 2, 32768, 2},
                                           {2, 1, HAND_MAP_H, 1, RT_NO_ID, 0, 3}};
  memcpy(h->unit_param, members, sizeof members);
  memcpy(h->unit, units, sizeof units);
  memcpy(h->chunk, chunks, sizeof chunks);
  for (uint32_t i = 0; i < 3 * HAND_SLOTS; i++) {
    h->event[i] = (struct rt_event){i % 3, i / 3};
  }
  h->event[HAND_SUMMED] = (struct rt_event){RT_EVENT_SUMMED, 0};
  h->event[HAND_GATHERED] = (struct rt_event){RT_EVENT_GATHERED, 0};
}

// ---- the list

static struct rt_op *add_op(struct hand *h, uint32_t kind, uint32_t lane,
                            uint32_t chunk) {
  struct rt_op *op = &h->op[h->plan.n_ops++];
  *op = (struct rt_op){.kind = kind,
                       .lane = lane,
                       .chunk = chunk,
                       .kernel = RT_NO_ID,
                       .signal = RT_NO_ID,
                       .first_wait = h->plan.n_waits};
  return op;
}

static void wait_for(struct hand *h, struct rt_op *op, uint32_t event) {
  h->wait[h->plan.n_waits++] = event;
  op->n_waits++;
}

static void add_row(struct hand *h, struct rt_op *op, struct rt_row row,
                    const struct rt_at *at, uint32_t n) {
  op->first = op->n == 0 ? h->plan.n_rows : op->first;
  op->n++;
  row.unit = h->param[row.param].unit;
  row.at = h->plan.n_at;
  h->row[h->plan.n_rows++] = row;
  memcpy(&h->at[h->plan.n_at], at, n * sizeof *at);
  h->plan.n_at += n;
}

static void add_copy(struct hand *h, struct rt_op *op, struct rt_copy copy) {
  op->first = op->n == 0 ? h->plan.n_copies : op->first;
  op->n++;
  h->copy[h->plan.n_copies++] = copy;
  op->bytes_read += copy.bytes;
  op->bytes_written += copy.bytes;
}

static void make_begin(struct hand *h) {
  static const uint32_t counted[] = {HAND_W, HAND_V, HAND_H};
  (void)add_op(h, RT_OP_UPLOAD, RT_LANE_COMPUTE, RT_NO_ID);
  struct rt_op *op = add_op(h, RT_OP_REDUCE, RT_LANE_COMPUTE, RT_NO_ID);
  op->work = (struct rt_at){RT_AT_STEP, 0, SUMS};
  op->work_bytes = 4 * RT_BINS_BYTES;
  for (int i = 0; i < 3; i++) {
    const struct rt_plan_param *p = &h->param[counted[i]];
    add_row(h, op, (struct rt_row){.param = counted[i], .numel = p->numel},
            &(struct rt_at){RT_AT_GRAD, counted[i], 0}, 1);
  }
  op = add_op(h, RT_OP_MERGE, RT_LANE_COMPUTE, RT_NO_ID);
  op->work = op[-1].work;
  op->work_bytes = op[-1].work_bytes;
  op->signal = HAND_SUMMED;
  op = add_op(h, RT_OP_EXCHANGE, RT_LANE_COMM, RT_NO_ID);
  wait_for(h, op, HAND_SUMMED);
  op->signal = HAND_GATHERED;
  op = add_op(h, RT_OP_VERDICT, RT_LANE_COMPUTE, RT_NO_ID);
  wait_for(h, op, HAND_GATHERED);
  op->work = (struct rt_at){RT_AT_STEP, 0, RT_STEP_GATHERED};
  op->work_bytes = 2 * RT_BINS_BYTES;
}

static struct rt_op *add_map(struct hand *h, uint32_t chunk, uint32_t kernel) {
  struct rt_op *op = add_op(h, RT_OP_MAP, RT_LANE_COMPUTE, chunk);
  op->kernel = kernel;
  op->bytes_read = 100;
  op->bytes_written = 50;
  return op;
}

static void add_load(struct hand *h, uint32_t chunk) {
  struct rt_op *op = add_op(h, RT_OP_LOAD, RT_LANE_LOAD, chunk);
  wait_for(h, op, 3 * chunk + RT_EVENT_FREE);
  op->signal = 3 * chunk + RT_EVENT_LOADED;
  if (chunk == 0) {
    add_copy(h, op, (struct rt_copy){0, 0, 128, 0});
    return;
  }
  uint64_t piece = (chunk - 1) * 16384, slot = chunk * SLOT;
  add_copy(h, op, (struct rt_copy){V_M + piece, slot, 16384, 1});
  add_copy(h, op, (struct rt_copy){V_SEED + piece, slot + 16384, 16384, 1});
}

static void add_store(struct hand *h, uint32_t chunk, const struct rt_op *load) {
  struct rt_op *op = add_op(h, RT_OP_STORE, RT_LANE_STORE, chunk);
  wait_for(h, op, 3 * chunk + RT_EVENT_COMPUTED);
  op->signal = 3 * chunk + RT_EVENT_FREE;
  op->first = load->first;
  op->n = load->n;
  op->bytes_read = op->bytes_written = load->bytes_read;
}

static void make_matrices(struct hand *h) {
  const struct rt_at u = {RT_AT_ARENA, 0, TEMP_U}, o = {RT_AT_ARENA, 0, TEMP_O};
  add_load(h, 0);
  struct rt_op *load = &h->op[HAND_LOAD_0], *op = add_map(h, 0, HAND_MOMENTUM);
  wait_for(h, op, RT_EVENT_LOADED);
  add_row(h, op, (struct rt_row){.param = HAND_W, .numel = 32},
          (struct rt_at[]){{RT_AT_GRAD, HAND_W, 0}, {RT_AT_ARENA, 0, 0}, u}, 3);
  op = add_op(h, RT_OP_ORTHO, RT_LANE_COMPUTE, 0);
  op->kernel = 0;
  op->rows = op->cols = 4;
  op->in_bytes = 4;
  op->out_bytes = 2;
  op->work = (struct rt_at){RT_AT_ARENA, 0, WORK};
  op->work_bytes = WORK_BYTES;
  op->flops = 1024;
  add_row(h, op, (struct rt_row){.param = HAND_W, .numel = 32, .phase = 1},
          (struct rt_at[]){u, o}, 2);
  op = add_map(h, 0, HAND_UPDATE);
  op->signal = RT_EVENT_COMPUTED;
  add_row(h, op, (struct rt_row){.param = HAND_W, .numel = 32, .phase = 2},
          (struct rt_at[]){{RT_AT_PARAM, HAND_W, 0}, o}, 2);
  add_store(h, 0, load);
}

static void make_piece(struct hand *h, uint32_t chunk) {
  uint64_t first = (chunk - 1) * 4096, slot = chunk * SLOT;
  add_load(h, chunk);
  struct rt_op *load = &h->op[h->plan.n_ops - 1], *op = add_map(h, chunk, HAND_ADAM);
  wait_for(h, op, 3 * chunk + RT_EVENT_LOADED);
  op->signal = 3 * chunk + RT_EVENT_COMPUTED;
  add_row(h, op, (struct rt_row){.param = HAND_V, .first = first, .numel = 4096},
          (struct rt_at[]){{RT_AT_PARAM, HAND_V, first * 4},
                           {RT_AT_GRAD, HAND_V, first * 4},
                           {RT_AT_ARENA, 0, slot},
                           {RT_AT_ARENA, 0, slot + 16384}},
          4);
  add_store(h, chunk, load);
}

static struct rt_op *add_init(struct hand *h, const struct rt_op *like) {
  struct rt_op *op = &h->init_op[h->plan.n_init++];
  *op = *like;
  return op;
}

// The seed of v piece by piece, loaded and stored as in a step; that of h where it rests.
static void make_init(struct hand *h) {
  for (uint64_t chunk = 1; chunk < 4; chunk++) {
    uint64_t first = chunk < 3 ? (chunk - 1) * 4096 : 0;
    const struct rt_op *step = &h->op[h->chunk[chunk].first_op];
    struct rt_op *op = add_init(h, &step[chunk < 3]);
    if (chunk < 3) {
      op[1] = op[0];
      op[0] = step[0];
      h->plan.n_init++;
      op++;
    }
    op->kernel = HAND_SEED;
    op->n = 0;
    add_row(h, op,
            (struct rt_row){.param = chunk < 3 ? HAND_V : HAND_H,
                            .first = first,
                            .numel = chunk < 3 ? 4096 : 16},
            (struct rt_at[]){{RT_AT_PARAM, chunk < 3 ? HAND_V : HAND_H, first * 4},
                             {chunk < 3 ? RT_AT_ARENA : RT_AT_STATE, 0,
                              chunk < 3 ? chunk * SLOT + 16384 : H_SEED}},
            2);
    if (chunk < 3) {
      (void)add_init(h, &step[2]);
    }
  }
}

static void make_list(struct hand *h) {
  make_begin(h);
  make_matrices(h);
  make_piece(h, 1);
  make_piece(h, 2);
  struct rt_op *op = add_map(h, 3, HAND_ADAM_BF16);
  add_row(h, op, (struct rt_row){.param = HAND_H, .numel = 16},
          (struct rt_at[]){{RT_AT_PARAM, HAND_H, 0},
                           {RT_AT_GRAD, HAND_H, 0},
                           {RT_AT_STATE, 0, 0},
                           {RT_AT_STATE, 0, H_SEED}},
          4);
  make_init(h);
}

void hand_make(struct hand *h) {
  memset(h, 0, sizeof *h);
  make_program(h);
  make_params(h);
  make_groups(h);
  h->note[0] = "frozen: no update";
  h->note[1] = "v: cut into 2 chunks";
  h->plan = (struct rt_plan){
      .version = RT_PLAN_VERSION,
      .configuration = {"cpu", "host", 32768, 3, false, 0, 0, .rank = 1, .world = 2},
      .param = h->param,
      .n_params = HAND_PARAMS,
      .kernel = h->kernel,
      .n_kernels = HAND_KERNELS,
      .state = h->state,
      .n_states = 5,
      .unit_param = h->unit_param,
      .n_unit_params = 3,
      .unit = h->unit,
      .n_units = 3,
      .chunk = h->chunk,
      .n_chunks = 4,
      .op = h->op,
      .init = h->init_op,
      .n_begin = HAND_BEGIN,
      .event = h->event,
      .n_events = HAND_EVENTS,
      .wait = h->wait,
      .row = h->row,
      .at = h->at,
      .copy = h->copy,
      .n_slots = HAND_SLOTS,
      .slot_bytes = SLOT,
      .arena_bytes = ARENA,
      .state_bytes = 512,
      .host_bytes = HOST,
      .step_bytes = SUMS + 4 * RT_BINS_BYTES,
      .first_ahead = 8,
      .ahead = 4,
      .note = h->note,
      .n_notes = 2};
  make_list(h);
  if (!rt_program_digest(&h->program, h->program.digest) ||
      !rt_plan_seal(&h->plan, &h->program)) {
    abort();
  }
}

void hand_make_cuda(struct hand *h) {
  static const char image[] = "\x7f"
                              "ELF of no device";
  hand_make(h);
  h->program.target = h->plan.configuration.target = "cuda:sm_90a";
  for (uint32_t i = 0; i < HAND_KERNELS; i++) {
    h->program_kernel[i].fn = NULL;
    h->program_kernel[i].image = image;
    h->program_kernel[i].image_bytes = sizeof image - i;
    h->program_kernel[i].block = 256;
    h->program_kernel[i].tile = 1024;
  }
  h->program.squares[RT_F32] = h->program.squares[RT_BF16] = HAND_SEED;
  h->program.merge = h->program.judge = HAND_SEED;
  h->op[HAND_REDUCE].kernel = HAND_SEED;
  if (!rt_program_digest(&h->program, h->program.digest) ||
      !rt_plan_seal(&h->plan, &h->program)) {
    abort();
  }
}
