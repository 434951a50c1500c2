// What the parts of semantic analysis share. Only front/sema_*.c, recipe*.c, settings.c, hypers.c and views.c
// include it.
#ifndef STEPC_FRONT_SEMA_INT_H
#define STEPC_FRONT_SEMA_INT_H

#include "front/sema.h"

#define NO_INDEX UINT32_MAX

// ---- functions of the language (sema_fold.c)

enum fn_group { FNG_ELEMENT, FNG_COMPARE, FNG_LOGIC, FNG_HOST, FNG_REDUCE, FNG_MATRIX };
enum fn_group fn_group_of(enum fn f);
void fn_arity(enum fn f, uint32_t *min, uint32_t *max);
// In double; bools are 0 and 1. NaN for functions of tensors.
double fn_eval(enum fn f, const double *x);
// Value of an expression over constants and hypers only.
double texpr_host_value(const struct texpr *t, const double *hyper);

// ---- names (sema_names.c)

// Text to number, open addressing; grows by doubling.
struct name_map {
  struct arena *arena;
  struct str *key;
  uint32_t *value, cap, n;
};
bool name_map_put(struct name_map *m, struct str key,
                  uint32_t value);                               // false: it was there
uint32_t name_map_get(const struct name_map *m, struct str key); // NO_INDEX: absent

// Where an expression stands: which names it may use.
enum scope {
  SCOPE_RULE,          // lets, updates, `when` of statements
  SCOPE_STATIC,        // a static's default, `require`
  SCOPE_HYPER,         // a hyper's default and range
  SCOPE_INIT,          // of a state
  SCOPE_RECIPE_WHEN,   // name, rank, rows, ...
  SCOPE_RECIPE_STATIC, // argument of `use` for a static
  SCOPE_RECIPE_HYPER,  // argument of `use` for a hyper, clip: recipe hypers
  SCOPE_RECIPE_PLAIN,  // default and range of a recipe's hyper
};

enum name_kind {
  NAME_UNKNOWN,
  NAME_STMT, // index: statement of the optimizer
  NAME_PARAM,
  NAME_GRAD,
  NAME_STEP,
  NAME_RANK,
  NAME_ROWS,
  NAME_COLS,
  NAME_NUMEL,
  NAME_DTYPE,
  NAME_NAME,
  NAME_ITERATION,
  NAME_STORAGE,
  NAME_RECIPE_HYPER, // index: hyper of the recipe, in order of declaration
};
struct name_ref {
  enum name_kind kind;
  uint32_t index;
  enum stmt_kind stmt; // NAME_STMT
  const struct iteration *iteration;
  enum storage storage;
};

// One optimizer with its names bound; built once.
struct opt_info {
  const struct optimizer *opt;
  struct name_map names; // statement that declares the name
  bool *skip;            // statements whose name was taken: reported, then ignored
  uint32_t *reads;       // by declaring statement: reads outside its own update
  uint32_t n_hypers;
  uint32_t *hyper_at; // statement to hyper, in order of declaration
  bool reads_dtype;
};

struct recipe_info {
  const struct recipe *recipe;
  struct name_map names; // hypers
  uint32_t *reads;       // by hyper
  uint32_t n_hypers;
};

struct sema {
  struct front *f;
  const struct program *program;
  uint32_t errors_before; // of other programs in the same run
  VEC(struct opt_info *) opt;
};

// Binds the names of an optimizer (once; later calls return the same) and reports what is wrong with them.
const struct opt_info *sema_optimizer(struct sema *s, const struct optimizer *o);
struct recipe_info *sema_recipe_names(struct sema *s, const struct recipe *r);
bool fn_find(struct str name, enum fn *out);
// The function that a call means; false when name, count or place of arguments is wrong (reported with the names).
bool expr_function(const struct expr *e, enum fn *f);
bool call_function(const struct expr *e,
                   enum fn *f); // by name alone; `max` told from its reduction
bool builtin_at(uint32_t i, struct str *text,
                enum name_kind *kind); // the names of the language, one by one
