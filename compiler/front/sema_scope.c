// Where names may stand, and what is wrong with those that do not. Judged once per optimizer and recipe, over all arms
// and guards.
#include "front/sema_names.h"

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

bool name_in_scope(enum scope scope, struct name_ref ref) {
  if (ref.kind == NAME_STMT) {
    return stmt_in_scope(scope, ref.stmt);
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
  struct str text;
  struct name_ref ref = {0};
  for (uint32_t i = 0; builtin_at(i, &text, &ref.kind); i++) {
    if (name_in_scope(w->scope, ref)) {
      VEC_PUSH(a, out->v, text);
    }
  }
  if (!name_in_scope(w->scope, (struct name_ref){.kind = NAME_ITERATION})) {
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
  if (g == NULL) {
    return; // one of too many
  }
  struct name_list names = {0};
  list_scope(w, &names);
  diag_suggest(f->diags, g, e->text, names.v.v, names.v.n);
}

static void report_function(const struct name_walk *w, const struct expr *e) {
  struct front *f = w->s->f;
  struct diag *g = DIAG(f->diags, e->span, E0207, e->text);
  if (g == NULL) {
    return;
  }
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
  if (i >= w->at && i != w->updates) { // what is updated was judged there
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
  if (!name_in_scope(w->scope, ref)) {
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

struct str quoted(struct arena *a, struct str s) {
  return str_fmt(a, "\"%.*s\"", STR_FMT(s));
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
