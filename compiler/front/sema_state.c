// States of an instantiation: which exist, how they rest, their class, their start.
#include "front/sema_rule.h"

enum { BLOCK_DEFAULT = 256, BLOCK_MULTIPLE = 4096, QUANTIZE_FROM = 4096 };

bool shape_is_small(const struct shape *s) {
  return s->rank < 2 || shape_numel(s) < QUANTIZE_FROM;
}

static bool is_quantized(enum storage s) {
  return s == ST_Q8 || s == ST_Q8U;
}

// A storage by name: one of the language, or a static of type storage.
static bool storage_named(struct ctx *c, const struct storage_ref *ref,
                          enum storage *out) {
  uint32_t i = c->o == NULL ? NO_INDEX : name_map_get(&c->o->names, ref->name);
  if (i == NO_INDEX || c->o->opt->stmt[i]->kind != STMT_STATIC) {
    return storage_find(ref->name, out);
  }
  const struct texpr *v = c->bind[i].value;
  if (v == NULL || is_poison(v)) {
    return false;
  }
  if (v->type != VT_STORAGE) {
    (void)REPORT(c, ref->span, E0217, ref->name, STR("a storage"),
                 str_of(vtype_noun(v->type)));
    return false;
  }
  *out = (enum storage)v->num;
  return true;
}

bool storage_resolve(struct ctx *c, const struct storage_ref *ref,
                     struct storage_choice *out) {
  *out = (struct storage_choice){ST_F32, 0};
  if (!storage_named(c, ref, &out->storage)) {
    return false;
  }
  if (!is_quantized(out->storage)) {
    if (ref->has_block) {
      (void)REPORT(c, ref->span, E0228, str_of(storage_name(out->storage)));
    }
    return true;
  }
  out->block = BLOCK_DEFAULT;
  if (ref->has_block) {
    if (ref->block == 0 || BLOCK_MULTIPLE % ref->block != 0) {
      (void)REPORT(c, ref->span, E0229,
                   str_fmt(c->s->f->arena, "%llu", (unsigned long long)ref->block));
    } else {
      out->block = (uint32_t)ref->block;
    }
  }
  return true;
}

// Blocks lie in rows of the parameter; small and rank 1 ones are not worth their error (DESIGN section 3).
static void apply_storage(struct ctx *c, struct rule_state *s, struct storage_choice how,
                          struct span at) {
  if (is_quantized(how.storage) && s->cls != CLS_ELEM) {
    (void)REPORT(c, at, E0230, s->name, str_of(cls_name(s->cls)));
    return;
  }
  s->kept_f32 = is_quantized(how.storage) && c->is_small;
  s->storage = s->kept_f32 ? ST_F32 : how.storage;
  s->block = s->kept_f32 ? 0 : how.block;
}

// There are no rows and columns under rank 2, and the matrix is the parameter.
static bool has_class(const struct ctx *c, enum cls cls) {
  return c->shape->rank >= 2 || (cls != CLS_ROW && cls != CLS_COL);
}

static enum cls class_here(const struct ctx *c, enum cls cls) {
  return cls == CLS_MATRIX && c->shape->rank < 2 ? CLS_PARAM : cls;
}

static enum cls declared_class(struct ctx *c, const struct stmt *st) {
  enum cls cls = st->has_shape ? st->shape : CLS_PARAM;
  if (!has_class(c, cls)) {
    (void)REPORT(c, st->span, E0214, str_of(cls_name(cls)));
    return CLS_ELEM;
  }
  return class_here(c, cls);
}

static struct texpr *init_of(struct ctx *c, const struct rule_state *s,
                             const struct stmt *st) {
  c->scope = SCOPE_INIT;
  struct texpr *t = type_expr(c, st->value);
  c->scope = SCOPE_RULE;
  if (is_poison(t)) {
    return NULL;
  }
  if (t->type != VT_NUMBER) {
    (void)REPORT(c, t->span, E0217, STR("init"), STR("a number"),
                 str_of(vtype_noun(t->type)));
    return NULL;
  }
  if (!cls_fits(t->cls, s->cls)) {
    (void)REPORT(c, t->span, E0203, str_of(cls_name(t->cls)), str_of(cls_name(s->cls)),
                 s->name);
    return NULL;
  }
  bool zero = t->kind == TEX_CONST && t->num == 0;
  return zero ? NULL : t;
}

// A state exists where its `when` holds. One per group must not come and go with the parameter's shape.
static bool state_exists(struct ctx *c, const struct stmt *st) {
  bool truth = true;
  enum cls cls = CLS_GROUP;
  if (st->when == NULL) {
    return true;
  }
  if (!type_condition(c, st->when, "when", &truth, &cls)) {
    return true; // reported; the state stays known
  }
  if (st->has_shape && st->shape == CLS_GROUP && cls != CLS_GROUP) {
    (void)REPORT(c, st->when->span, E0231, st->name);
  }
  return truth;
}

