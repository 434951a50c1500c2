// Typed rules to IR: the header, the statements in text order, the initial states.
#include "ir/lower_int.h"

#include <assert.h>

static struct str hyper_text(struct arena *a, const struct hyper *h) {
  return h->label.n == 0 ? h->name
                         : str_fmt(a, "%.*s.%.*s", STR_FMT(h->label), STR_FMT(h->name));
}

static struct ir *new_ir(struct arena *a, const struct job *job, const struct rule *r) {
  struct ir *ir = ARENA_NEW(a, struct ir);
  *ir = (struct ir){.arena = a,
                    .name = r->name,
                    .shape = r->shape,
                    .dtype = r->dtype,
                    .grad = r->grad,
                    .n_hypers = job->n_hypers,
                    .n_states = r->n_states,
                    .input = r->input,
                    .n_inputs = r->n_inputs};
  ir->hyper = ARENA_ARRAY(a, struct str, job->n_hypers);
  for (uint32_t i = 0; i < job->n_hypers; i++) {
    ir->hyper[i] = hyper_text(a, &job->hyper[i]);
  }
  ir->state = ARENA_ARRAY(a, struct ir_state, r->n_states);
  for (uint32_t i = 0; i < r->n_states; i++) {
    const struct rule_state *s = &r->state[i];
    ir->state[i] = (struct ir_state){.name = s->name,
                                     .storage = s->is_host ? ST_F32 : s->storage,
                                     .block = s->block,
                                     .cls = s->cls,
                                     .is_host = s->is_host,
                                     .stochastic = s->stochastic};
  }
  return ir;
}

struct ir_iteration ir_expand_iteration(struct arena *a, const struct iteration *src) {
  struct ir_iteration it = {.name = src->name,
                            .norm = src->norm,
                            .norm_in_f32 = str_is(src->norm_in, "f32"),
                            .safety = src->safety,
                            .eps = src->eps,
                            .floor = src->floor,
                            .compute = src->compute,
                            .form = src->form,
                            .n_restarts = src->n_restarts};
  it.restart = ARENA_ARRAY(a, uint32_t, src->n_restarts);
  for (uint32_t i = 0; i < src->n_restarts; i++) {
    it.restart[i] = (uint32_t)src->restart[i];
  }
  VEC(struct ir_step) step = {0};
  for (uint32_t i = 0; i < src->n_iters; i++) {
    const struct iter_line *line = &src->iter[i];
    for (uint64_t k = 0; k < line->repeat; k++) {
      VEC_PUSH(a, step, ((struct ir_step){line->a, line->b, line->has_c ? line->c : 0}));
    }
  }
  uint32_t listed = step.n;
  assert(listed > 0); // an `iter` line is required
  uint32_t wanted = src->has_steps ? (uint32_t)src->steps : listed;
  while (step.n < wanted) {
    struct ir_step s = step.v[src->tail == TAIL_CYCLE ? step.n % listed : listed - 1];
    VEC_PUSH(a, step, s);
  }
  it.step = step.v;
  it.n_steps = wanted;
  return it;
}

static struct lower lower_start(struct arena *a, const struct job *job, struct ir *ir,
                                uint32_t n_stmts) {
  struct lower l = {.ir = ir, .job = job, .param = IR_NONE, .grad = IR_NONE};
  l.let = ARENA_ARRAY(a, struct ir_ref, n_stmts);
  l.state = ARENA_ARRAY(a, struct ir_ref, ir->n_states);
  for (uint32_t i = 0; i < ir->n_states; i++) {
    l.state[i] = IR_NONE;
  }
  return l;
}

static struct ir_ref round_to(struct lower *l, struct ir_ref v, enum storage storage,
                              bool stochastic, struct span span) {
  if (storage == ST_F32) {
    return v;
  }
  return lower_add(l, (struct ir_ins){.op = IR_ROUND,
                                      .storage = storage,
                                      .stochastic = stochastic,
                                      .arg = {v},
                                      .span = span});
}

// A name stands for what was stored, with all its elements: a value of a smaller class is spread over the old one
// (a `where` that folding leaves alone), because a reduction counts elements.
static struct ir_ref spread(struct lower *l, struct ir_ref v, enum cls cls,
                            struct ir_ins load) {
  if (ir_at(l->ir, v)->cls == cls) {
    return v;
  }
  struct ir_ref all = lower_add(
      l, (struct ir_ins){.op = IR_CONST, .type = IRT_DBOOL, .num = 1, .span = load.span});
  return lower_add(l, (struct ir_ins){.op = IR_WHERE,
                                      .arg = {all, v, lower_add(l, load)},
                                      .span = load.span});
}

static struct ir_ref store_state(struct lower *l, uint32_t index,
                                 const struct texpr *value, bool stochastic,
                                 struct span span) {
  const struct ir_state *s = &l->ir->state[index];
  struct ir_ins store = {.op = s->is_host ? IR_SET_HOST : IR_SET_STATE,
                         .index = index,
                         .arg = {lower_expr(l, value)},
                         .span = span};
  if (!s->is_host) {
    store.arg[0] = lower_to_device(l, store.arg[0], span);
    store.arg[0] = round_to(l, store.arg[0], s->storage, stochastic, span);
  }
  (void)lower_add(l, store);
  return store.arg[0];
}

static void update_state(struct lower *l, const struct rule_stmt *s) {
  struct ir_ref v = store_state(l, s->index, s->value, s->stochastic, s->span);
  const struct ir_state *state = &l->ir->state[s->index];
  struct ir_ins load = {.op = IR_STATE, .index = s->index, .span = s->span};
  l->state[s->index] = state->is_host ? v : spread(l, v, state->cls, load);
}

static void update_param(struct lower *l, const struct rule_stmt *s) {
  struct ir_ref v = lower_to_device(l, lower_expr(l, s->value), s->span);
  v = round_to(l, v, l->ir->dtype, s->stochastic, s->span);
  (void)lower_add(l, (struct ir_ins){.op = IR_SET_PARAM, .arg = {v}, .span = s->span});
  l->param = spread(l, v, CLS_ELEM, (struct ir_ins){.op = IR_PARAM, .span = s->span});
}

static struct ir *lower_init(struct arena *a, const struct job *job,
                             const struct rule *rule, uint32_t index) {
  const struct rule_state *s = &rule->state[index];
  struct ir *ir = new_ir(a, job, rule);
  struct lower l = lower_start(a, job, ir, 0);
  l.name = s->name;
  (void)store_state(&l, index, s->init, false, s->span);
  return ir;
}

struct ir *ir_lower(struct arena *a, const struct job *job, const struct rule *rule) {
  struct ir *ir = new_ir(a, job, rule);
  struct lower l = lower_start(a, job, ir, rule->n_stmts);
  for (uint32_t i = 0; i < rule->n_stmts; i++) {
    const struct rule_stmt *s = &rule->stmt[i];
    l.name = s->kind == RULE_PARAM ? STR("param") : s->name;
    switch (s->kind) {
    case RULE_LET: l.let[i] = lower_expr(&l, s->value); break;
    case RULE_STATE: update_state(&l, s); break;
    case RULE_PARAM: update_param(&l, s); break;
    }
  }
  ir->init = ARENA_ARRAY(a, struct ir *, rule->n_states);
  for (uint32_t i = 0; i < rule->n_states; i++) {
    ir->init[i] = rule->state[i].init == NULL ? NULL : lower_init(a, job, rule, i);
  }
  return ir;
}
