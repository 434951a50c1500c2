// Warnings of names that nothing reads.
#include "front/sema_rule.h"

void unused_optimizer(struct sema *s, const struct opt_info *o) {
  for (uint32_t i = 0; i < o->opt->n_stmts; i++) {
    const struct stmt *st = o->opt->stmt[i];
    if (o->skip[i] || o->reads[i] != 0) {
      continue;
    }
    switch (st->kind) {
    case STMT_STATE: (void)DIAG(s->f->diags, st->name_span, W0901, st->name); break;
    case STMT_LET: (void)DIAG(s->f->diags, st->name_span, W0902, st->name); break;
    case STMT_HYPER: (void)DIAG(s->f->diags, st->name_span, W0903, st->name); break;
    case STMT_STATIC: (void)DIAG(s->f->diags, st->name_span, W0904, st->name); break;
    case STMT_INPUT: (void)DIAG(s->f->diags, st->name_span, W0909, st->name); break;
    case STMT_REQUIRE:
    case STMT_UPDATE: break;
    }
  }
}

void unused_recipe(struct sema *s, const struct recipe_info *r) {
  uint32_t hyper = 0;
  for (uint32_t i = 0; i < r->recipe->n_items; i++) {
    const struct recipe_item *item = &r->recipe->item[i];
    if (item->kind == ITEM_HYPER && r->reads[hyper++] == 0) {
      (void)DIAG(s->f->diags, item->hyper->name_span, W0903, item->hyper->name);
    }
  }
}

// ---- imports

static void collect(struct name_map *used, const struct expr *e) {
  if (e == NULL) {
    return;
  }
  if (e->kind == EXPR_NAME) {
    (void)name_map_put(used, e->text, 0);
  }
  for (uint32_t i = 0; i < e->n_args; i++) {
    collect(used, e->arg[i]);
  }
}

static void collect_optimizer(struct name_map *used, const struct optimizer *o) {
  for (uint32_t i = 0; i < o->n_stmts; i++) {
    collect(used, o->stmt[i]->value);
    collect(used, o->stmt[i]->when);
  }
}

static void collect_recipe(struct name_map *used, const struct recipe *r) {
  for (uint32_t i = 0; i < r->n_items; i++) {
    const struct use *u = r->item[i].kind == ITEM_USE ? r->item[i].use : NULL;
    if (u != NULL) {
      (void)name_map_put(used, u->optimizer, 0);
    }
    for (uint32_t k = 0; u != NULL && k < u->n_args; k++) {
      collect(used, u->arg[k].value);
    }
  }
}

static struct str decl_name(const struct decl *d) {
  switch (d->kind) {
  case DECL_OPTIMIZER: return d->optimizer->name;
  case DECL_ITERATION: return d->iteration->name;
  case DECL_RECIPE:
  case DECL_IMPORT: break;
  }
  return STR("");
}

// Does module `m`, or one that it imports, give a name that is used?
static bool gives(const struct program *p, uint32_t m, const struct name_map *used,
                  bool *seen) {
  if (m >= p->module.n || seen[m]) {
    return m >= p->module.n; // an import that could not be read is not called unused
  }
  seen[m] = true;
  const struct module *mod = p->module.v[m];
  for (uint32_t i = 0; i < mod->decl.n; i++) {
    const struct decl *d = &mod->decl.v[i];
    bool given = d->kind == DECL_IMPORT ? gives(p, d->import.target, used, seen)
                                        : name_map_get(used, decl_name(d)) != NO_INDEX;
    if (given) {
      return true;
    }
  }
  return false;
}

void unused_imports(struct sema *s) {
  const struct module *root = s->program->module.v[0];
  struct name_map used = {.arena = s->f->arena};
  bool declares = false;
  for (uint32_t i = 0; i < root->decl.n; i++) {
    const struct decl *d = &root->decl.v[i];
    declares |= d->kind != DECL_IMPORT;
    if (d->kind == DECL_OPTIMIZER) {
      collect_optimizer(&used, d->optimizer);
    } else if (d->kind == DECL_RECIPE) {
      collect_recipe(&used, d->recipe);
    }
  }
  for (uint32_t i = 0; declares && i < root->decl.n;
       i++) { // else: a file that gathers others
    const struct decl *d = &root->decl.v[i];
    bool *seen = ARENA_ARRAY(s->f->arena, bool, s->program->module.n);
    seen[0] = true;
    if (d->kind == DECL_IMPORT && !gives(s->program, d->import.target, &used, seen)) {
      (void)DIAG(s->f->diags, d->span, W0905, d->import.path);
    }
  }
}
