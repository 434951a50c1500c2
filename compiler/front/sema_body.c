// The statements of a rule in one instantiation: lets and updates typed in text order, host states told from the others.
#include "front/sema_rule.h"

struct body {
  struct ctx *c;
  struct rule *rule;
  uint32_t *decl;              // by rule state: the statement that declares it
  const struct stmt **updated; // by rule state: the one that updates it
  const struct stmt *param;    // that updates the parameter
  VEC(struct rule_stmt) out;
};

static void push(struct body *b, enum rule_stmt_kind kind, uint32_t index,
                 const struct stmt *st, struct texpr *value) {
  struct rule_stmt r = {.kind = kind,
                        .index = index,
                        .name = st->name,
                        .value = value,
                        .stochastic = str_is(st->round, "stochastic"),
                        .span = st->span};
  VEC_PUSH(b->c->s->f->arena, b->out, r);
}

// A static `let` stands for its value wherever it is read, so that conditions may use it.
static void type_let_stmt(struct body *b, uint32_t i) {
  const struct stmt *st = b->c->o->opt->stmt[i];
  struct texpr *v = type_expr(b->c, st->value);
  b->c->bind[i] = (struct binding){.value = v, .index = b->out.n, .exists = true};
  if (v->kind != TEX_CONST) {
    push(b, RULE_LET, 0, st, v);
  }
}

static bool number_wanted(struct body *b, const struct texpr *v) {
  if (v->type == VT_NUMBER || is_poison(v)) {
    return true;
  }
  (void)REPORT(b->c, v->span, E0217, STR(":="), STR("a number"),
               str_of(vtype_noun(v->type)));
  return false;
}

static void update_param(struct body *b, const struct stmt *st, struct texpr *v) {
  if (b->param != NULL) {
    struct diag *g = REPORT(b->c, st->name_span, E0233, st->name);
    diag_note(b->c->diags, g, b->param->span, STR("first updated here"));
    return;
  }
  b->param = st;
  if (number_wanted(b, v)) {
    push(b, RULE_PARAM, 0, st, v);
  }
}

static void report_class(struct body *b, const struct rule_state *s,
                         const struct texpr *v) {
  struct diag *g = REPORT(b->c, v->span, E0203, str_of(cls_name(v->cls)),
                          str_of(cls_name(s->cls)), s->name);
  diag_note(b->c->diags, g, s->span, STR("declared here"));
  if (s->cls == CLS_GROUP && v->stage != STAGE_DEVICE) {
    diag_help(b->c->diags, g,
              STR("what depends on `step` or on the parameter's shape is a value per "
                  "param; leave out `per group`"));
  }
}

static void update_state(struct body *b, const struct stmt *st, uint32_t decl,
                         struct texpr *v) {
  struct ctx *c = b->c;
  const struct binding *to = &c->bind[decl];
  struct rule_state *s = &b->rule->state[to->index];
  if (b->updated[to->index] != NULL) {
    struct diag *g = REPORT(c, st->name_span, E0233, st->name);
    diag_note(c->diags, g, b->updated[to->index]->span, STR("first updated here"));
    return;
  }
  b->updated[to->index] = st;
  if (!number_wanted(b, v) || is_poison(v)) {
    return;
  }
  if (!cls_fits(v->cls, s->cls)) {
    report_class(b, s, v);
    return;
  }
  if (st->round.n != 0) {
    s->stochastic = str_is(st->round, "stochastic");
  }
  if (to->is_host && s->stochastic) {
    (void)REPORT(c, st->name_span, E0236, s->name);
  }
  push(b, RULE_STATE, to->index, st, v);
}

static void type_update(struct body *b, uint32_t i) {
  struct ctx *c = b->c;
  const struct stmt *st = c->o->opt->stmt[i];
  bool truth = true;
  enum cls cls = CLS_GROUP;
  if (st->when != NULL && !type_condition(c, st->when, "when", &truth, &cls)) {
    return;
  }
  if (!truth) {
    return;
  }
  uint32_t decl = name_map_get(&c->o->names, st->name);
  if (decl != NO_INDEX && c->o->opt->stmt[decl]->kind != STMT_STATE) {
    return; // reported with the names
  }
  if (decl != NO_INDEX && !c->bind[decl].exists) {
    struct diag *g = REPORT(c, st->name_span, E0222, st->name);
    diag_note(c->diags, g, c->o->opt->stmt[decl]->span, STR("its `when` is false here"));
    return;
  }
  struct texpr *v = type_expr(c, st->value);
  if (decl != NO_INDEX) {
    const struct stmt *state = c->o->opt->stmt[decl];
    if (state->has_shape && state->shape == CLS_GROUP && cls != CLS_GROUP) {
      (void)REPORT(c, st->when->span, E0231, st->name);
    }
    update_state(b, st, decl, v);
  } else if (str_is(st->name, "param")) {
    update_param(b, st, v);
  }
}

static uint32_t *declarations(const struct ctx *c, const struct rule *rule) {
  uint32_t *decl = ARENA_ARRAY(c->s->f->arena, uint32_t, rule->n_states);
  for (uint32_t i = 0; i < c->o->opt->n_stmts; i++) {
    if (c->o->opt->stmt[i]->kind == STMT_STATE && c->bind[i].exists) {
      decl[c->bind[i].index] = i;
    }
  }
  return decl;
}

