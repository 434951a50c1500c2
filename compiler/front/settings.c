// `-D [label.]static=value` and `--set [label.]hyper=value`.
#include "front/lex_number.h"
#include "front/sema_rule.h"

#include <math.h>
#include <string.h>

struct parts {           // of one setting
  struct str flag, text; // "-D", "ns=jordan"
  struct str label, name, value;
  bool has_label;
};

static struct str whole(struct sema *s, const struct parts *p) {
  return str_fmt(s->f->arena, "%.*s %.*s", STR_FMT(p->flag), STR_FMT(p->text));
}

static size_t find(struct str s, char c) {
  size_t i = 0;
  while (i < s.n && s.p[i] != c) {
    i++;
  }
  return i;
}

static bool cut(struct sema *s, struct str flag, struct str text, struct parts *out) {
  *out = (struct parts){.flag = flag, .text = text};
  size_t eq = find(text, '=');
  struct str left = {text.p, eq};
  size_t dot = find(left, '.');
  out->has_label = dot < left.n;
  out->label = (struct str){text.p, out->has_label ? dot : 0};
  size_t name = out->has_label ? dot + 1 : 0;
  out->name = (struct str){text.p + name, eq - name};
  if (eq == text.n || out->name.n == 0 || eq + 1 == text.n) {
    (void)DIAG(s->f->diags, NO_SPAN, E0319, whole(s, out));
    return false;
  }
  out->value = (struct str){text.p + eq + 1, text.n - eq - 1};
  return true;
}

// ["-"] NUM | ["-"] "inf"
static bool parse_number(struct arena *a, struct str text, double *out) {
  const char *c = str_cstr(a, text);
  bool negative = *c == '-', is_int;
  c += negative;
  if (strcmp(c, "inf") == 0) {
    *out = (double)INFINITY;
  } else {
    size_t n = number_scan(c, &is_int);
    if (n == 0 || c[n] != '\0' || !number_value((struct str){c, n}, is_int, out)) {
      return false;
    }
  }
  *out = negative ? -*out : *out;
  return true;
}

static bool label_known(struct sema *s, const struct job_lines *l,
                        const struct parts *p) {
  for (uint32_t i = 0; i < l->n; i++) {
    if (str_eq(l->label[i], p->label)) {
      return true;
    }
  }
  struct diag *g = DIAG(s->f->diags, NO_SPAN, E0320, whole(s, p), p->label);
  diag_suggest(s->f->diags, g, p->label, l->label, l->n);
  return false;
}

// ---- statics

static struct texpr *literal(struct sema *s, enum vtype type) {
  struct texpr *t = ARENA_NEW(s->f->arena, struct texpr);
  *t = (struct texpr){.kind = TEX_CONST, .type = type, .span = NO_SPAN};
  return t;
}

static struct str unquoted(struct str v) {
  bool quotes = v.n >= 2 && v.p[0] == '"' && v.p[v.n - 1] == '"';
  return quotes ? (struct str){v.p + 1, v.n - 2} : v;
}

// The text as a value of the static's type; NULL when it is none.
static struct texpr *value_as(struct sema *s, const struct type_ref *type, struct str v) {
  struct texpr *t = NULL;
  enum storage storage;
  switch (type->kind) {
  case TYPE_F32:
  case TYPE_INT:
    t = literal(s, VT_NUMBER);
    if (!parse_number(s->f->arena, v, &t->num)) {
      return NULL;
    }
    break;
  case TYPE_BOOL:
    t = literal(s, str_is(v, "true") || str_is(v, "false") ? VT_BOOL : VT_STRING);
    t->num = str_is(v, "true");
    break;
  case TYPE_ITERATION:
    t = literal(s, VT_ITERATION);
    t->iteration = program_iteration(s->program, v);
    if (t->iteration == NULL) {
      return NULL;
    }
    break;
  case TYPE_STORAGE:
    if (!storage_find(v, &storage)) {
      return NULL;
    }
    t = literal(s, VT_STORAGE);
    t->num = (double)storage;
    break;
  case TYPE_CHOICE:
    t = literal(s, VT_STRING);
    t->text = unquoted(v);
    break;
  case TYPE_POISON: return NULL;
  }
  return type_admits(type, t) ? t : NULL;
}

static void suggest_value(struct sema *s, struct diag *g, const struct type_ref *type,
                          struct str v) {
  VEC(struct str) names = {0};
  for (uint32_t i = 0; type->kind == TYPE_CHOICE && i < type->n_choices; i++) {
    VEC_PUSH(s->f->arena, names, type->choice[i]);
  }
  for (uint32_t m = 0; type->kind == TYPE_ITERATION && m < s->program->module.n; m++) {
    const struct module *mod = s->program->module.v[m];
    for (uint32_t i = 0; i < mod->decl.n; i++) {
      if (mod->decl.v[i].kind == DECL_ITERATION) {
        VEC_PUSH(s->f->arena, names, mod->decl.v[i].iteration->name);
      }
    }
  }
  diag_suggest(s->f->diags, g, unquoted(v), names.v, names.n);
}

