// Instantiation of rules, and the parts of recipes and settings. Private to semantic analysis.
#ifndef STEPC_FRONT_SEMA_RULE_H
#define STEPC_FRONT_SEMA_RULE_H

#include "front/sema_type.h"

// The value of one static in one use line, instead of its default.
struct static_value {
  const struct expr *expr; // argument of `use`, in the scope of recipe `r`
  struct texpr *value;     // -D, or a value that `stepc check` tries
};

// An optimizer with its arguments.
struct bound_use {
  const struct opt_info *o;
  const struct recipe_info *r; // NULL: no recipe
  const struct use *use;       // NULL: the optimizer itself
  struct static_value *given;  // by statement
  uint32_t first_hyper;
};

enum fit { FIT_OK, FIT_REQUIRE, FIT_ERROR };
struct instance {
  enum fit fit;
  const struct stmt *require; // FIT_REQUIRE: the one that is false
  struct rule *rule;          // FIT_OK
};
// What a rule is instantiated for.
struct target {
  struct shape shape;
  enum storage dtype, grad;
  // The parameter, before views, has under 4096 elements or rank < 2: 8-bit states keep f32.
  bool is_small;
  struct span note_at; // see struct ctx
  struct str note;
};
bool shape_is_small(const struct shape *s); // see struct target
struct instance rule_instantiate(struct sema *s, struct diags *d,
                                 const struct bound_use *u, const struct target *t);
// Types the statements and settles which states live on the host (sema_body.c).
void body_type(struct ctx *c, struct rule *rule);
void inputs_mark(struct arena *a, struct rule *rule); // those that the updates read

// The hypers of a job: first those of the recipe, then those of each use line.
struct hyper_list {
  VEC(struct hyper) v;
};
void hypers_add_recipe(struct sema *s, const struct recipe_info *r,
                       struct hyper_list *out);
// Sets u->first_hyper. Defaults may read statics that need no shape, so u->given is complete by now.
void hypers_add_use(struct sema *s, struct bound_use *u, struct str label,
                    struct hyper_list *out);
struct str range_text(struct arena *a, const struct hyper *h); // "[0, 1)"
// Reports every hyper whose value, with bound ones evaluated, is out of its range.
void hypers_check(struct sema *s, const struct hyper_list *hypers);

// Settings of the command line (settings.c). Labels and uses run in parallel.
struct job_lines {
  struct bound_use *use;
  struct str *label;
  uint32_t n;
};
void settings_define(struct sema *s, const struct job_lines *l, const struct setting *d,
                     uint32_t n);
void settings_set(struct sema *s, const struct job_lines *l, const struct setting *set,
                  uint32_t n, struct hyper_list *h);

// Recipes by themselves (recipe_check.c): labels, arguments, keeps, views, clip, the last line.
struct recipe_info *recipe_check(struct sema *s, const struct recipe *r);
// The use lines of a recipe with their arguments and labels; unknown optimizers are left out (reported).
struct job_lines recipe_lines(struct sema *s, const struct recipe_info *info);
struct bound_use bound_use_new(struct sema *s, const struct opt_info *o);

// The shapes that a rule sees of a parameter, one per part; empty after an error, `why` then says it and `bad`
// names the view (views.c).
struct view_parts {
  VEC(struct shape) part;
  struct str why;
  const struct view *bad;
};
struct view_parts views_apply(struct arena *a, const struct use *u,
                              const struct shape *shape);
bool use_splits(const struct use *u);

// Warns of states, lets, hypers, statics and imports that nothing reads (sema_unused.c).
void unused_optimizer(struct sema *s, const struct opt_info *o);
void unused_recipe(struct sema *s, const struct recipe_info *r);
void unused_imports(struct sema *s);
// Does `param :=` leave the parameter as it is when lr and the gradient are 0 and states are as at the start?
// `hyper`: values by job index (sema_lint.c).
bool rule_is_identity(struct arena *a, const struct rule *rule, const double *hyper);

// Fills the binding of statics in text order (sema_static.c). With no shape, statics that need one are marked.
void statics_bind(struct ctx *c, const struct bound_use *u);
// The text form of a static's type: "bool", "\"a\" | \"b\"".
struct str type_text(struct arena *a, const struct type_ref *t);
// Is `v` a value of `t`? For a choice, one of its strings.
bool type_admits(const struct type_ref *t, const struct texpr *v);

// States and inputs of an instantiation (sema_state.c).
struct storage_choice {
  enum storage storage;
  uint32_t block;
};
bool storage_resolve(struct ctx *c, const struct storage_ref *ref,
                     struct storage_choice *out);
void states_bind(struct ctx *c, struct rule *rule, const struct bound_use *u);
void states_keep(struct ctx *c, struct rule *rule, const struct bound_use *u);

#endif
