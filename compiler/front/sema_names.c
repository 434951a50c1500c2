// Names: what each stands for, and where it may stand. Judged once per optimizer, over all arms and guards.
#include "front/sema_int.h"

static uint32_t slot_of(const struct name_map *m, struct str key) {
  uint32_t i = (uint32_t)str_hash(key) & (m->cap - 1);
  while (m->key[i].p != NULL && !str_eq(m->key[i], key)) {
    i = (i + 1) & (m->cap - 1);
  }
  return i;
}

static void grow(struct name_map *m) {
  struct name_map big = {.arena = m->arena, .cap = m->cap == 0 ? 32 : m->cap * 2};
  big.key = ARENA_ARRAY(m->arena, struct str, big.cap);
  big.value = ARENA_ARRAY(m->arena, uint32_t, big.cap);
  for (uint32_t i = 0; i < m->cap; i++) {
    if (m->key[i].p != NULL) {
      (void)name_map_put(&big, m->key[i], m->value[i]);
    }
  }
  *m = big;
}

bool name_map_put(struct name_map *m, struct str key, uint32_t value) {
  if (m->n * 2 >= m->cap) {
    grow(m);
  }
  uint32_t i = slot_of(m, key);
  if (m->key[i].p != NULL) {
    return false;
  }
  m->key[i] = key;
  m->value[i] = value;
  m->n++;
  return true;
}

uint32_t name_map_get(const struct name_map *m, struct str key) {
  if (m->cap == 0) {
    return NO_INDEX;
  }
  uint32_t i = slot_of(m, key);
  return m->key[i].p == NULL ? NO_INDEX : m->value[i];
}

static const struct {
  const char *text;
  enum name_kind kind;
} builtins[] = {
    {"param", NAME_PARAM}, {"grad", NAME_GRAD},   {"step", NAME_STEP},
    {"rank", NAME_RANK},   {"rows", NAME_ROWS},   {"cols", NAME_COLS},
    {"numel", NAME_NUMEL}, {"dtype", NAME_DTYPE}, {"name", NAME_NAME},
};
enum { N_BUILTINS = sizeof builtins / sizeof *builtins };

static enum name_kind builtin_of(struct str name) {
  for (uint32_t i = 0; i < N_BUILTINS; i++) {
    if (str_is(name, builtins[i].text)) {
      return builtins[i].kind;
    }
  }
  return NAME_UNKNOWN;
}

bool fn_find(struct str name, enum fn *out) {
  for (uint32_t i = 0; i < N_FNS; i++) {
    // Operators have no name to call them by; `neg` is written `-x`.
    bool word = fn_name((enum fn)i)[0] >= 'a' && i != FN_NEG && i != FN_AND &&
                i != FN_OR && i != FN_NOT;
    if (word && str_is(name, fn_name((enum fn)i))) {
      *out = (enum fn)i;
      return true;
    }
  }
  return false;
}

struct name_ref name_resolve(const struct sema *s, const struct opt_info *o,
                             const struct recipe_info *r, struct str name) {
  struct name_ref ref = {.kind = NAME_UNKNOWN};
  if (o != NULL && (ref.index = name_map_get(&o->names, name)) != NO_INDEX) {
    ref.kind = NAME_STMT;
    return ref;
  }
  if (r != NULL && (ref.index = name_map_get(&r->names, name)) != NO_INDEX) {
    ref.kind = NAME_RECIPE_HYPER;
    return ref;
  }
  if ((ref.kind = builtin_of(name)) != NAME_UNKNOWN) {
    return ref;
  }
  ref.iteration = program_iteration(s->program, name);
  if (ref.iteration != NULL) {
    ref.kind = NAME_ITERATION;
  } else if (storage_find(name, &ref.storage)) {
    ref.kind = NAME_STORAGE;
  }
  return ref;
}

// ---- which names a scope admits

