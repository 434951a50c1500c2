// Leaves of typed expressions: what a name is worth in one instantiation.
#include "front/sema_type.h"

struct diag *ctx_report(struct ctx *c, struct span at, enum diag_code code,
                        const struct str *args, uint32_t n_args) {
  c->n_errors++;
  struct diag *g = diag_report(c->diags, at, code, args, n_args);
  if (c->note.n != 0) {
    diag_note(c->diags, g, c->note_at, c->note);
  }
  return g;
}

struct diags sema_quiet(struct sema *s) {
  struct diags d;
  diags_init(&d, s->f->arena, s->f->sources);
  d.error_limit = 0; // counted, not kept
  return d;
}

struct texpr *texpr_new(struct ctx *c, enum tex_kind kind, enum vtype type,
                        struct span span) {
  struct texpr *t = ARENA_NEW(c->s->f->arena, struct texpr);
  *t = (struct texpr){.kind = kind, .type = type, .span = span};
  return t;
}

struct texpr *texpr_poison(struct ctx *c, struct span span) {
  return texpr_new(c, TEX_POISON, VT_POISON, span);
}

struct texpr *texpr_number(struct ctx *c, double x, struct span span) {
  struct texpr *t = texpr_new(c, TEX_CONST, VT_NUMBER, span);
  t->num = x;
  return t;
}

// ---- names

static struct texpr *copy_of(struct ctx *c, const struct texpr *value, struct span span) {
  struct texpr *t = ARENA_NEW(c->s->f->arena, struct texpr);
  *t = *value;
  t->span = span;
  return t;
}

static struct texpr *type_static(struct ctx *c, const struct binding *b,
                                 const struct expr *e) {
  if (b->needs_shape) {
    c->saw_shape = true;
    if (c->scope == SCOPE_HYPER) {
      (void)REPORT(c, e->span, E0215, e->text);
    }
    return texpr_poison(c, e->span);
  }
  return b->value == NULL ? texpr_poison(c, e->span) : copy_of(c, b->value, e->span);
}

static struct texpr *type_let(struct ctx *c, const struct binding *b,
                              const struct expr *e) {
  if (b->value == NULL) { // used above its declaration: reported
    return texpr_poison(c, e->span);
  }
  if (b->value->kind == TEX_CONST || is_poison(b->value)) {
    return copy_of(c, b->value, e->span);
  }
  struct texpr *t = texpr_new(c, TEX_LET, b->value->type, e->span);
  t->stage = b->value->stage;
  t->cls = b->value->cls;
  t->index = b->index;
  return t;
}

static struct texpr *type_state(struct ctx *c, uint32_t i, const struct expr *e) {
  const struct binding *b = &c->bind[i];
  const struct stmt *decl = c->o->opt->stmt[i];
  if (!b->exists) {
    struct diag *g = REPORT(c, e->span, E0222, e->text);
    diag_note(c->diags, g, decl->span, STR("its `when` is false here"));
    return texpr_poison(c, e->span);
  }
  struct texpr *t = texpr_new(c, TEX_STATE, VT_NUMBER, e->span);
  t->index = b->index;
  t->cls = b->cls;
  t->stage = b->is_host ? STAGE_HOST : STAGE_DEVICE;
  return t;
}

static struct texpr *type_stmt(struct ctx *c, uint32_t i, const struct expr *e) {
  const struct binding *b = &c->bind[i];
  switch (c->o->opt->stmt[i]->kind) {
  case STMT_HYPER: {
    struct texpr *t = texpr_new(c, TEX_HYPER, VT_NUMBER, e->span);
    t->index = b->index;
    t->stage = STAGE_HOST;
    return t;
  }
  case STMT_STATIC: return type_static(c, b, e);
  case STMT_LET: return type_let(c, b, e);
  case STMT_STATE: return type_state(c, i, e);
  case STMT_INPUT: {
    if (!b->exists) { // per row or col of a parameter that has none
      (void)REPORT(c, e->span, E0214, e->text);
      return texpr_poison(c, e->span);
    }
    struct texpr *t = texpr_new(c, TEX_INPUT, VT_NUMBER, e->span);
    t->index = b->index;
    t->cls = b->cls;
    t->stage = b->is_host ? STAGE_HOST : STAGE_DEVICE;
    return t;
  }
  case STMT_REQUIRE:
  case STMT_UPDATE: break;
  }
  return texpr_poison(c, e->span);
}

