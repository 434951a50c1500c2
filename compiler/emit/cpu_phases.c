// The phases of a rule as data for the planner and the runtime: which kernel, which tensors, which scalars.
#include "emit/cpu_plan.h"

static uint32_t device_state(const struct ir *ir, uint32_t state) {
  uint32_t device = 0;
  for (uint32_t i = 0; i < state; i++) {
    device += !ir->state[i].is_host;
  }
  return device;
}

static struct rt_tensor tensor_of_slot(const struct ir *ir, const struct kernel_slot *s) {
  struct rt_tensor t = {.storage = s->storage, .read = s->read, .written = s->written};
  switch (s->kind) {
  case SLOT_PARAM: t.kind = RT_TENSOR_PARAM; break;
  case SLOT_GRAD: t.kind = RT_TENSOR_GRAD; break;
  case SLOT_STATE:
    t.kind = RT_TENSOR_STATE;
    t.index = device_state(ir, s->index);
    break;
  case SLOT_TEMP:
    t.kind = RT_TENSOR_TEMP;
    t.index = s->index;
    break;
  }
  return t;
}

static struct rt_phase map_phase(struct planner *p, const uint32_t *out_of,
                                 const struct kernel_map *m) {
  const struct kernel *k = p->plan->kernels.list.v[m->kernel];
  const struct phases *ph = m->phases;
  struct rt_tensor *tensor = ARENA_ARRAY(p->arena, struct rt_tensor, k->n_slots);
  uint32_t *scalar = ARENA_ARRAY(p->arena, uint32_t, k->n_scalars);
  for (uint32_t i = 0; i < k->n_slots; i++) {
    tensor[i] = tensor_of_slot(ph->ir, &m->slot[i]);
  }
  for (uint32_t i = 0; i < k->n_scalars; i++) {
    struct ir_ref r = ph->phase[m->phase].scalar[i];
    scalar[i] = ir_at(ph->ir, r)->op == IR_CLIP ? RT_SCALAR_CLIP : out_of[r.i] - 1;
  }
  return (struct rt_phase){.kind = RT_PHASE_MAP,
                           .kernel = m->kernel,
                           .tensor = tensor,
                           .n_tensors = k->n_slots,
                           .scalar = scalar};
}

// An operand or result of an orthogonalize: a temp's own memory, or the tensor where the value was stored.
static struct rt_tensor tensor_of_temp(const struct phases *ph, uint32_t temp) {
  const struct phase_temp *t = &ph->temp[temp];
  struct rt_tensor out = {.kind = RT_TENSOR_TEMP, .index = temp, .storage = t->storage};
  if (!ir_is_none(t->home)) {
    const struct ir_ins *ins = ir_at(ph->ir, t->home);
    bool is_state = ins->op == IR_SET_STATE;
    out.kind = is_state ? RT_TENSOR_STATE : RT_TENSOR_PARAM;
    out.index = is_state ? device_state(ph->ir, ins->index) : 0;
    out.storage = ins->storage;
  }
  return out;
}

static void note_form(struct planner *p, const struct ir_iteration *it) {
  if (it->form == FORM_AUTO) {
    struct str note =
        str_fmt(p->arena, "iteration `%.*s`: form auto is standard on the cpu target",
                STR_FMT(it->name));
    VEC_PUSH(p->arena, p->plan->note, note);
  }
}

// The iteration of the program that stands for it, added where it is new.
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

static struct rt_phase ortho_phase(struct planner *p, const struct phases *ph,
                                   uint32_t phase) {
  const struct phase *m = &ph->phase[phase];
  struct ir_ref ortho = ortho_of(ph, m);
  struct rt_tensor *tensor = ARENA_ARRAY(p->arena, struct rt_tensor, 2);
  struct rt_phase out = {.kind = RT_PHASE_ORTHO, .tensor = tensor, .n_tensors = 2};
  if (ortho.i == IR_NONE_INDEX || m->n_temp_in != 1 || m->n_temp_out != 1) {
    *p->ice = STR("a matrix phase is not one orthogonalize");
    return out;
  }
  out.kernel = find_iteration(p, &ph->ir->iteration.v[ir_at(ph->ir, ortho)->index]);
  tensor[0] = tensor_of_temp(ph, m->temp_in[0]);
  tensor[0].read = true;
  tensor[1] = tensor_of_temp(ph, m->temp_out[0]);
  tensor[1].written = true;
  return out;
}

static void set_states(struct planner *p, const struct ir *ir, struct rt_rule *out) {
  struct rt_state *state = ARENA_ARRAY(p->arena, struct rt_state, ir->n_states);
  for (uint32_t s = 0; s < ir->n_states; s++) {
    if (!ir->state[s].is_host) {
      state[out->n_states++] = (struct rt_state){
          .name = str_cstr(p->arena, ir->state[s].name), .storage = ir->state[s].storage};
    }
  }
  out->state = state;
}

void cpu_set_phases(struct planner *p, uint32_t rule, struct rt_rule *out) {
  const struct phases *ph = p->j->phases[rule];
  const struct ir *ir = p->j->ir[rule];
  struct rt_phase *phase = ARENA_ARRAY(p->arena, struct rt_phase, ph->n_phases);
  struct rt_phase *init = ARENA_ARRAY(p->arena, struct rt_phase, ir->n_states);
  uint32_t *temp = ARENA_ARRAY(p->arena, uint32_t, ph->n_temps);
  set_states(p, ir, out);
  for (uint32_t i = 0; i < ph->n_phases; i++) {
    if (ph->phase[i].kind == PHASE_MAP) {
      phase[out->n_phases++] = map_phase(p, p->out_of[rule], &p->maps[rule].map[i]);
    } else if (ph->phase[i].kind == PHASE_MATRIX) {
      phase[out->n_phases++] = ortho_phase(p, ph, i);
      out->rows = shape_rows(&ir->shape);
      out->cols = shape_cols(&ir->shape);
    }
  }
  for (uint32_t s = 0; s < ir->n_states; s++) {
    if (p->maps[rule].init[s].phases != NULL) {
      init[out->n_init++] = map_phase(p, NULL, &p->maps[rule].init[s]);
    }
  }
  for (uint32_t i = 0; i < ph->n_temps; i++) {
    temp[i] = ph->temp[i].storage;
  }
  out->phase = phase;
  out->init = init;
  out->temp = temp;
  out->n_temps = ph->n_temps;
}
