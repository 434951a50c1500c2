// The program and its plan.
#include "cuda_case.h"

#include "fake_cuda.h"
#include "fake_kernels.h"

#include <string.h>

const uint64_t case_sizes[CASE_PARAMS] = {5000, 70001, 64, 3, 9000, 12288};
static const char *const names[CASE_PARAMS] = {"a.w", "b.w", "frozen",
                                               "c.w", "d.w", "e.w"};

// ---- arithmetic. Scalars as the host makes them; a clip's place holds the clip.

static void step(void *const *ptr, const float *s, uint64_t begin, uint64_t end) {
  float *p = ptr[0], *m = ptr[2];
  const float *g = ptr[1];
  for (uint64_t i = begin; i < end; i++) {
    m[i] = s[1] * m[i] + s[2] * g[i];
    p[i] = p[i] - s[0] * m[i];
  }
}

static void momentum(void *const *ptr, const float *s, uint64_t begin, uint64_t end) {
  const float *g = ptr[0];
  float *m = ptr[1], *u = ptr[2];
  for (uint64_t i = begin; i < end; i++) {
    m[i] = s[0] * m[i] + s[1] * g[i];
    u[i] = m[i] * 0.5f;
  }
}

static void update(void *const *ptr, const float *s, uint64_t begin, uint64_t end) {
  float *p = ptr[0];
  const float *u = ptr[1];
  for (uint64_t i = begin; i < end; i++) {
    p[i] = p[i] - s[0] * u[i];
  }
}

static void init(void *const *ptr, const float *s, uint64_t begin, uint64_t end) {
  (void)s;
  memcpy((float *)ptr[1] + begin, (const float *)ptr[0] + begin,
         (end - begin) * sizeof(float));
}

static const rt_map_fn functions[CASE_KERNELS] = {[CASE_STEP] = step,
                                                  [CASE_MOMENTUM] = momentum,
                                                  [CASE_UPDATE] = update,
                                                  [CASE_INIT] = init};

rt_map_fn cuda_case_map(uint32_t kernel) {
  return functions[kernel];
}

void cuda_case_register(const struct cuda_case *c) {
  fake_kernels_register(&c->program, functions);
}

// ---- the program

static const char image[] = FAKE_IMAGE;
static const uint32_t step_scalars[] = {0, 1, RT_SCALAR_CLIP},
                      momentum_scalars[] = {0, RT_SCALAR_CLIP}, update_scalars[] = {2};

// Rule 0: param, grad, m (m starts as a copy of param). Rule 1: u = m' (grad, m, u), then (param, u).
static const struct rt_tensor step_tensors[] = {
    {RT_TENSOR_PARAM, 0, RT_F32, true, true},
    {RT_TENSOR_GRAD, 0, RT_F32, true, false},
    {RT_TENSOR_STATE, 0, RT_F32, true, true},
};
static const struct rt_tensor momentum_tensors[] = {
    {RT_TENSOR_GRAD, 0, RT_F32, true, false},
    {RT_TENSOR_STATE, 0, RT_F32, true, true},
    {RT_TENSOR_TEMP, 0, RT_F32, false, true},
};
static const struct rt_tensor update_tensors[] = {
    {RT_TENSOR_PARAM, 0, RT_F32, true, true},
    {RT_TENSOR_TEMP, 0, RT_F32, true, false},
};
static const struct rt_tensor init_tensors[] = {
    {RT_TENSOR_PARAM, 0, RT_F32, true, false},
    {RT_TENSOR_STATE, 0, RT_F32, false, true},
};
static const struct rt_phase phases_0[] = {{.kind = RT_PHASE_MAP,
                                            .kernel = CASE_STEP,
                                            .scalar = step_scalars,
                                            .tensor = step_tensors,
                                            .n_tensors = 3}};
static const struct rt_phase phases_1[] = {{.kind = RT_PHASE_MAP,
                                            .kernel = CASE_MOMENTUM,
                                            .scalar = momentum_scalars,
                                            .tensor = momentum_tensors,
                                            .n_tensors = 3},
                                           {.kind = RT_PHASE_MAP,
                                            .kernel = CASE_UPDATE,
                                            .scalar = update_scalars,
                                            .tensor = update_tensors,
                                            .n_tensors = 2}};