static struct texpr *device_leaf(struct ctx *c, enum tex_kind kind,
                                 const struct expr *e) {
  struct texpr *t = texpr_new(c, kind, VT_NUMBER, e->span);
  t->stage = STAGE_DEVICE;
  t->cls = CLS_ELEM;
  return t;
}

struct texpr *texpr_string(struct ctx *c, struct str text, struct span span) {
  struct texpr *t = texpr_new(c, TEX_CONST, VT_STRING, span);
  t->text = text;
  return t;
}

// Elements of one matrix; of the whole tensor where rank < 2.
static double numel_of(const struct shape *s) {
  return s->rank < 2 ? (double)shape_numel(s)
                     : (double)shape_rows(s) * (double)shape_cols(s);
}

// What is known of the parameter has class per param: a value per group must not depend on it.
static struct texpr *type_shape(struct ctx *c, enum name_kind k, const struct expr *e) {
  const struct shape *s = c->shape;
  if (s == NULL) {
    c->saw_shape = true;
    return texpr_poison(c, e->span);
  }
  if ((k == NAME_ROWS || k == NAME_COLS) && s->rank < 2) {
    (void)REPORT(c, e->span, E0214, e->text);
    return texpr_poison(c, e->span);
  }
  struct texpr *t = k == NAME_DTYPE
                        ? texpr_string(c, str_of(storage_name(c->dtype)), e->span)
                        : texpr_number(c,
                                       k == NAME_RANK   ? s->rank
                                       : k == NAME_ROWS ? (double)shape_rows(s)
                                       : k == NAME_COLS ? (double)shape_cols(s)
                                                        : numel_of(s),
                                       e->span);
  t->cls = CLS_PARAM;
  return t;
}

struct texpr *type_name(struct ctx *c, const struct expr *e) {
  struct name_ref ref = name_resolve(c->s, c->o, c->r, e->text);
  struct texpr *t;
  if (ref.kind != NAME_UNKNOWN && !name_in_scope(c->scope, ref)) {
    return texpr_poison(c, e->span); // reported with the names
  }
  switch (ref.kind) {
  case NAME_STMT: return type_stmt(c, ref.index, e);
  case NAME_PARAM: return device_leaf(c, TEX_PARAM, e);
  case NAME_GRAD: return device_leaf(c, TEX_GRAD, e);
  case NAME_STEP:
    t = texpr_new(c, TEX_STEP, VT_NUMBER, e->span);
    t->stage = STAGE_HOST;
    t->cls = CLS_PARAM;
    return t;
  case NAME_RANK:
  case NAME_ROWS:
  case NAME_COLS:
  case NAME_NUMEL:
  case NAME_DTYPE: return type_shape(c, ref.kind, e);
  case NAME_NAME: return texpr_string(c, c->param_name, e->span);
  case NAME_ITERATION:
    t = texpr_new(c, TEX_CONST, VT_ITERATION, e->span);
    t->iteration = ref.iteration;
    return t;
  case NAME_STORAGE:
    t = texpr_new(c, TEX_CONST, VT_STORAGE, e->span);
    t->num = (double)ref.storage;
    return t;
  case NAME_RECIPE_HYPER:
    t = texpr_new(c, TEX_HYPER, VT_NUMBER, e->span);
    t->stage = STAGE_HOST;
    t->index = ref.index;
    return t;
  case NAME_UNKNOWN: break; // reported with the names
  }
  return texpr_poison(c, e->span);
}