static bool stmt_in_scope(enum scope scope, enum stmt_kind kind) {
  switch (scope) {
  case SCOPE_RULE: return true;
  case SCOPE_STATIC:
  case SCOPE_HYPER:
  case SCOPE_INIT: return kind == STMT_STATIC;
  case SCOPE_RECIPE_WHEN:
  case SCOPE_RECIPE_STATIC:
  case SCOPE_RECIPE_HYPER:
  case SCOPE_RECIPE_PLAIN: return false;
  }
  return false;
}

static bool is_shape_name(enum name_kind k) {
  return k == NAME_RANK || k == NAME_ROWS || k == NAME_COLS || k == NAME_NUMEL ||
         k == NAME_DTYPE;
}

bool name_in_scope(enum scope scope, const struct opt_info *o, struct name_ref ref) {
  if (ref.kind == NAME_STMT) {
    return stmt_in_scope(scope, o->opt->stmt[ref.index]->kind);
  }
  if (is_shape_name(ref.kind)) {
    return scope == SCOPE_RULE || scope == SCOPE_STATIC || scope == SCOPE_RECIPE_WHEN ||
           scope == SCOPE_RECIPE_STATIC;
  }
  switch (ref.kind) {
  case NAME_PARAM: return scope == SCOPE_RULE || scope == SCOPE_INIT;
  case NAME_GRAD:
  case NAME_STEP: return scope == SCOPE_RULE;
  case NAME_NAME: return scope == SCOPE_RECIPE_WHEN;
  case NAME_ITERATION:
  case NAME_STORAGE:
    return scope == SCOPE_RULE || scope == SCOPE_STATIC || scope == SCOPE_RECIPE_STATIC;
  case NAME_RECIPE_HYPER: return scope == SCOPE_RECIPE_HYPER;
  case NAME_UNKNOWN:
  case NAME_STMT:
  case NAME_RANK:
  case NAME_ROWS:
  case NAME_COLS:
  case NAME_NUMEL:
  case NAME_DTYPE: break;
  }
  return false;
}

static const char *scope_admits(enum scope scope) {
  switch (scope) {
  case SCOPE_RULE: return "values of the rule";
  case SCOPE_STATIC:
    return "compile-time values: numbers, statics above it and the shape";
  case SCOPE_HYPER: return "numbers and statics";
  case SCOPE_INIT: return "numbers, statics and `param`";
  case SCOPE_RECIPE_WHEN: return "`name`, `rank`, `rows`, `cols`, `numel` and `dtype`";
  case SCOPE_RECIPE_STATIC: return "compile-time values";
  case SCOPE_RECIPE_HYPER: return "numbers and hypers of the recipe";
  case SCOPE_RECIPE_PLAIN: return "numbers";
  }
  return "?";
}

static const char *scope_name(enum scope scope) {
  switch (scope) {
  case SCOPE_RULE: return "a rule";
  case SCOPE_STATIC: return "a static or `require`";
  case SCOPE_HYPER: return "a hyper's default or range";
  case SCOPE_INIT: return "`init`";
  case SCOPE_RECIPE_WHEN: return "a recipe's `when`";
  case SCOPE_RECIPE_STATIC: return "the value of a static";
  case SCOPE_RECIPE_HYPER: return "the value of a hyper";
  case SCOPE_RECIPE_PLAIN: return "a recipe's hyper";
  }
  return "?";
}

// ---- unknown names, with the nearest known one

struct name_list {
  VEC(struct str) v;
};

