// The step's operations and the waves they run in.
//
// Operations of one wave share nothing that one of them writes. Parameters without matrix operations are all in
// wave 0. A matrix parameter takes one wave per phase, map - orthogonalize - map; its last map runs beside the first
// of the next matrix parameter. An orthogonalize has its wave to itself: it takes all threads. Temps are shared by
// all parameters, each as large as its largest user; what two neighbours may use at once decides how many there are.
#include "emit/cpu_ops.h"

// ---- lists

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

static void put_op(struct planner *p, struct rt_wave_op op, uint32_t wave) {
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
      put_op(p, cpu_op_map(w, param, &p->maps[p->param[param].rule].map[i]), wave);
    } else if (ph->phase[i].kind == PHASE_MATRIX) {
      put_op(p, cpu_op_ortho(w, param, ph, i), wave);
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
    if (p->maps[rule].init[s].phases != NULL) {
      struct rt_wave_op op = cpu_op_map(w, param, &p->maps[rule].init[s]);
      VEC_PUSH(p->arena, p->init, op);
    }
  }
}

void cpu_plan_ops(struct planner *p) {
  struct waves w = {.p = p};
  uint32_t n = p->j->job->model->n_params, wave = 0;
  for (uint32_t r = 0; r < p->j->job->n_rules; r++) {
    p->maps[r] = kernels_of_rule(&p->plan->kernels, p->j->phases[r], p->ice);
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