static void type_body(struct body *b) {
  const struct opt_info *o = b->c->o;
  b->c->scope = SCOPE_RULE;
  b->param = NULL;
  b->out.n = 0;
  b->updated = ARENA_ARRAY(b->c->s->f->arena, const struct stmt *, b->rule->n_states);
  for (uint32_t i = 0; i < o->opt->n_stmts; i++) {
    if (o->opt->stmt[i]->kind == STMT_UPDATE) {
      type_update(b, i);
    } else if (o->opt->stmt[i]->kind == STMT_LET && !o->skip[i]) {
      type_let_stmt(b, i);
    }
  }
  if (b->param == NULL) {
    (void)REPORT(b->c, o->opt->name_span, E0234, o->opt->name);
  }
}

// ---- host states

// Does the value come from the device, as far as is known by now?
static bool is_device(const struct body *b, const struct texpr *t, const bool *let) {
  switch (t->kind) {
  case TEX_STATE: return !b->c->bind[b->decl[t->index]].is_host;
  case TEX_LET: return let[t->index];
  case TEX_CALL:
    for (uint32_t i = 0; i < t->n_args; i++) {
      if (is_device(b, t->arg[i], let)) {
        return true;
      }
    }
    return fn_group_of(t->fn) == FNG_REDUCE || fn_group_of(t->fn) == FNG_MATRIX;
  case TEX_CONST:
  case TEX_HYPER:
  case TEX_STEP:
  case TEX_PARAM:
  case TEX_GRAD:
  case TEX_INPUT:
  case TEX_POISON: break;
  }
  return t->stage == STAGE_DEVICE;
}

// One walk down the statements; true when a state taken for a host one turned out to read the device.
static bool demote_once(struct body *b, bool *let) {
  struct ctx *c = b->c;
  bool changed = false;
  for (uint32_t k = 0; k < b->out.n; k++) {
    const struct rule_stmt *r = &b->out.v[k];
    let[k] = is_device(b, r->value, let);
    if (r->kind == RULE_STATE && let[k] && c->bind[b->decl[r->index]].is_host) {
      c->bind[b->decl[r->index]].is_host = false;
      changed = true;
    }
  }
  return changed;
}

static bool demote_states(struct body *b) {
  bool *let = ARENA_ARRAY(b->c->s->f->arena, bool, b->out.n);
  bool changed = false;
  while (demote_once(b, let)) {
    changed = true;
  }
  return changed;
}

static bool has_host_states(const struct ctx *c) {
  for (uint32_t i = 0; i < c->o->opt->n_stmts; i++) {
    if (c->o->opt->stmt[i]->kind == STMT_STATE && c->bind[i].exists &&
        c->bind[i].is_host) {
      return true;
    }
  }
  return false;
}

// States start as host ones and fall to the device until nothing changes. Typing again shows what was no valid
// expression of a host state.
static void settle_host_states(struct body *b) {
  if (!has_host_states(b->c)) {
    return;
  }
  struct diags *real = b->c->diags;
  struct diags quiet = sema_quiet(b->c->s);
  uint32_t n_errors = b->c->n_errors;
  b->c->diags = &quiet;
  do {
    type_body(b);
  } while (demote_states(b));
  b->c->diags = real;
  b->c->n_errors = n_errors;
}

static void finish_states(struct body *b) {
  struct ctx *c = b->c;
  for (uint32_t i = 0; i < c->o->opt->n_stmts; i++) {
    const struct stmt *st = c->o->opt->stmt[i];
    if (st->kind != STMT_STATE || !c->bind[i].exists) {
      continue;
    }
    struct rule_state *s = &b->rule->state[c->bind[i].index];
    s->is_host = c->bind[i].is_host;
    if (s->is_host && s->storage != ST_F32) {
      (void)REPORT(c, st->storage.span, E0235, s->name, str_of(storage_name(s->storage)));
    }
  }
}

void body_type(struct ctx *c, struct rule *rule) {
  struct body b = {.c = c, .rule = rule, .decl = declarations(c, rule)};
  settle_host_states(&b);
  type_body(&b);
  rule->stmt = b.out.v;
  rule->n_stmts = b.out.n;
  finish_states(&b);
}

// ---- inputs that the live statements read

static void mark_read(struct rule *rule, const struct texpr *t, bool *live) {
  if (t->kind == TEX_INPUT) {
    rule->input[t->index].used = true;
  } else if (t->kind == TEX_LET) {
    live[t->index] = true;
  }
  for (uint32_t i = 0; i < t->n_args; i++) {
    mark_read(rule, t->arg[i], live);
  }
}

// Upwards: a let is read below its place only.
void inputs_mark(struct arena *a, struct rule *rule) {
  bool *live = ARENA_ARRAY(a, bool, rule->n_stmts);
  for (uint32_t i = rule->n_stmts; i-- > 0;) {
    if (live[i] || rule->stmt[i].kind != RULE_LET) {
      mark_read(rule, rule->stmt[i].value, live);
    }
  }
}
