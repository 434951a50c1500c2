// From filled candidates to the list of phases: numbering, temps, arguments, guards.
#include "ir/phases_int.h"

#include <stdlib.h>

// ---- numbering

static bool is_host_part(const struct ir_ins *ins) {
  return ir_is_host(ins->type) || ins->op == IR_TO_F32 || ins->op == IR_TO_BOOL ||
         ins->op == IR_SET_HOST;
}

static bool has_host_part(const struct ir *ir) {
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    if (is_host_part(&ir->ins.v[i])) {
      return true;
    }
  }
  return false;
}

// Phase of each candidate, NOWHERE for empty ones; returns their number with the host phase.
static uint32_t number_phases(const struct cut *cut, uint32_t *phase_of) {
  uint32_t n = has_host_part(cut->ir) ? 1 : 0;
  for (uint32_t c = 0; c < cut->n_cands; c++) {
    phase_of[c] = cut->cand[c].role == NULL ? NOWHERE : n++;
  }
  return n;
}

// ---- temps

static int compare_temps(const void *x, const void *y) {
  const struct phase_temp *a = x, *b = y;
  uint32_t ka[3] = {a->producer, a->value.i, a->home.i + 1};
  uint32_t kb[3] = {b->producer, b->value.i, b->home.i + 1};
  for (uint32_t k = 0; k < 3; k++) {
    if (ka[k] != kb[k]) {
      return ka[k] < kb[k] ? -1 : 1;
    }
  }
  return 0;
}

static bool used_with(const struct cut *cut, uint32_t i, uint8_t role) {
  for (uint32_t c = 0; c < cut->n_cands; c++) {
    if (cut->cand[c].role != NULL && (cut->cand[c].role[i] & role) != 0) {
      return true;
    }
  }
  return false;
}

static void list_temps(const struct cut *cut, struct phases *p,
                       const uint32_t *phase_of) {
  VEC(struct phase_temp) temp = {0};
  for (uint32_t i = 0; i < cut->ir->ins.n; i++) {
    const struct ir_ins *ins = &cut->ir->ins.v[i];
    enum ir_kind kind = ir_op_info(ins->op)->kind;
    struct ir_ref ref = {i};
    struct phase_temp t = {.value = ref, .home = IR_NONE, .cls = ins->cls};
    if (cut->asked[i] || kind == IRK_REDUCE || kind == IRK_MATRIX) {
      t.storage = temp_storage(cut->ir, ref);
      t.producer = t.last_consumer = phase_of[cut->runs_in[i]];
      VEC_PUSH(cut->arena, temp, t);
    }
    if (cut->stored_in[i] != NOWHERE && used_with(cut, i, ROLE_HOME)) {
      t.home = cut->home[i];
      t.storage = ir_at(cut->ir, t.home)->storage;
      t.producer = t.last_consumer = phase_of[cut->stored_in[i]];
      VEC_PUSH(cut->arena, temp, t);
    }
  }
  if (temp.n > 1) {
    qsort(temp.v, temp.n, sizeof *temp.v, compare_temps);
  }
  p->temp = temp.v;
  p->n_temps = temp.n;
}

static void link_temps(const struct cut *cut, struct phases *p, const uint8_t *role,
                       uint32_t phase) {
  struct phase *ph = &p->phase[phase];
  VEC(uint32_t) in = {0}, out = {0};
  for (uint32_t t = 0; t < p->n_temps; t++) {
    struct phase_temp *temp = &p->temp[t];
    bool own = ir_is_none(temp->home);
    if ((role[temp->value.i] & (own ? ROLE_TEMP : ROLE_HOME)) != 0) {
      VEC_PUSH(cut->arena, in, t);
      temp->last_consumer = phase > temp->last_consumer ? phase : temp->last_consumer;
    }
    if (own && temp->producer == phase) {
      VEC_PUSH(cut->arena, out, t);
    }
  }
  ph->temp_in = in.v;
  ph->n_temp_in = in.n;
  ph->temp_out = out.v;
  ph->n_temp_out = out.n;
}

// ---- instructions and scalars

static void list_ins(const struct cut *cut, struct phase *ph, const uint8_t *role) {
  VEC(struct ir_ref) ins = {0}, scalar = {0};
  bool *seen = ARENA_ARRAY(cut->arena, bool, cut->ir->ins.n);
  for (uint32_t i = 0; i < cut->ir->ins.n; i++) {
    if ((role[i] & ROLE_INS) == 0) {
      continue;
    }
    VEC_PUSH(cut->arena, ins, (struct ir_ref){i});
    const struct ir_ins *x = &cut->ir->ins.v[i];
    for (uint32_t k = 0; k < ir_op_info(x->op)->n_args; k++) {
      uint32_t arg = x->arg[k].i;
      if ((role[arg] & ROLE_SCALAR) != 0 && !seen[arg]) {
        seen[arg] = true;
        VEC_PUSH(cut->arena, scalar, (struct ir_ref){arg});
      }
    }
  }
  ph->ins = ins.v;
  ph->n_ins = ins.n;
  ph->scalar = scalar.v;
  ph->n_scalars = scalar.n;
}

static void build_host(const struct cut *cut, struct phase *ph) {
  uint8_t *role = ARENA_ARRAY(cut->arena, uint8_t, cut->ir->ins.n);
  for (uint32_t i = 0; i < cut->ir->ins.n; i++) {
    role[i] = is_host_part(&cut->ir->ins.v[i]) ? ROLE_INS : 0;
  }
  ph->kind = PHASE_HOST;
  list_ins(cut, ph, role);
}

struct phases *phases_build(struct cut *cut) {
  struct phases *p = ARENA_NEW(cut->arena, struct phases);
  uint32_t *phase_of = ARENA_ARRAY(cut->arena, uint32_t, cut->n_cands);
  p->ir = cut->ir;
  p->n_phases = number_phases(cut, phase_of);
  p->phase = ARENA_ARRAY(cut->arena, struct phase, p->n_phases);
  if (has_host_part(cut->ir)) {
    build_host(cut, &p->phase[0]);
  }
  list_temps(cut, p, phase_of);
  for (uint32_t c = 0; c < cut->n_cands; c++) {
    const struct cand *cand = &cut->cand[c];
    if (cand->role == NULL) {
      continue;
    }
    struct phase *ph = &p->phase[phase_of[c]];
    ph->kind = cand->kind;
    ph->domain = cand->kind == PHASE_MAP ? cand->domain : CLS_ELEM;
    list_ins(cut, ph, cand->role);
    link_temps(cut, p, cand->role, phase_of[c]);
    phase_find_guards(cut->arena, cut->ir, ph, p->temp);
  }
  return p;
}