static void bind_state(struct ctx *c, struct rule *rule, uint32_t i) {
  const struct stmt *st = c->o->opt->stmt[i];
  struct binding *b = &c->bind[i];
  b->exists = state_exists(c, st);
  if (!b->exists) {
    return;
  }
  struct rule_state *s = &rule->state[rule->n_states];
  *s = (struct rule_state){.name = st->name, .as = st->as, .span = st->span};
  s->stochastic = str_is(st->round, "stochastic"); // unless its `:=` says otherwise
  s->cls = declared_class(c, st);
  struct storage_choice how;
  if (storage_resolve(c, &st->storage, &how)) {
    apply_storage(c, s, how, st->storage.span);
  }
  if (st->value != NULL) {
    s->init = init_of(c, s, st);
  }
  b->index = rule->n_states++;
  b->cls = s->cls;
  // Until an update says otherwise (rule_instantiate): one value per parameter or group lives on the host.
  b->is_host = !st->has_shape || st->shape == CLS_PARAM || st->shape == CLS_GROUP;
  if (s->init != NULL && s->init->stage == STAGE_DEVICE) {
    b->is_host = false;
  }
}

static void bind_input(struct ctx *c, struct rule *rule, uint32_t i) {
  const struct stmt *st = c->o->opt->stmt[i];
  struct rule_input *in = &rule->input[rule->n_inputs];
  *in = (struct rule_input){.name = st->name, .is_scalar = !st->has_shape};
  in->cls = !st->has_shape            ? CLS_GROUP
            : has_class(c, st->shape) ? class_here(c, st->shape)
                                      : CLS_ELEM;
  c->bind[i] = (struct binding){.index = rule->n_inputs++,
                                .exists = !st->has_shape || has_class(c, st->shape),
                                .is_host = in->is_scalar,
                                .cls = in->cls};
}

// A `let` that a state's guard may name. What is wrong with it is said where the statements are typed.
static void bind_static_let(struct ctx *c, uint32_t i) {
  struct diags *real = c->diags, quiet = sema_quiet(c->s);
  uint32_t n_errors = c->n_errors;
  c->diags = &quiet;
  c->bind[i].value = type_expr(c, c->o->opt->stmt[i]->value);
  c->diags = real;
  c->n_errors = n_errors;
}

void states_bind(struct ctx *c, struct rule *rule, const struct bound_use *u) {
  uint32_t n = u->o->opt->n_stmts;
  rule->state = ARENA_ARRAY(c->s->f->arena, struct rule_state, n);
  rule->input = ARENA_ARRAY(c->s->f->arena, struct rule_input, n);
  for (uint32_t i = 0; i < n; i++) {
    if (u->o->skip[i]) {
      continue;
    }
    if (u->o->opt->stmt[i]->kind == STMT_STATE) {
      bind_state(c, rule, i);
    } else if (u->o->opt->stmt[i]->kind == STMT_INPUT) {
      bind_input(c, rule, i);
    } else if (u->o->opt->stmt[i]->kind == STMT_LET && u->o->guards_read_lets) {
      bind_static_let(c, i);
    }
  }
}

static void keep_master(struct ctx *c, struct rule *rule, const struct keep *k) {
  struct storage_choice how;
  if (!storage_resolve(c, &k->storage, &how)) {
    return;
  }
  if (how.storage != ST_F32 && how.storage != ST_BF16 && how.storage != ST_F16) {
    (void)REPORT(c, k->storage.span, E0307, str_of(storage_name(how.storage)));
    return;
  }
  rule->has_master = true;
  rule->master = how.storage;
}

static void keep_store(struct ctx *c, struct rule *rule, const struct opt_info *o,
                       const struct keep *k) {
  uint32_t i = name_map_get(&o->names, k->state);
  if (i == NO_INDEX || o->opt->stmt[i]->kind != STMT_STATE || !c->bind[i].exists) {
    return; // unknown: reported with the recipe; absent here: nothing to keep
  }
  struct rule_state *s = &rule->state[c->bind[i].index];
  if (s->is_host) {
    (void)REPORT(c, k->state_span, E0311, k->state);
    return;
  }
  struct storage_choice how;
  if (storage_resolve(c, &k->storage, &how)) {
    apply_storage(c, s, how, k->storage.span);
  }
  if (k->round.n != 0) {
    s->stochastic = str_is(k->round, "stochastic");
  }
}

void states_keep(struct ctx *c, struct rule *rule, const struct bound_use *u) {
  const struct opt_info *o = c->o;
  c->o = NULL; // storages of a recipe are those of the language
  for (uint32_t i = 0; u->use != NULL && i < u->use->n_keeps; i++) {
    const struct keep *k = &u->use->keep[i];
    if (k->kind == KEEP_MASTER) {
      keep_master(c, rule, k);
    } else {
      keep_store(c, rule, o, k);
    }
  }
  c->o = o;
  for (uint32_t i = 0; i < rule->n_stmts; i++) {
    if (rule->stmt[i].kind == RULE_STATE) {
      rule->stmt[i].stochastic = rule->state[rule->stmt[i].index].stochastic;
    }
  }
}
