// The proof of a plan: each rank by itself, then what lies between ranks. The theorem stands in prove.h.
#include "plan/prove_int.h"

#include "plan/names.h" // runtime/

#include <string.h>

const char *const proof_kind_names[N_PROOF_KINDS] = {
    [PROOF_UNORDERED] = "unordered", [PROOF_UNWRITTEN] = "unwritten",
    [PROOF_REUSED] = "reused",       [PROOF_UNCOVERED] = "uncovered",
    [PROOF_TWICE] = "twice",         [PROOF_EXCHANGE] = "exchange",
    [PROOF_DEADLOCK] = "deadlock",   [PROOF_DISAGREED] = "disagreed",
    [PROOF_MISPLACED] = "misplaced", [PROOF_LOST] = "lost",
};

// Texts outlive the scratch memory of their rank: they have room from the start.
enum { FAULT_TEXT = 600 };

static struct proof *proof_new(struct arena *a) {
  struct proof *out = ARENA_NEW(a, struct proof);
  out->fault = ARENA_ARRAY(a, struct proof_fault, PROOF_MAX_FAULTS);
  for (int i = 0; i < PROOF_MAX_FAULTS; i++) {
    out->fault[i].text.p = arena_alloc(a, FAULT_TEXT, 1);
  }
  return out;
}

static bool is_known(const struct proof *proof, struct str text) {
  for (uint32_t i = 0; i < proof->n_faults; i++) {
    if (str_eq(proof->fault[i].text, text)) {
      return true;
    }
  }
  return false;
}

bool prove_fault(struct proof *proof, enum proof_kind kind, uint32_t rank, uint32_t op,
                 uint32_t other, const char *fmt, ...) {
  if (prove_full(proof)) {
    return false;
  }
  char text[FAULT_TEXT];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  struct str line = {text, n < 0 ? 0 : n < FAULT_TEXT ? (size_t)n : FAULT_TEXT - 1};
  if (is_known(proof, line)) { // one block shows it alone and in pairs
    return true;
  }
  struct proof_fault *f = &proof->fault[proof->n_faults++];
  // Made by proof_new, which alone hands out this memory.
  char *room;
  memcpy(&room, &f->text.p, sizeof room);
  memcpy(room, text, line.n);
  f->text.n = line.n;
  f->kind = kind;
  f->rank = rank;
  f->op = op;
  f->other = other;
  return !prove_full(proof);
}

const char *prove_op_text(const struct prover *p, uint32_t op) {
  const struct rt_op *o = &p->op[op];
  struct buf b = buf_new(p->arena);
  buf_printf(&b, "%s%s %u (lane %s", p->is_init ? "init's " : "", rt_op_names[o->kind],
             op, rt_lane_names[o->lane]);
  if (o->chunk != RT_NO_ID) {
    buf_printf(&b, ", chunk %u", o->chunk);
  }
  buf_char(&b, ')');
  return buf_done(&b).p;
}

const char *prove_param_text(const struct prover *p, uint32_t param) {
  struct str name = str_escape(p->arena, str_of(p->plan->param[param].name));
  return str_fmt(p->arena, "`%.80s`", str_cstr(p->arena, name)).p;
}

static void prove_list(struct prover *p) {
  prove_accesses(p);
  prove_blocks(p);
  void (*const parts[])(struct prover *) = {prove_order, prove_spread, prove_flow,
                                            prove_places, prove_cover};
  for (size_t i = 0; i < sizeof parts / sizeof *parts && !prove_full(p->proof); i++) {
    parts[i](p);
  }
  p->proof->operations += p->n_ops;
  p->proof->accesses += p->access.n;
}

static void prove_rank(struct arena *a, const struct rt_plan *plan, uint32_t rank,
                       struct proof *proof) {
  struct arena_mark mark = arena_mark(a);
  prove_list(&(struct prover){.arena = a,
                              .plan = plan,
                              .proof = proof,
                              .rank = rank,
                              .op = plan->op,
                              .n_ops = plan->n_ops});
  prove_list(&(struct prover){.arena = a,
                              .plan = plan,
                              .proof = proof,
                              .rank = rank,
                              .is_init = true,
                              .op = plan->init,
                              .n_ops = plan->n_init});
  arena_rewind(a, mark);
}

struct proof *plan_prove(struct arena *a, const struct rt_plan *const *plan, uint32_t n) {
  struct proof *proof = proof_new(a);
  for (uint32_t i = 0; i < n && !prove_full(proof); i++) {
    prove_rank(a, plan[i], plan[i]->configuration.rank, proof);
  }
  if (n > 1 && !prove_full(proof)) {
    struct arena_mark mark = arena_mark(a);
    prove_ranks(a, plan, n, proof);
    arena_rewind(a, mark);
  }
  return proof;
}