static const struct rt_phase init_0[] = {
    {.kind = RT_PHASE_MAP, .kernel = CASE_INIT, .tensor = init_tensors, .n_tensors = 2}};
static const struct rt_state states[] = {{"m", RT_F32}};
static const uint32_t temps[] = {RT_F32};
static const struct rt_kernel kernels[CASE_KERNELS] = {
    [CASE_STEP] = {.name = "step", .n_ptrs = 3, .n_scalars = 3},
    [CASE_MOMENTUM] = {.name = "momentum", .n_ptrs = 3, .n_scalars = 2},
    [CASE_UPDATE] = {.name = "update", .n_ptrs = 2, .n_scalars = 1},
    [CASE_INIT] = {.name = "init", .n_ptrs = 2},
    [CASE_SQUARES] = {.name = "squares", .n_ptrs = 1},
    [CASE_JUDGE] = {.name = "judge"},
};
static const struct rt_access access[3] = {
    {4, true, true}, {4, true, true}, {4, true, true}};

static void make_program(struct cuda_case *c) {
  for (uint32_t k = 0; k < CASE_KERNELS; k++) {
    c->kernel[k] = kernels[k];
    c->kernel[k].image = image;
    c->kernel[k].image_bytes = sizeof image;
    c->kernel[k].block = 256;
    c->kernel[k].tile = CASE_TILE;
    c->kernel[k].access = access;
    c->info[k] = (struct rt_kernel_info){
        kernels[k].name, kernels[k].n_ptrs, kernels[k].n_scalars, access, 0, 0, 0, 0, 0};
  }
  c->rule[0] = (struct rt_rule){.phase = phases_0,
                                .n_phases = 1,
                                .init = init_0,
                                .n_init = 1,
                                .state = states,
                                .n_states = 1,
                                .name = "zero"};
  c->rule[1] = (struct rt_rule){.phase = phases_1,
                                .n_phases = 2,
                                .state = states,
                                .n_states = 1,
                                .temp = temps,
                                .n_temps = 1,
                                .name = "one"};
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    c->param[i] = (struct rt_param){.name = names[i],
                                    .rank = 1,
                                    .dim = {case_sizes[i]},
                                    .numel = case_sizes[i],
                                    .storage = RT_F32,
                                    .grad = RT_F32,
                                    .active = i != CASE_FROZEN,
                                    .rule = i % 3 == 1};
  }
  c->program = (struct steprt_program){.version = RT_PROGRAM_VERSION,
                                       .target = "cuda:sm_90",
                                       .plan = &c->plan,
                                       .squares = {CASE_SQUARES, RT_NO_ID, RT_NO_ID},
                                       .merge = RT_NO_ID,
                                       .judge = CASE_JUDGE,
                                       .n_params = CASE_PARAMS,
                                       .param = c->param,
                                       .kernel = c->kernel,
                                       .n_kernels = CASE_KERNELS,
                                       .rule = c->rule,
                                       .n_rules = 2,
                                       .clips = true,
                                       .skips_nonfinite = true};
}

// ---- the plan

static struct rt_at *add_at(struct rt_plan *p, struct cuda_case *c, uint32_t space,
                            uint32_t index, uint64_t offset) {
  c->at[p->n_at] = (struct rt_at){space, index, offset};
  return &c->at[p->n_at++];
}

// A row of one phase: its tensors' places follow from their kinds.
static void add_row(struct cuda_case *c, const struct rt_phase *ph, uint32_t phase,
                    const struct rt_row *piece, struct rt_at state, uint64_t temp) {
  struct rt_plan *p = &c->plan;
  struct rt_row row = *piece;
  row.phase = phase;
  row.at = p->n_at;
  for (uint32_t i = 0; i < ph->n_tensors; i++) {
    uint32_t kind = ph->tensor[i].kind;
    if (kind == RT_TENSOR_STATE) {
      (void)add_at(p, c, state.space, 0, state.offset);
    } else if (kind == RT_TENSOR_TEMP) {
      (void)add_at(p, c, RT_AT_ARENA, 0, temp);
    } else {
      (void)add_at(p, c, kind == RT_TENSOR_PARAM ? RT_AT_PARAM : RT_AT_GRAD, row.param,
                   4 * row.first);
    }
  }
  c->row[p->n_rows++] = row;
}