static bool define_in(struct sema *s, struct bound_use *u, const struct parts *p) {
  uint32_t i = name_map_get(&u->o->names, p->name);
  if (i == NO_INDEX || u->o->opt->stmt[i]->kind != STMT_STATIC) {
    return false;
  }
  const struct stmt *st = u->o->opt->stmt[i];
  struct texpr *t = value_as(s, &st->type, p->value);
  if (t == NULL) {
    struct diag *g = DIAG(s->f->diags, NO_SPAN, E0322, whole(s, p), st->name,
                          type_text(s->f->arena, &st->type), p->value);
    diag_note(s->f->diags, g, st->span, STR("declared here"));
    suggest_value(s, g, &st->type, p->value);
    return true;
  }
  u->given[i] = (struct static_value){.value = t};
  return true;
}

static void unknown_static(struct sema *s, const struct job_lines *l,
                           const struct parts *p) {
  VEC(struct str) names = {0};
  bool is_hyper = false;
  for (uint32_t k = 0; k < l->n; k++) {
    const struct optimizer *o = l->use[k].o->opt;
    for (uint32_t i = 0; i < o->n_stmts; i++) {
      if (o->stmt[i]->kind == STMT_STATIC) {
        VEC_PUSH(s->f->arena, names, o->stmt[i]->name);
      }
      is_hyper |= o->stmt[i]->kind == STMT_HYPER && str_eq(o->stmt[i]->name, p->name);
    }
  }
  struct diag *g = DIAG(s->f->diags, NO_SPAN, E0321, whole(s, p), STR("static"), p->name);
  if (is_hyper) {
    diag_help(s->f->diags, g, STR("it is a hyper: use --set"));
  } else {
    diag_suggest(s->f->diags, g, p->name, names.v, names.n);
  }
}

void settings_define(struct sema *s, const struct job_lines *l, const struct setting *d,
                     uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    struct parts p;
    if (!cut(s, STR("-D"), d[k].text, &p) || (p.has_label && !label_known(s, l, &p))) {
      continue;
    }
    bool found = false;
    for (uint32_t i = 0; i < l->n; i++) {
      if (!p.has_label || str_eq(l->label[i], p.label)) {
        found |= define_in(s, &l->use[i], &p);
      }
    }
    if (!found) {
      unknown_static(s, l, &p);
    }
  }
}

// ---- hypers

static void set_one(struct sema *s, const struct parts *p, double value,
                    struct hyper *h) {
  struct arena *a = s->f->arena;
  if (h->bound != NULL) {
    struct diag *g = DIAG(s->f->diags, NO_SPAN, E0323, whole(s, p), h->name);
    diag_note(s->f->diags, g, h->span, STR("bound here"));
    return;
  }
  if (!hyper_in_range(h, value)) {
    struct diag *g = DIAG(s->f->diags, NO_SPAN, E0324, whole(s, p), h->name,
                          h->has_range ? range_text(a, h) : STR("the numbers"));
    diag_note(s->f->diags, g, h->span, STR("declared here"));
    return;
  }
  h->value = value;
}

static bool set_label(struct sema *s, const struct parts *p, double value,
                      struct hyper_list *h, bool of_recipe) {
  bool found = false;
  for (uint32_t i = 0; i < h->v.n; i++) {
    struct hyper *x = &h->v.v[i];
    bool here = p->has_label ? str_eq(x->label, p->label) : true;
    if (here && (x->label.n == 0) == of_recipe && str_eq(x->name, p->name)) {
      set_one(s, p, value, x);
      found = true;
    }
  }
  return found;
}

// Without a label: the recipe's hyper of that name, else every line that has it.
static bool set_all(struct sema *s, const struct parts *p, double value,
                    struct hyper_list *h) {
  return (!p->has_label && set_label(s, p, value, h, true)) ||
         set_label(s, p, value, h, false);
}

static void unknown_hyper(struct sema *s, const struct job_lines *l,
                          const struct parts *p, const struct hyper_list *h) {
  VEC(struct str) names = {0};
  for (uint32_t i = 0; i < h->v.n; i++) {
    if (!p->has_label || str_eq(h->v.v[i].label, p->label)) {
      VEC_PUSH(s->f->arena, names, h->v.v[i].name);
    }
  }
  struct diag *g = DIAG(s->f->diags, NO_SPAN, E0321, whole(s, p), STR("hyper"), p->name);
  for (uint32_t k = 0; k < l->n; k++) {
    uint32_t i = name_map_get(&l->use[k].o->names, p->name);
    if (i != NO_INDEX && l->use[k].o->opt->stmt[i]->kind == STMT_STATIC) {
      diag_help(s->f->diags, g, STR("it is a static: use -D"));
      return;
    }
  }
  diag_suggest(s->f->diags, g, p->name, names.v, names.n);
}

void settings_set(struct sema *s, const struct job_lines *l, const struct setting *set,
                  uint32_t n, struct hyper_list *h) {
  for (uint32_t k = 0; k < n; k++) {
    struct parts p;
    double value;
    if (!cut(s, STR("--set"), set[k].text, &p) ||
        (p.has_label && !label_known(s, l, &p))) {
      continue;
    }
    if (!parse_number(s->f->arena, p.value, &value)) {
      (void)DIAG(s->f->diags, NO_SPAN, E0322, whole(s, &p), p.name, STR("f32"), p.value);
    } else if (!set_all(s, &p, value, h)) {
      unknown_hyper(s, l, &p, h);
    }
  }
}
