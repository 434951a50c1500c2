// The buffers and scalars of an operation.
#include "emit/cpu_ops.h"

// ---- temps

static bool is_first_wave(const struct phases *ph, uint32_t phase) {
  return phase == 0 || (phase == 1 && ph->phase[0].kind == PHASE_HOST);
}

static enum temp_role role_of(const struct phases *ph, uint32_t temp) {
  const struct phase_temp *t = &ph->temp[temp];
  if (!is_first_wave(ph, t->producer)) {
    return TEMP_INNER;
  }
  return t->last_consumer == ph->n_phases - 1 ? TEMP_CROSS : TEMP_FRONT;
}

// The buffer of a rule's temp, grown to `numel`.
static uint32_t temp_buffer(struct waves *w, const struct phases *ph, uint32_t temp,
                            uint64_t numel) {
  struct planner *p = w->p;
  enum storage storage = ph->temp[temp].storage;
  enum temp_role role = role_of(ph, temp);
  uint32_t ordinal = 0;
  for (uint32_t i = 0; i < temp; i++) {
    ordinal += ph->temp[i].storage == storage && role_of(ph, i) == role;
  }
  role = role == TEMP_CROSS && w->odd ? TEMP_CROSS_ODD : role;
  while (w->pool.buffer[role][storage].n <= ordinal) {
    struct rt_buffer b = {
        .kind = RT_BUF_TEMP, .storage = storage, .param = UINT32_MAX, .name = "temp"};
    VEC_PUSH(p->arena, p->buffer, b);
    VEC_PUSH(p->arena, w->pool.buffer[role][storage], p->buffer.n - 1);
  }
  uint32_t buffer = w->pool.buffer[role][storage].v[ordinal];
  if (p->buffer.v[buffer].numel < numel) {
    p->buffer.v[buffer].numel = numel;
  }
  return buffer;
}

// ---- maps

static uint32_t state_buffer(const struct planner *p, uint32_t param, const struct ir *ir,
                             uint32_t state) {
  uint32_t device = 0;
  for (uint32_t i = 0; i < state; i++) {
    device += !ir->state[i].is_host;
  }
  return p->param[param].first_state + device;
}

static uint32_t slot_buffer(struct waves *w, uint32_t param, const struct phases *ph,
                            const struct kernel_slot *slot) {
  struct planner *p = w->p;
  switch (slot->kind) {
  case SLOT_PARAM: return p->param[param].param_buffer;
  case SLOT_GRAD: return p->param[param].grad_buffer;
  case SLOT_STATE: return state_buffer(p, param, ph->ir, slot->index);
  case SLOT_TEMP: return temp_buffer(w, ph, slot->index, p->param[param].numel);
  }
  return UINT32_MAX;
}

struct rt_wave_op cpu_op_map(struct waves *w, uint32_t param,
                             const struct kernel_map *m) {
  struct planner *p = w->p;
  const struct kernel *k = p->plan->kernels.list.v[m->kernel];
  const uint32_t *out_of = p->out_of[p->param[param].rule];
  uint32_t *buffer = ARENA_ARRAY(p->arena, uint32_t, k->n_slots);
  uint32_t *scalar = ARENA_ARRAY(p->arena, uint32_t, k->n_scalars);
  for (uint32_t i = 0; i < k->n_slots; i++) {
    buffer[i] = slot_buffer(w, param, m->phases, &m->slot[i]);
  }
  for (uint32_t i = 0; i < k->n_scalars; i++) {
    struct ir_ref r = m->phases->phase[m->phase].scalar[i];
    bool is_clip = ir_at(m->phases->ir, r)->op == IR_CLIP;
    scalar[i] = is_clip ? RT_SCALAR_CLIP : out_of[r.i] - 1;
  }
  return (struct rt_wave_op){.kind = RT_WAVE_MAP,
                             .param = param,
                             .kernel = m->kernel,
                             .buffer = buffer,
                             .scalar = scalar,
                             .numel = p->param[param].numel};
}

// ---- orthogonalize

static void note_form(struct planner *p, const struct ir_iteration *it) {
  if (it->form == FORM_AUTO) {
    struct str note =
        str_fmt(p->arena, "iteration `%.*s`: form auto is standard on the cpu target",
                STR_FMT(it->name));
    VEC_PUSH(p->arena, p->plan->note, note);
  }
}

uint32_t cpu_find_iteration(struct planner *p, const struct ir_iteration *it) {
  const char *name = str_cstr(p->arena, it->name);
  for (uint32_t i = 0; i < p->iteration.n; i++) {
    if (str_eq(str_of(p->iteration.v[i].name), it->name)) {
      return i;
    }
  }
  note_form(p, it);
  double(*abc)[3] = arena_array(p->arena, it->n_steps, sizeof *abc, _Alignof(double));
  for (uint32_t i = 0; i < it->n_steps; i++) {
    abc[i][0] = it->step[i].a;
    abc[i][1] = it->step[i].b;
    abc[i][2] = it->step[i].c;
  }
  struct rt_iteration out = {.name = name,
                             .norm =
                                 it->norm == NORM_AOL ? RT_NORM_AOL : RT_NORM_FROBENIUS,
                             .norm_in_f32 = it->norm_in_f32,
                             .safety = it->safety,
                             .eps = it->eps,
                             .floor = it->floor,
                             .compute = it->compute,
                             .n_steps = it->n_steps,
                             .abc = (const double(*)[3])abc};
  VEC_PUSH(p->arena, p->iteration, out);
  return p->iteration.n - 1;
}

struct ir_ref cpu_ortho_of(const struct phases *ph, const struct phase *phase) {
  for (uint32_t i = 0; i < phase->n_ins; i++) {
    if (ir_at(ph->ir, phase->ins[i])->op == IR_ORTHO) {
      return phase->ins[i];
    }
  }
  return IR_NONE;
}

// The buffer of an operand: a temp's own, or that of the state where the value was stored.
static uint32_t temp_or_home(struct waves *w, uint32_t param, const struct phases *ph,
                             uint32_t temp) {
  struct ir_ref home = ph->temp[temp].home;
  if (ir_is_none(home)) {
    return temp_buffer(w, ph, temp, w->p->param[param].numel);
  }
  const struct ir_ins *ins = ir_at(ph->ir, home);
  return ins->op == IR_SET_STATE ? state_buffer(w->p, param, ph->ir, ins->index)
                                 : w->p->param[param].param_buffer;
}

struct rt_wave_op cpu_op_ortho(struct waves *w, uint32_t param, const struct phases *ph,
                               uint32_t phase) {
  struct planner *p = w->p;
  const struct phase *m = &ph->phase[phase];
  struct ir_ref ortho = cpu_ortho_of(ph, m);
  const struct shape *shape = &ph->ir->shape;
  uint64_t numel = p->param[param].numel;
  struct rt_wave_op op = {.kind = RT_WAVE_ORTHO,
                          .param = param,
                          .numel = numel,
                          .batch = shape_batch(shape),
                          .rows = shape_rows(shape),
                          .cols = shape_cols(shape)};
  if (ortho.i == IR_NONE_INDEX || m->n_temp_in != 1 || m->n_temp_out != 1) {
    *p->ice = STR("a matrix phase is not one orthogonalize");
    return op;
  }
  const struct ir_ins *ins = ir_at(ph->ir, ortho);
  op.iteration = cpu_find_iteration(p, &ph->ir->iteration.v[ins->index]);
  op.in = temp_or_home(w, param, ph, m->temp_in[0]);
  op.out = temp_buffer(w, ph, m->temp_out[0], numel);
  return op;
}