// A piece of a chunk: elements of one parameter, and where its state lies in the slot.
struct piece {
  struct rt_row row;
  uint64_t slot, host;
};
struct pieces {
  struct piece piece[CASE_MAX_ROWS];
  uint32_t n;
  uint64_t elements;
};

static void add_map(struct cuda_case *c, struct rt_op *list, uint32_t *n_list,
                    const struct pieces *s, uint32_t chunk, uint32_t rule, uint32_t phase,
                    bool init, uint64_t slot_at) {
  const struct rt_phase *ph = init ? &init_0[0] : &c->rule[rule].phase[phase];
  struct rt_op op = {.kind = RT_OP_MAP,
                     .lane = RT_LANE_COMPUTE,
                     .chunk = chunk,
                     .first = c->plan.n_rows,
                     .kernel = ph->kernel,
                     .signal = RT_NO_ID,
                     .work = {RT_AT_ARENA, 0, 0}};
  uint64_t temp = c->plan.n_slots * c->plan.slot_bytes;
  for (uint32_t i = 0; i < s->n; i++) {
    const struct piece *pc = &s->piece[i];
    if (c->param[pc->row.param].rule == rule) {
      struct rt_at state = c->plan.n_slots != 0
                               ? (struct rt_at){RT_AT_ARENA, 0, slot_at + pc->slot}
                               : (struct rt_at){RT_AT_STATE, 0, pc->host};
      add_row(c, ph, phase, &pc->row, state, temp + pc->slot);
      op.n++;
    }
  }
  list[(*n_list)++] = op;
}

static void add_copies(struct cuda_case *c, uint32_t kind, const struct pieces *s,
                       struct rt_op *list, uint32_t *n_list, uint32_t chunk,
                       uint32_t slot) {
  struct rt_op op = {.kind = kind,
                     .chunk = chunk,
                     .first = c->plan.n_copies,
                     .n = s->n,
                     .signal = 3 * slot +
                               (kind == RT_OP_LOAD ? RT_EVENT_LOADED : RT_EVENT_FREE),
                     .lane = kind == RT_OP_LOAD ? RT_LANE_LOAD : RT_LANE_STORE,
                     .first_wait = c->plan.n_waits,
                     .n_waits = 1};
  c->wait[c->plan.n_waits++] =
      3 * slot + (kind == RT_OP_LOAD ? RT_EVENT_FREE : RT_EVENT_COMPUTED);
  for (uint32_t i = 0; i < s->n; i++) {
    const struct piece *pc = &s->piece[i];
    c->copy[c->plan.n_copies++] = (struct rt_copy){
        pc->host, slot * c->plan.slot_bytes + pc->slot, 4 * pc->row.numel, pc->row.unit};
  }
  list[(*n_list)++] = op;
}

static void wait_and_signal(struct cuda_case *c, struct rt_op *first, struct rt_op *last,
                            uint32_t slot) {
  first->first_wait = c->plan.n_waits;
  first->n_waits = 1;
  c->wait[c->plan.n_waits++] = 3 * slot + RT_EVENT_LOADED;
  last->signal = 3 * slot + RT_EVENT_COMPUTED;
}

static void add_chunk(struct cuda_case *c, const struct pieces *s) {
  struct rt_plan *p = &c->plan;
  uint32_t id = p->n_chunks++, slot = p->n_slots != 0 ? id % p->n_slots : RT_NO_ID;
  uint32_t first = p->n_ops, first_init = p->n_init;
  uint64_t slot_at = p->n_slots != 0 ? slot * p->slot_bytes : 0;
  if (slot != RT_NO_ID) {
    add_copies(c, RT_OP_LOAD, s, c->op, &p->n_ops, id, slot);
    add_copies(c, RT_OP_LOAD, s, c->init, &p->n_init, RT_NO_ID, slot);
  }
  add_map(c, c->op, &p->n_ops, s, id, 0, 0, false, slot_at);
  add_map(c, c->op, &p->n_ops, s, id, 1, 0, false, slot_at);
  add_map(c, c->op, &p->n_ops, s, id, 1, 1, false, slot_at);
  add_map(c, c->init, &p->n_init, s, RT_NO_ID, 0, 0, true, slot_at);
  if (slot != RT_NO_ID) {
    wait_and_signal(c, &c->op[first + 1], &c->op[first + 3], slot);
    wait_and_signal(c, &c->init[first_init + 1], &c->init[first_init + 1], slot);
    add_copies(c, RT_OP_STORE, s, c->op, &p->n_ops, id, slot);
    add_copies(c, RT_OP_STORE, s, c->init, &p->n_init, RT_NO_ID, slot);
  }
  c->chunk[id] = (struct rt_chunk){.first_unit = s->piece[0].row.unit,
                                   .n_units = s->n,
                                   .first_op = first,
                                   .n_ops = p->n_ops - first,
                                   .slot = slot,
                                   .bytes = 4 * s->elements};
}

