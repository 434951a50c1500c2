// One optimizer by itself: its declarations, and the names in each statement. Shape and statics play no part here.
#include "front/sema_names.h"

struct builder {
  struct sema *s;
  struct diags *d;
  struct opt_info *o;
};

static bool declares(const struct stmt *st) {
  return st->kind != STMT_REQUIRE && st->kind != STMT_UPDATE;
}

static void declare(struct builder *b, uint32_t i) {
  const struct stmt *st = b->o->opt->stmt[i];
  if (name_is_taken(st->name, false)) {
    (void)DIAG(b->d, st->name_span, E0205, st->name);
    b->o->skip[i] = true;
  } else if (!name_map_put(&b->o->names, st->name, i)) {
    struct diag *g = DIAG(b->d, st->name_span, E0202, st->name);
    uint32_t first = name_map_get(&b->o->names, st->name);
    diag_note(b->d, g, b->o->opt->stmt[first]->name_span, STR("first declared here"));
    b->o->skip[i] = true;
  }
}

// Two hypers that torch users know by one name cannot be told apart in a state dict.
static void declare_as(struct builder *b, struct name_map *as, const struct stmt *st,
                       uint32_t i) {
  struct str outer = st->as.n != 0 ? st->as : st->name;
  if (!name_map_put(as, outer, i)) {
    const struct stmt *first = b->o->opt->stmt[name_map_get(as, outer)];
    struct diag *g = DIAG(b->d, st->name_span, E0211, outer);
    diag_note(b->d, g, first->name_span, STR("the other one is declared here"));
  }
}

static void check_round(struct builder *b, const struct stmt *st) {
  if (st->round.n != 0 && !str_is(st->round, "nearest") &&
      !str_is(st->round, "stochastic")) {
    struct diag *g = DIAG(b->d, st->round_span, E0227, st->round);
    struct str known[] = {STR("nearest"), STR("stochastic")};
    diag_suggest(b->d, g, st->round, known, 2);
  }
}

static const char *stmt_noun(enum stmt_kind k) {
  switch (k) {
  case STMT_HYPER: return "a hyper";
  case STMT_STATIC: return "a static";
  case STMT_STATE: return "a state";
  case STMT_INPUT: return "an input";
  case STMT_LET: return "a let";
  case STMT_REQUIRE:
  case STMT_UPDATE: break;
  }
  return "a statement";
}

static void unknown_target(struct builder *b, const struct stmt *st) {
  struct diag *g = DIAG(b->d, st->name_span, E0201, st->name);
  if (g == NULL) {
    return; // one of too many
  }
  VEC(struct str) names = {0};
  VEC_PUSH(b->s->f->arena, names, STR("param"));
  for (uint32_t i = 0; i < b->o->opt->n_stmts; i++) {
    if (b->o->opt->stmt[i]->kind == STMT_STATE) {
      VEC_PUSH(b->s->f->arena, names, b->o->opt->stmt[i]->name);
    }
  }
  diag_suggest(b->d, g, st->name, names.v, names.n);
}

// Finds the state that `st` updates; NO_INDEX for `param` and after an error.
static uint32_t check_target(struct builder *b, const struct stmt *st, uint32_t at) {
  uint32_t i = name_map_get(&b->o->names, st->name);
  if (i == NO_INDEX) {
    if (name_is_taken(st->name, false) && !str_is(st->name, "param")) {
      (void)DIAG(b->d, st->name_span, E0218, st->name, STR("a name of the language"));
    } else if (!str_is(st->name, "param")) {
      unknown_target(b, st);
    }
    return NO_INDEX;
  }
  const struct stmt *decl = b->o->opt->stmt[i];
  if (decl->kind != STMT_STATE) {
    struct diag *g =
        DIAG(b->d, st->name_span, E0218, st->name, str_of(stmt_noun(decl->kind)));
    diag_note(b->d, g, decl->name_span, STR("declared here"));
    return NO_INDEX;
  }
  if (i > at) {
    struct diag *g = DIAG(b->d, st->name_span, E0206, st->name);
    diag_note(b->d, g, decl->name_span, STR("declared here"));
  }
  return i;
}

static struct name_walk walk_at(struct builder *b, enum scope scope, uint32_t at) {
  return (struct name_walk){
      .s = b->s, .o = b->o, .scope = scope, .at = at, .updates = NO_INDEX};
}

static void check_hyper(struct builder *b, const struct stmt *st, uint32_t i) {
  if (st->type.kind != TYPE_F32 && st->type.kind != TYPE_POISON) {
    (void)DIAG(b->d, st->type.span, E0212, STR("hyper"), st->name);
  }
  struct name_walk w = walk_at(b, SCOPE_HYPER, i);
  names_check(&w, st->value);
  names_check(&w, st->range.lo);
  names_check(&w, st->range.hi);
}

