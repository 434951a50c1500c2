// Rows and copies touch what is theirs: the elements that a row names, of its own parameter, gradient and states, in
// its own unit and chunk. Addresses inside the arena are followed by prove_flow.c.
#include "plan/prove_int.h"

#include "plan/names.h" // runtime/

static bool has_rows(uint32_t kind) {
  return kind == RT_OP_MAP || kind == RT_OP_ORTHO || kind == RT_OP_REDUCE;
}

const struct rt_row *prove_row(const struct prover *p, const struct access *a) {
  return a->item != RT_NO_ID && has_rows(p->op[a->op].kind) ? &p->plan->row[a->item]
                                                            : NULL;
}

uint64_t prove_width(const struct rt_row *row, const struct access *a) {
  return (a->hi - a->lo) / row->numel; // an access without bytes is none
}

bool prove_is_home(const struct prover *p, uint32_t param, uint64_t first, uint64_t width,
                   uint32_t space, uint64_t at) {
  const struct rt_plan_param *q = &p->plan->param[param];
  for (uint32_t i = 0; i < q->n_states; i++) {
    const struct rt_state_home *h = &p->plan->state[q->first_state + i];
    if (h->at.space == space && h->at.offset + first * width == at &&
        h->bytes == q->numel * width) {
      return true;
    }
  }
  return false;
}

static bool is_own(const struct prover *p, const struct rt_row *row,
                   const struct access *a) {
  uint64_t width = prove_width(row, a);
  const struct rt_plan_param *q = &p->plan->param[row->param];
  switch ((enum rt_space)a->space) {
  case RT_AT_PARAM:
    return a->index == row->param && a->lo == row->first * width &&
           width == rt_storage_bytes(q->storage);
  case RT_AT_GRAD:
    return a->index == row->param && a->lo == row->first * width && !a->write &&
           width == rt_storage_bytes(q->grad);
  case RT_AT_STATE:
  case RT_AT_HOST:
    return prove_is_home(p, row->param, row->first, width, a->space, a->lo);
  case RT_AT_ARENA: return true;
  case RT_AT_STEP:
  case RT_N_SPACES: return false;
  }
  return false;
}

static bool is_in_chunk(const struct prover *p, uint32_t unit, uint32_t chunk) {
  const struct rt_unit *u = &p->plan->unit[unit];
  return chunk == RT_NO_ID ||
         (chunk >= u->first_chunk && chunk - u->first_chunk < u->n_chunks);
}

// The unit decides in which subsets a row takes part, the parameter whether it has a gradient.
static void test_units(struct prover *p, uint32_t op) {
  const struct rt_op *o = &p->op[op];
  bool rows = o->kind == RT_OP_MAP || o->kind == RT_OP_ORTHO;
  bool copies = o->kind == RT_OP_LOAD || o->kind == RT_OP_STORE;
  for (uint32_t i = o->first; (rows || copies) && i < o->first + o->n; i++) {
    uint32_t unit = rows ? p->plan->row[i].unit : p->plan->copy[i].unit;
    if (rows &&
        (unit == RT_NO_ID || p->plan->param[p->plan->row[i].param].unit != unit)) {
      (void)PROVE_FAULT(p, PROOF_MISPLACED, op, RT_NO_ID,
                        "%s has a row of %s in unit %u, which that parameter is not in",
                        prove_op_text(p, op), prove_param_text(p, p->plan->row[i].param),
                        unit);
    } else if (!is_in_chunk(p, unit, o->chunk)) {
      (void)PROVE_FAULT(p, PROOF_MISPLACED, op, RT_NO_ID,
                        "%s has a piece of unit %u, which is not in that chunk",
                        prove_op_text(p, op), unit);
    }
  }
}

static void test_access(struct prover *p, const struct access *a) {
  const struct rt_row *row = prove_row(p, a);
  if (row == NULL || is_own(p, row, a)) {
    return;
  }
  bool of_param = a->space == RT_AT_PARAM || a->space == RT_AT_GRAD;
  (void)PROVE_FAULT(
      p, PROOF_MISPLACED, a->op, RT_NO_ID,
      "%s %s %s [%llu, %llu)%s%s for elements [%llu, %llu) of %s, which are "
      "not there",
      prove_op_text(p, a->op), a->write ? "writes" : "reads", rt_space_names[a->space],
      (unsigned long long)a->lo, (unsigned long long)a->hi, of_param ? " of " : "",
      of_param ? prove_param_text(p, a->index) : "", (unsigned long long)row->first,
      (unsigned long long)(row->first + row->numel), prove_param_text(p, row->param));
}

void prove_places(struct prover *p) {
  for (uint32_t i = 0; i < p->n_ops && !prove_full(p->proof); i++) {
    test_units(p, i);
  }
  for (uint32_t i = 0; i < p->access.n && !prove_full(p->proof); i++) {
    test_access(p, &p->access.v[i]);
  }
}
