// Which recipe or optimizer a job is made of.
#include "front/recipe_int.h"

static void report_no_pick(struct front *f, const struct program *p, struct str pick) {
  struct diag *g = DIAG(f->diags, NO_SPAN, E0317, pick);
  VEC(struct str) names = {0};
  for (uint32_t m = 0; m < p->module.n; m++) {
    const struct module *mod = p->module.v[m];
    for (uint32_t i = 0; i < mod->decl.n; i++) {
      const struct decl *d = &mod->decl.v[i];
      if (d->kind == DECL_OPTIMIZER || d->kind == DECL_RECIPE) {
        VEC_PUSH(f->arena, names,
                 d->kind == DECL_RECIPE ? d->recipe->name : d->optimizer->name);
      }
    }
  }
  diag_suggest(f->diags, g, pick, names.v, names.n);
}

bool sema_has_pick(struct front *f, const struct program *p, struct str name) {
  if (program_recipe(p, name) != NULL || program_optimizer(p, name) != NULL) {
    return true;
  }
  report_no_pick(f, p, name);
  return false;
}

// The only recipe of the root file, else its only optimizer.
static void pick_default(struct sema *s, const struct recipe **r,
                         const struct optimizer **o) {
  uint32_t n_recipes = 0, n_optimizers = 0;
  const struct module *root = s->program->module.v[0];
  for (uint32_t i = 0; i < root->decl.n; i++) {
    if (root->decl.v[i].kind == DECL_RECIPE) {
      *r = root->decl.v[i].recipe;
      n_recipes++;
    } else if (root->decl.v[i].kind == DECL_OPTIMIZER) {
      *o = root->decl.v[i].optimizer;
      n_optimizers++;
    }
  }
  struct str path = s->f->sources->file.v[root->file].path;
  if (n_recipes > 1 || (n_recipes == 0 && n_optimizers > 1)) {
    struct diag *g = DIAG(s->f->diags, NO_SPAN, E0316, path,
                          n_recipes > 1 ? STR("recipe") : STR("optimizer"));
    diag_help(s->f->diags, g, STR("pick one by name: FILE:NAME"));
    *r = NULL;
    *o = NULL;
  } else if (n_recipes == 0 && n_optimizers == 0) {
    (void)DIAG(s->f->diags, NO_SPAN, E0318, path);
  } else if (n_recipes == 1) {
    *o = NULL;
  }
}

void job_pick(struct sema *s, struct str name, const struct recipe **r,
              const struct optimizer **o) {
  *r = NULL;
  *o = NULL;
  if (name.n == 0) {
    pick_default(s, r, o);
    return;
  }
  if (sema_has_pick(s->f, s->program, name)) {
    *r = program_recipe(s->program, name);
    *o = *r == NULL ? program_optimizer(s->program, name) : NULL;
  }
}