static void check_choices(struct builder *b, const struct stmt *st) {
  struct name_map seen = {.arena = b->s->f->arena};
  for (uint32_t k = 0; k < st->type.n_choices; k++) {
    if (!name_map_put(&seen, st->type.choice[k], k)) {
      (void)DIAG(b->d, st->type.span, E0213, st->name, st->type.choice[k]);
    }
  }
}

static void check_update(struct builder *b, const struct stmt *st, uint32_t i) {
  struct name_walk w = walk_at(b, SCOPE_RULE, i);
  w.updates = check_target(b, st, i);
  names_check(&w, st->value);
  w.updates = NO_INDEX;
  names_check(&w, st->when);
  check_round(b, st);
}

static void check_storage_name(struct builder *b, const struct stmt *st, uint32_t i) {
  enum storage ignored;
  uint32_t decl = name_map_get(&b->o->names, st->storage.name);
  if (decl != NO_INDEX && decl < i && b->o->opt->stmt[decl]->kind == STMT_STATIC) {
    b->o->reads[decl]++;
  } else if (!storage_find(st->storage.name, &ignored)) {
    struct diag *g = DIAG(b->d, st->storage.span, E0223, st->storage.name);
    struct str known[] = {STR("f32"),    STR("bf16"), STR("f16"), STR("f8e4m3"),
                          STR("f8e5m2"), STR("q8"),   STR("q8u")};
    diag_suggest(b->d, g, st->storage.name, known, sizeof known / sizeof *known);
  }
}

static bool names_let(const struct opt_info *o, const struct expr *e) {
  if (e->kind == EXPR_NAME) {
    uint32_t decl = name_map_get(&o->names, e->text);
    return decl != NO_INDEX && o->opt->stmt[decl]->kind == STMT_LET;
  }
  for (uint32_t i = 0; i < e->n_args; i++) {
    if (names_let(o, e->arg[i])) {
      return true;
    }
  }
  return false;
}

static void check_statement(struct builder *b, uint32_t i) {
  const struct stmt *st = b->o->opt->stmt[i];
  struct name_walk rule = walk_at(b, SCOPE_RULE, i);
  struct name_walk statics = walk_at(b, SCOPE_STATIC, i);
  struct name_walk init = walk_at(b, SCOPE_INIT, i);
  switch (st->kind) {
  case STMT_HYPER: check_hyper(b, st, i); break;
  case STMT_STATIC:
    check_choices(b, st);
    names_check(&statics, st->value);
    break;
  case STMT_STATE:
    check_storage_name(b, st, i);
    names_check(&init, st->value);
    names_check(&rule, st->when);
    b->o->guards_read_lets |= st->when != NULL && names_let(b->o, st->when);
    check_round(b, st);
    break;
  case STMT_INPUT:
    if (st->type.kind != TYPE_F32 && st->type.kind != TYPE_POISON) {
      (void)DIAG(b->d, st->type.span, E0212, STR("input"), st->name);
    }
    break;
  case STMT_REQUIRE: names_check(&statics, st->value); break;
  case STMT_LET: names_check(&rule, st->value); break;
  case STMT_UPDATE: check_update(b, st, i); break;
  }
}

static struct opt_info *info_new(struct sema *s, const struct optimizer *o) {
  struct arena *a = s->f->arena;
  struct opt_info *info = ARENA_NEW(a, struct opt_info);
  *info = (struct opt_info){.opt = o,
                            .names = {.arena = a},
                            .skip = ARENA_ARRAY(a, bool, o->n_stmts),
                            .reads = ARENA_ARRAY(a, uint32_t, o->n_stmts),
                            .hyper_at = ARENA_ARRAY(a, uint32_t, o->n_stmts)};
  return info;
}

const struct opt_info *sema_optimizer(struct sema *s, const struct optimizer *o) {
  for (uint32_t i = 0; i < s->opt.n; i++) {
    if (s->opt.v[i]->opt == o) {
      return s->opt.v[i];
    }
  }
  struct builder b = {.s = s, .d = s->f->diags, .o = info_new(s, o)};
  struct name_map as_hyper = {.arena = s->f->arena}, as_state = {.arena = s->f->arena};
  for (uint32_t i = 0; i < o->n_stmts; i++) {
    const struct stmt *st = o->stmt[i];
    if (declares(st)) {
      declare(&b, i);
    }
    if (!b.o->skip[i] && st->kind == STMT_HYPER) {
      b.o->hyper_at[i] = b.o->n_hypers++;
      declare_as(&b, &as_hyper, st, i);
    } else if (!b.o->skip[i] && st->kind == STMT_STATE) {
      declare_as(&b, &as_state, st, i);
    }
  }
  for (uint32_t i = 0; i < o->n_stmts; i++) {
    check_statement(&b, i);
  }
  VEC_PUSH(s->f->arena, s->opt, b.o);
  return b.o;
}
