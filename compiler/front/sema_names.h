// Names: what they stand for and where they may stand. Private to semantic analysis.
#ifndef STEPC_FRONT_SEMA_NAMES_H
#define STEPC_FRONT_SEMA_NAMES_H

#include "front/sema.h"

#define NO_INDEX UINT32_MAX

// ---- functions of the language (functions.def)

enum fn_group { FNG_ELEMENT, FNG_COMPARE, FNG_LOGIC, FNG_HOST, FNG_REDUCE, FNG_MATRIX };
enum fn_group fn_group_of(enum fn f);
void fn_arity(enum fn f, uint32_t *min, uint32_t *max);
// ---- names

// Text to number, open addressing; grows by doubling.
struct name_map {
  struct arena *arena;
  struct str *key;
  uint32_t *value, cap, n;
};
// False: the key was there, with the value that it keeps.
bool name_map_put(struct name_map *m, struct str key, uint32_t value);
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
  bool guards_read_lets; // a state's `when` names a `let`
};

// One recipe with the names of its hypers.
struct recipe_info {
  const struct recipe *recipe;
  struct name_map names; // hypers
  uint32_t *reads;       // by hyper
  uint32_t n_hypers;
};

// One run of semantic analysis.
struct sema {
  struct front *f;
  const struct program *program;
  uint32_t errors_before; // of other programs in the same run
  VEC(struct opt_info *) opt;
};

// Errors found so far, those too that an earlier look at the same program had told.
static inline uint32_t sema_errors(const struct sema *s) {
  return s->f->diags->n_errors + s->f->diags->n_repeated;
}

// Binds the names of an optimizer (once; later calls return the same) and reports what is wrong with them.
const struct opt_info *sema_optimizer(struct sema *s, const struct optimizer *o);
struct recipe_info *sema_recipe_names(struct sema *s, const struct recipe *r);

struct str quoted(struct arena *a, struct str s); // with quotes around it
bool fn_find(struct str name, enum fn *out);
// The function that a call names; `max` is told from its reduction. False: there is none of that name.
bool call_function(const struct expr *e, enum fn *f);
// The same, and count and place of the arguments are right (else it was reported with the names).
bool expr_function(const struct expr *e, enum fn *f);
// The names of the language, one by one; false past the last.
bool builtin_at(uint32_t i, struct str *text, enum name_kind *kind);
bool name_is_taken(struct str name, bool in_recipe); // by the language
// An optimizer's or recipe's own names come first, then those of the language, then iterations and storages.
struct name_ref name_resolve(const struct sema *s, const struct opt_info *o,
                             const struct recipe_info *r, struct str name);
bool name_in_scope(enum scope scope, struct name_ref ref);
// Where an expression stands: in statement `at`, above which its names must be declared.
struct name_walk {
  struct sema *s;
  struct opt_info *o;
  struct recipe_info *r;
  enum scope scope;
  uint32_t at;
  uint32_t updates; // statement whose `:=` this is: its own reads do not count; NO_INDEX
};
// Reports unknown names and functions, wrong counts of arguments, names out of place, choices that are none.
void names_check(const struct name_walk *w, const struct expr *e);

#endif
