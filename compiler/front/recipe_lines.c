// The use lines of a recipe with their labels and arguments, and the names of its hypers.
#include "front/sema_rule.h"

struct recipe_info *sema_recipe_names(struct sema *s, const struct recipe *r) {
  struct arena *a = s->f->arena;
  struct recipe_info *info = ARENA_NEW(a, struct recipe_info);
  *info = (struct recipe_info){.recipe = r, .names = {.arena = a}};
  info->reads = ARENA_ARRAY(a, uint32_t, r->n_items);
  for (uint32_t i = 0; i < r->n_items; i++) {
    if (r->item[i].kind == ITEM_HYPER) {
      (void)name_map_put(&info->names, r->item[i].hyper->name, info->n_hypers++);
    }
  }
  return info;
}

struct bound_use bound_use_new(struct sema *s, const struct opt_info *o) {
  return (struct bound_use){
      .o = o, .given = ARENA_ARRAY(s->f->arena, struct static_value, o->opt->n_stmts)};
}

static struct bound_use bind_line(struct sema *s, const struct recipe_info *r,
                                  const struct use *use, const struct opt_info *o) {
  struct bound_use u = bound_use_new(s, o);
  u.r = r;
  u.use = use;
  for (uint32_t i = 0; i < use->n_args; i++) {
    uint32_t at = name_map_get(&o->names, use->arg[i].name);
    if (at != NO_INDEX && o->opt->stmt[at]->kind == STMT_STATIC) {
      u.given[at].expr = use->arg[i].value;
    }
  }
  return u;
}

// A default label is the optimizer's name, then name_2, ...; one that is written must not meet it.
static struct str label_of(struct arena *a, struct name_map *taken, const struct use *u,
                           uint32_t at) {
  struct str label = u->label.n != 0 ? u->label : u->optimizer;
  for (unsigned n = 2; !name_map_put(taken, label, at) && u->label.n == 0; n++) {
    label = str_fmt(a, "%.*s_%u", STR_FMT(u->optimizer), n);
  }
  return label;
}

struct job_lines recipe_lines(struct sema *s, const struct recipe_info *info) {
  const struct recipe *r = info->recipe;
  struct arena *a = s->f->arena;
  struct job_lines l = {.use = ARENA_ARRAY(a, struct bound_use, r->n_items),
                        .label = ARENA_ARRAY(a, struct str, r->n_items)};
  struct name_map taken = {.arena = a};
  for (uint32_t i = 0; i < r->n_items; i++) {
    if (r->item[i].kind == ITEM_USE && r->item[i].use->label.n != 0) {
      (void)name_map_put(&taken, r->item[i].use->label, i);
    }
  }
  for (uint32_t i = 0; i < r->n_items; i++) {
    const struct use *use = r->item[i].kind == ITEM_USE ? r->item[i].use : NULL;
    const struct optimizer *o =
        use == NULL ? NULL : program_optimizer(s->program, use->optimizer);
    if (o != NULL) {
      l.label[l.n] = label_of(a, &taken, use, i);
      l.use[l.n++] = bind_line(s, info, use, sema_optimizer(s, o));
    }
  }
  return l;
}
