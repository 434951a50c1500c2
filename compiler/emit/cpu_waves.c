// The step's operations and the waves they run in.
//
// Operations of one wave share nothing that one of them writes. Parameters without matrix operations are all in
// wave 0. A matrix parameter takes one wave per phase, map - orthogonalize - map; its last map runs beside the first
// of the next matrix parameter. An orthogonalize has its wave to itself: it takes all threads. Temps are shared by
// all parameters, each as large as its largest user; what two neighbours may use at once decides how many there are.
#include "emit/cpu_plan.h"

// Where a temp is used in its parameter's waves, and so which buffers it may share.
enum temp_role {
  TEMP_FRONT, // written in the first, no longer read in the last: free again when the next parameter begins
  TEMP_INNER, // written after the first
  TEMP_CROSS, // from the first to the last, where the next parameter writes its own: two sets, in turns
  TEMP_CROSS_ODD,
  N_TEMP_ROLES
};
// By role and storage, in order of use within a parameter.
struct temp_pool {
  VEC(uint32_t) buffer[N_TEMP_ROLES][ST_BF16 + 1];
};

struct waves {
  struct planner *p;
  struct temp_pool pool;
  bool odd; // the parameter at hand is the second of a pair
};

static const struct phases *phases_of(const struct planner *p, uint32_t param) {
  return p->j->phases[p->param[param].rule];
}

static bool is_matrix_rule(const struct phases *ph) {
  for (uint32_t i = 0; i < ph->n_phases; i++) {
    if (ph->phase[i].kind == PHASE_MATRIX) {
      return true;
    }
  }
  return false;
}

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

static uint32_t state_buffer(const struct planner *p, uint32_t param, const struct ir *ir,
                             uint32_t state) {
  uint32_t device = 0;
  for (uint32_t i = 0; i < state; i++) {
    device += !ir->state[i].is_host;
  }
  return p->param[param].first_state + device;
}

static uint32_t slot_buffer(struct waves *w, uint32_t param, const struct phases *ph,
                            const struct cpu_slot *slot) {
  struct planner *p = w->p;
  switch (slot->kind) {
  case SLOT_PARAM: return p->param[param].param_buffer;
  case SLOT_GRAD: return p->param[param].grad_buffer;
  case SLOT_STATE: return state_buffer(p, param, ph->ir, slot->index);
  case SLOT_TEMP: return temp_buffer(w, ph, slot->index, p->param[param].numel);
  }
  return UINT32_MAX;
}

static struct rt_op map_op(struct waves *w, uint32_t param, const struct planner_map *m) {
  struct planner *p = w->p;
  const struct cpu_kernel *k = p->plan->kernels.list.v[m->kernel];
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
  return (struct rt_op){.kind = RT_OP_MAP,
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

static uint32_t find_iteration(struct planner *p, const struct ir_iteration *it) {
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

static struct ir_ref ortho_of(const struct phases *ph, const struct phase *phase) {
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

static struct rt_op ortho_op(struct waves *w, uint32_t param, const struct phases *ph,
                             uint32_t phase) {
  struct planner *p = w->p;
  const struct phase *m = &ph->phase[phase];
  struct ir_ref ortho = ortho_of(ph, m);
  const struct shape *shape = &ph->ir->shape;
  uint64_t numel = p->param[param].numel;
  struct rt_op op = {.kind = RT_OP_ORTHO,
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
  op.iteration = find_iteration(p, &ph->ir->iteration.v[ins->index]);
  op.in = temp_or_home(w, param, ph, m->temp_in[0]);
  op.out = temp_buffer(w, ph, m->temp_out[0], numel);
  return op;
}

// ---- lists

static void put_op(struct planner *p, struct rt_op op, uint32_t wave) {
  op.wave = wave;
  VEC_PUSH(p->arena, p->op, op);
}

// All phases of one parameter from `wave` on, a wave each; returns the last one's.
static uint32_t put_param(struct waves *w, uint32_t param, uint32_t wave) {
  struct planner *p = w->p;
  const struct phases *ph = phases_of(p, param);
  uint32_t last = wave;
  for (uint32_t i = 0; i < ph->n_phases; i++) {
    if (ph->phase[i].kind == PHASE_MAP) {
      put_op(p, map_op(w, param, &p->map[p->param[param].rule][i]), wave);
    } else if (ph->phase[i].kind == PHASE_MATRIX) {
      put_op(p, ortho_op(w, param, ph, i), wave);
    } else {
      continue;
    }
    last = wave++;
  }
  return last;
}

static bool takes_part(const struct planner *p, uint32_t param) {
  return p->param[param].active && p->param[param].numel != 0;
}

static void put_initials(struct waves *w, uint32_t param) {
  struct planner *p = w->p;
  uint32_t rule = p->param[param].rule;
  for (uint32_t s = 0; s < p->j->ir[rule]->n_states; s++) {
    if (p->init_map[rule][s].phases != NULL) {
      struct rt_op op = map_op(w, param, &p->init_map[rule][s]);
      VEC_PUSH(p->arena, p->init, op);
    }
  }
}

// ---- kernels of a rule

static struct planner_map find_map(struct planner *p, const struct phases *ph,
                                   uint32_t phase, uint64_t numel) {
  struct planner_map m = {.phases = ph, .phase = phase};
  m.kernel = cpu_kernel_find(&p->plan->kernels, ph, phase, numel, &m.slot);
  return m;
}

// A state's initial elements: its IR as a phase of its own, run once at bind.
static struct planner_map find_initial(struct planner *p, const struct ir *init,
                                       uint64_t numel) {
  const struct phases *ph = phases_cut(p->arena, init);
  if (ph->n_phases != 1 || ph->phase[0].kind != PHASE_MAP ||
      ph->phase[0].n_scalars != 0) {
    *p->ice = STR("an initial state is not one map over constants and the parameter");
    return (struct planner_map){0};
  }
  return find_map(p, ph, 0, numel);
}

static void find_maps(struct planner *p, uint32_t rule) {
  const struct phases *ph = p->j->phases[rule];
  const struct ir *ir = p->j->ir[rule];
  uint64_t numel = shape_numel(&ir->shape);
  p->map[rule] = ARENA_ARRAY(p->arena, struct planner_map, ph->n_phases);
  p->init_map[rule] = ARENA_ARRAY(p->arena, struct planner_map, ir->n_states);
  for (uint32_t i = 0; i < ph->n_phases; i++) {
    if (ph->phase[i].kind == PHASE_MAP) {
      p->map[rule][i] = find_map(p, ph, i, numel);
    }
  }
  for (uint32_t s = 0; ir->init != NULL && s < ir->n_states; s++) {
    if (ir->init[s] != NULL && !ir->state[s].is_host) {
      p->init_map[rule][s] = find_initial(p, ir->init[s], numel);
    }
  }
}

void cpu_plan_ops(struct planner *p) {
  struct waves w = {.p = p};
  uint32_t n = p->j->job->model->n_params, wave = 0;
  for (uint32_t r = 0; r < p->j->job->n_rules; r++) {
    find_maps(p, r);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (takes_part(p, i) && !is_matrix_rule(phases_of(p, i))) {
      put_param(&w, i, 0);
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    if (takes_part(p, i) && is_matrix_rule(phases_of(p, i))) {
      wave = put_param(&w, i, wave);
      w.odd = !w.odd;
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    if (takes_part(p, i)) {
      put_initials(&w, i);
    }
  }
}