bool name_is_taken(struct str name, bool in_recipe); // by the language
struct name_ref name_resolve(const struct sema *s, const struct opt_info *o,
                             const struct recipe_info *r, struct str name);
bool name_in_scope(enum scope scope, struct name_ref ref);
// Reports unknown names and functions, wrong counts of arguments, names out of place. `at`: the statement that
// holds `e`; declarations must stand above it.
struct name_walk {
  struct sema *s;
  struct opt_info *o;
  struct recipe_info *r;
  enum scope scope;
  uint32_t at;
  uint32_t updates; // statement whose `:=` this is: its own reads do not count; NO_INDEX
};
void names_check(const struct name_walk *w, const struct expr *e);

// ---- typing (sema_expr.c, sema_call.c)

struct binding {       // of one statement's name in an instantiation
  struct texpr *value; // static, let
  uint32_t index; // hyper: of the job; state, input: of the rule; let: rule statement
  bool exists, is_host, needs_shape;
  enum cls cls; // state, input
};

struct ctx {
  struct sema *s;
  struct diags *diags;
  uint32_t n_errors;
  enum scope scope;
  const struct opt_info *o;
  const struct recipe_info *r;
  struct binding *bind; // by statement; NULL in recipes
  // The parameter; shape NULL: not known yet (hyper defaults).
  const struct shape *shape;
  enum storage dtype;
  bool is_small; // as in struct target
  struct str param_name;
  bool saw_shape; // an expression wanted the shape that is not known
  // A note under every message: where this instantiation comes from. Empty text: none.
  struct span note_at;
  struct str note;
};

struct diag *ctx_report(struct ctx *c, struct span at, enum diag_code code,
                        const struct str *args, uint32_t n_args);
#define REPORT(c, at, code, ...)                                                         \
  ctx_report((c), (at), (code), (struct str[]){__VA_ARGS__},                             \
             (uint32_t)(sizeof((struct str[]){__VA_ARGS__}) / sizeof(struct str)))
#define REPORT0(c, at, code) ctx_report((c), (at), (code), NULL, 0)

struct diags sema_quiet(struct sema *s); // counts errors and keeps none
struct texpr *texpr_new(struct ctx *c, enum tex_kind kind, enum vtype type,
                        struct span span);
struct texpr *texpr_string(struct ctx *c, struct str text, struct span span);
struct texpr *texpr_poison(struct ctx *c, struct span span);
struct texpr *texpr_number(struct ctx *c, double x, struct span span);
static inline bool is_poison(const struct texpr *t) {
  return t->type == VT_POISON;
}
struct texpr *type_expr(struct ctx *c, const struct expr *e);
struct texpr *type_name(struct ctx *c, const struct expr *e);
struct texpr *type_call(struct ctx *c, const struct expr *e);
// Applies `f` to typed arguments: type rules, then folding when all are static.
struct texpr *type_apply(struct ctx *c, enum fn f, struct texpr **arg, uint32_t n,
                         enum cls to, bool has_to, struct span span);
// A condition that must be known at compile time. Returns false after an error; else *truth is its value and *cls
// tells whether it depends on the parameter.
bool type_condition(struct ctx *c, const struct expr *e, const char *what, bool *truth,
                    enum cls *cls);
struct str texpr_text(struct arena *a, const struct texpr *t); // a static value as text
struct str quoted(struct arena *a, struct str s);              // "s"

// ---- rules

struct static_value {      // of one static in one use line, instead of its default
  const struct expr *expr; // argument of `use`, in the scope of recipe `r`
  struct texpr *value;     // -D, or a value that `stepc check` tries
};

struct bound_use { // an optimizer with its arguments
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
struct target { // what a rule is instantiated for
  struct shape shape;
  enum storage dtype, grad;
  bool
      is_small; // the parameter, before views, has under 4096 elements or rank < 2: 8-bit states keep f32
  struct span note_at;
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
const char *type_wants(const struct type_ref *t);

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