static void add_begin(struct cuda_case *c) {
  struct rt_plan *p = &c->plan;
  struct rt_op op = {.lane = RT_LANE_COMPUTE, .chunk = RT_NO_ID, .signal = RT_NO_ID};
  op.kind = RT_OP_UPLOAD;
  c->op[p->n_ops++] = op;
  op.kind = RT_OP_REDUCE;
  op.kernel = CASE_SQUARES;
  op.work = (struct rt_at){RT_AT_STEP, 0, 128};
  op.work_bytes = CASE_PARTS * RT_BINS_BYTES;
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    if (i != CASE_FROZEN) {
      c->row[p->n_rows++] = (struct rt_row){i, i, 0, case_sizes[i], 0, p->n_at};
      (void)add_at(p, c, RT_AT_GRAD, i, 0);
      op.n++;
    }
  }
  c->op[p->n_ops++] = op;
  op.kind = RT_OP_VERDICT;
  op.first = op.n = 0;
  c->op[p->n_ops++] = op;
  p->n_begin = p->n_ops;
}

static void make_chunks(struct cuda_case *c, uint64_t elements) {
  struct pieces s = {0};
  uint64_t host = 0;
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    uint64_t first = 0, numel = i != CASE_FROZEN ? case_sizes[i] : 0;
    c->state[i] = (struct rt_state_home){
        .at = {c->plan.n_slots != 0 ? RT_AT_HOST : RT_AT_STATE, 0, host},
        .bytes = 4 * numel};
    while (first < numel) {
      uint64_t n = numel - first, room = elements - s.elements;
      if (n > room && (room < 4096 || n <= elements)) {
        add_chunk(c, &s);
        s = (struct pieces){0};
        room = elements;
      }
      n = n > room ? room / 4096 * 4096 : n;
      s.piece[s.n++] = (struct piece){
          {.param = i, .unit = i, .first = first, .numel = n}, 4 * s.elements, host};
      s.elements += n;
      host += 4 * n;
      first += n;
    }
  }
  add_chunk(c, &s);
  *(c->plan.n_slots != 0 ? &c->plan.host_bytes : &c->plan.state_bytes) = host;
}

void cuda_case_make(struct cuda_case *c, uint32_t slots, uint64_t elements) {
  *c = (struct cuda_case){0};
  make_program(c);
  for (uint32_t i = 0; i < CASE_PARAMS; i++) {
    c->plan_param[i] = (struct rt_plan_param){.name = names[i],
                                              .label = "",
                                              .reason = "",
                                              .rule = "",
                                              .numel = case_sizes[i],
                                              .unit = i,
                                              .first_state = i,
                                              .n_states = 1};
  }
  for (uint32_t i = 0; i < 3 * slots; i++) {
    c->event[i] = (struct rt_event){RT_EVENT_LOADED + i % 3, i / 3};
  }
  c->plan = (struct rt_plan){.version = RT_PLAN_VERSION,
                             .param = c->plan_param,
                             .n_params = CASE_PARAMS,
                             .kernel = c->info,
                             .n_kernels = CASE_KERNELS,
                             .state = c->state,
                             .n_states = CASE_PARAMS,
                             .chunk = c->chunk,
                             .op = c->op,
                             .init = c->init,
                             .event = c->event,
                             .n_events = 3 * slots,
                             .wait = c->wait,
                             .row = c->row,
                             .at = c->at,
                             .copy = c->copy,
                             .n_slots = slots,
                             .slot_bytes = slots != 0 ? 4 * elements : 0,
                             .arena_bytes = 4 * (slots + 1) * elements,
                             .step_bytes = 128 + CASE_PARTS * RT_BINS_BYTES};
  add_begin(c);
  make_chunks(c, elements);
}
