// Statics: their values in one instantiation, from defaults, arguments of `use` and -D.
#include "front/sema_rule.h"

#include <math.h>

struct str texpr_text(struct arena *a, const struct texpr *t) {
  switch (t->type) {
  case VT_NUMBER: return num_shortest(a, t->num);
  case VT_BOOL: return t->num != 0 ? STR("true") : STR("false");
  case VT_STRING: return quoted(a, t->text);
  case VT_ITERATION: return t->iteration->name;
  case VT_STORAGE: return str_of(storage_name((enum storage)t->num));
  case VT_POISON: break;
  }
  return STR("?");
}

struct str type_text(struct arena *a, const struct type_ref *t) {
  switch (t->kind) {
  case TYPE_F32: return STR("f32");
  case TYPE_INT: return STR("int");
  case TYPE_BOOL: return STR("bool");
  case TYPE_ITERATION: return STR("iteration");
  case TYPE_STORAGE: return STR("storage");
  case TYPE_CHOICE: {
    struct buf b = buf_new(a);
    for (uint32_t i = 0; i < t->n_choices; i++) {
      buf_puts(&b, i == 0 ? "" : " | ");
      buf_str(&b, quoted(a, t->choice[i]));
    }
    return buf_done(&b);
  }
  case TYPE_POISON: break;
  }
  return STR("?");
}

bool type_admits(const struct type_ref *t, const struct texpr *v) {
  switch (t->kind) {
  case TYPE_F32: return v->type == VT_NUMBER;
  case TYPE_INT:
    return v->type == VT_NUMBER && isfinite(v->num) && v->num == floor(v->num);
  case TYPE_BOOL: return v->type == VT_BOOL;
  case TYPE_ITERATION: return v->type == VT_ITERATION;
  case TYPE_STORAGE: return v->type == VT_STORAGE;
  case TYPE_CHOICE:
    for (uint32_t i = 0; v->type == VT_STRING && i < t->n_choices; i++) {
      if (str_eq(t->choice[i], v->text)) {
        return true;
      }
    }
    return false;
  case TYPE_POISON: return true;
  }
  return false;
}

static void report_value(struct ctx *c, const struct stmt *decl, const struct texpr *v,
                         bool given) {
  struct arena *a = c->s->f->arena;
  struct diag *g =
      REPORT(c, v->span, E0226, decl->name, type_text(a, &decl->type), texpr_text(a, v));
  if (given) {
    diag_note(c->diags, g, decl->span, STR("declared here"));
  }
  if (decl->type.kind == TYPE_CHOICE && v->type == VT_STRING) {
    diag_suggest(c->diags, g, v->text, decl->type.choice, decl->type.n_choices);
  }
}

// The value that `u` gives the static, or its default; typed in the scope where it was written.
static struct texpr *value_of(struct ctx *c, const struct bound_use *u, uint32_t i) {
  const struct static_value *given = &u->given[i];
  if (given->value != NULL) {
    return given->value;
  }
  if (given->expr == NULL) {
    c->scope = SCOPE_STATIC;
    return type_expr(c, u->o->opt->stmt[i]->value);
  }
  struct ctx outer = *c;
  outer.scope = SCOPE_RECIPE_STATIC;
  outer.o = NULL;
  outer.r = u->r;
  outer.bind = NULL;
  struct texpr *t = type_expr(&outer, given->expr);
  c->n_errors = outer.n_errors;
  c->saw_shape = outer.saw_shape;
  return t;
}

void statics_bind(struct ctx *c, const struct bound_use *u) {
  for (uint32_t i = 0; i < u->o->opt->n_stmts; i++) {
    const struct stmt *st = u->o->opt->stmt[i];
    if (st->kind != STMT_STATIC || u->o->skip[i] || st->value == NULL) {
      continue;
    }
    c->saw_shape = false;
    struct texpr *v = value_of(c, u, i);
    struct binding *b = &c->bind[i];
    b->needs_shape = c->saw_shape;
    b->value = v;
    if (!is_poison(v) && !type_admits(&st->type, v)) {
      report_value(c, st, v, u->given[i].expr != NULL);
      b->value = texpr_poison(c, v->span);
    }
  }
}