static void list_scope(const struct name_walk *w, struct name_list *out) {
  struct arena *a = w->s->f->arena;
  for (uint32_t i = 0; w->o != NULL && i < w->o->opt->n_stmts && i < w->at; i++) {
    const struct stmt *st = w->o->opt->stmt[i];
    if (st->kind != STMT_UPDATE && st->kind != STMT_REQUIRE &&
        stmt_in_scope(w->scope, st->kind)) {
      VEC_PUSH(a, out->v, st->name);
    }
  }
  if (w->r != NULL && w->scope == SCOPE_RECIPE_HYPER) {
    for (uint32_t i = 0; i < w->r->recipe->n_items; i++) {
      if (w->r->recipe->item[i].kind == ITEM_HYPER) {
        VEC_PUSH(a, out->v, w->r->recipe->item[i].hyper->name);
      }
    }
  }
  for (uint32_t i = 0; i < N_BUILTINS; i++) {
    if (name_in_scope(w->scope, w->o, (struct name_ref){.kind = builtins[i].kind})) {
      VEC_PUSH(a, out->v, str_of(builtins[i].text));
    }
  }
  if (!name_in_scope(w->scope, w->o, (struct name_ref){.kind = NAME_ITERATION})) {
    return;
  }
  for (uint32_t m = 0; m < w->s->program->module.n; m++) {
    const struct module *mod = w->s->program->module.v[m];
    for (uint32_t i = 0; i < mod->decl.n; i++) {
      if (mod->decl.v[i].kind == DECL_ITERATION) {
        VEC_PUSH(a, out->v, mod->decl.v[i].iteration->name);
      }
    }
  }
}

static void report_unknown(const struct name_walk *w, const struct expr *e) {
  struct front *f = w->s->f;
  struct diag *g = DIAG(f->diags, e->span, E0201, e->text);
  struct name_list names = {0};
  list_scope(w, &names);
  diag_suggest(f->diags, g, e->text, names.v.v, names.v.n);
}

static void report_function(const struct name_walk *w, const struct expr *e) {
  struct front *f = w->s->f;
  struct diag *g = DIAG(f->diags, e->span, E0207, e->text);
  struct name_list names = {0};
  for (uint32_t i = 0; i < N_FNS; i++) {
    enum fn found;
    struct str name = str_of(fn_name((enum fn)i));
    if (fn_find(name, &found)) {
      VEC_PUSH(f->arena, names.v, name);
    }
  }
  diag_suggest(f->diags, g, e->text, names.v.v, names.v.n);
}

static void check_stmt_name(const struct name_walk *w, const struct expr *e, uint32_t i) {
  struct front *f = w->s->f;
  const struct stmt *st = w->o->opt->stmt[i];
  if (i >= w->at) {
    struct diag *g = DIAG(f->diags, e->span, E0206, e->text);
    diag_note(f->diags, g, st->name_span, STR("declared here"));
  }
  if (w->updates != i) {
    w->o->reads[i]++;
  }
}

static void check_name(const struct name_walk *w, const struct expr *e) {
  struct front *f = w->s->f;
  struct name_ref ref = name_resolve(w->s, w->o, w->r, e->text);
  if (ref.kind == NAME_UNKNOWN) {
    report_unknown(w, e);
    return;
  }
  if (!name_in_scope(w->scope, w->o, ref)) {
    struct diag *g = DIAG(f->diags, e->span, E0208, e->text, str_of(scope_name(w->scope)),
                          str_of(scope_admits(w->scope)));
    if (ref.kind == NAME_STMT) {
      diag_note(f->diags, g, w->o->opt->stmt[ref.index]->name_span, STR("declared here"));
      w->o->reads[ref.index]++;
    }
    return;
  }
  if (ref.kind == NAME_STMT) {
    check_stmt_name(w, e, ref.index);
  } else if (ref.kind == NAME_RECIPE_HYPER) {
    w->r->reads[ref.index]++;
  } else if (ref.kind == NAME_DTYPE && w->o != NULL) {
    w->o->reads_dtype = true;
  }
}

static struct str arity_text(struct arena *a, uint32_t lo, uint32_t hi) {
  return lo == hi ? str_fmt(a, "%u argument%s", lo, lo == 1 ? "" : "s")
                  : str_fmt(a, "%u to %u arguments", lo, hi);
}

// `max` is two functions: with one argument or a `per` word it is the reduction.
static bool call_function(const struct expr *e, enum fn *f) {
  if (!fn_find(e->text, f)) {
    return false;
  }
  bool per = e->n_args != 0 && e->arg[e->n_args - 1]->kind == EXPR_PER;
  if (*f == FN_MAX && (e->n_args == 1 || per)) {
    *f = FN_MAXOF;
  }
  return true;
}

bool expr_function(const struct expr *e, enum fn *f) {
  uint32_t lo, hi;
  if (!call_function(e, f)) {
    return false;
  }
  fn_arity(*f, &lo, &hi);
  if (e->n_args < lo || e->n_args > hi) {
    return false;
  }
  for (uint32_t i = 0; i < e->n_args; i++) {
    bool last_of_reduction =
        fn_group_of(*f) == FNG_REDUCE && i + 1 == e->n_args && i >= lo;
    // The place after a reduction's values belongs to `per`, and `per` to it.
    if ((e->arg[i]->kind == EXPR_PER) != last_of_reduction) {
      return false;
    }
  }
  return true;
}

// A `per` word anywhere but after the values of a reduction.
static bool per_is_misplaced(const struct expr *e, enum fn f) {
  for (uint32_t i = 0; i < e->n_args; i++) {
    bool last = i + 1 == e->n_args;
    if (e->arg[i]->kind == EXPR_PER && (!last || fn_group_of(f) != FNG_REDUCE)) {
      return true;
    }
  }
  return false;
}

static void check_call(const struct name_walk *w, const struct expr *e) {
  struct front *f = w->s->f;
  enum fn fn;
  uint32_t lo, hi, values = 0;
  if (!call_function(e, &fn)) {
    report_function(w, e);
  } else if (per_is_misplaced(e, fn)) {
    (void)DIAG(f->diags, e->span, E0210, e->text);
  } else if (!expr_function(e, &fn)) {
    fn_arity(fn, &lo, &hi);
    for (uint32_t i = 0; i < e->n_args; i++) {
      values += e->arg[i]->kind != EXPR_PER;
    }
    hi = fn_group_of(fn) == FNG_REDUCE ? lo : hi; // the rest is the `per` word
    (void)DIAG(f->diags, e->span, E0209, e->text, arity_text(f->arena, lo, hi),
               str_fmt(f->arena, "%u", values));
  }
}

// `form == "kellar"`: a choice is compared with its own values only.
static void check_choice(const struct name_walk *w, const struct expr *name,
                         const struct expr *text) {
  static const struct str dtypes[] = {{"f32", 3}, {"bf16", 4}, {"f16", 3}};
  const struct str *choice = dtypes;
  uint32_t n = 3;
  struct name_ref ref = name_resolve(w->s, w->o, w->r, name->text);
  if (ref.kind == NAME_STMT) {
    const struct type_ref *t = &w->o->opt->stmt[ref.index]->type;
    bool is_choice =
        w->o->opt->stmt[ref.index]->kind == STMT_STATIC && t->kind == TYPE_CHOICE;
    choice = t->choice;
    n = is_choice ? t->n_choices : 0;
  } else if (ref.kind != NAME_DTYPE) {
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (str_eq(choice[i], text->text)) {
      return;
    }
  }
  if (n != 0) {
    struct diags *d = w->s->f->diags;
    struct diag *g =
        DIAG(d, text->span, E0232, name->text, quoted(w->s->f->arena, text->text));
    diag_suggest(d, g, text->text, choice, n);
  }
}

void names_check(const struct name_walk *w, const struct expr *e) {
  if (e == NULL) {
    return;
  }
  if (e->kind == EXPR_NAME) {
    check_name(w, e);
  } else if (e->kind == EXPR_CALL) {
    check_call(w, e);
  } else if (e->kind == EXPR_BINARY && (e->op == EOP_EQ || e->op == EOP_NE)) {
    for (uint32_t i = 0; i < 2; i++) {
      if (e->arg[i]->kind == EXPR_NAME && e->arg[1 - i]->kind == EXPR_STR) {
        check_choice(w, e->arg[i], e->arg[1 - i]);
      }
    }
  }
  for (uint32_t i = 0; i < e->n_args; i++) {
    names_check(w, e->arg[i]);
  }
}

bool name_is_taken(struct str name, bool in_recipe) {
  enum name_kind k = builtin_of(name);
  return k != NAME_UNKNOWN && (k != NAME_NAME || in_recipe);
}
