// Semantic analysis: from syntax trees to typed rules.
//
// Two steps. `sema_check` judges a program by itself: names, arguments, types, and every instantiation that
// `require` allows over bool and choice statics, ranks 0 to 4 and matrices 2x3, 3x2, 2x2. `sema_job` binds a recipe
// to a model: each parameter gets its `use` line, each distinct (use line, shape, dtypes) one `struct rule`, in
// which statics are folded, `if` is decided, false guards are gone and every expression is typed.
#ifndef STEPC_FRONT_SEMA_H
#define STEPC_FRONT_SEMA_H

#include "front/model.h"

enum fn {
#define FN(id, text, min, max, group) FN_##id,
#include "front/functions.def"
#undef FN
  N_FNS
};
const char *fn_name(enum fn f);

enum tex_kind {
  TEX_POISON,
  TEX_CONST, // num; bool as 0 or 1
  TEX_HYPER, // index into job->hyper
  TEX_STEP,  // this parameter's count of updates, from 1
  TEX_PARAM, // the parameter, old before `param :=`, new (as stored) after
  TEX_GRAD,  // the gradient after clip
  TEX_STATE, // index into rule->state; old before its `:=`, new (as stored) after
  TEX_INPUT, // index into rule->input
  TEX_LET,   // index into rule->stmt: the value of that `let`
  TEX_CALL,  // fn, arg
};

struct texpr {
  enum tex_kind kind;
  enum vtype type;
  enum stage stage;
  enum cls cls;
  struct span span;
  double num;      // CONST; a storage as its number
  struct str text; // CONST of type string
  uint32_t index;
  enum fn fn;
  enum cls to; // reductions: class of the result
  struct texpr *arg[3];
  uint32_t n_args;
  const struct iteration *iteration; // orthogonalize; CONST of type iteration
};

struct hyper {
  struct str label, name, as; // label empty: of the recipe
  double value;               // default after `use` arguments and --set
  bool has_range, lo_open, hi_open;
  double lo, hi;
  struct texpr *bound; // over recipe hypers; NULL: set by itself
  struct span span;
};
// Value of every hyper from those that are set: bound ones are evaluated. Ranges are checked by the caller.
void hypers_resolve(const struct hyper *h, uint32_t n, const double *set, double *out);
bool hyper_in_range(const struct hyper *h, double value);

struct rule_state {
  struct str name, as;
  enum storage storage;
  uint32_t block; // q8, q8u
  enum cls cls;
  bool is_host; // a double per parameter (or per use line: cls group), kept on the host
  bool stochastic; // rounding of its `:=`
  // q8 was asked for: under 4096 elements or of rank 1 it rests in f32 (to be noted)
  bool kept_f32;
  struct texpr *init; // numbers and TEX_PARAM; NULL: zeros
  struct span span;
};

struct rule_input {
  struct str name;
  bool is_scalar; // a host scalar of the step; else a tensor of class cls
  enum cls cls;
  bool used;
};

enum rule_stmt_kind { RULE_LET, RULE_STATE, RULE_PARAM };
struct rule_stmt {
  enum rule_stmt_kind kind;
  uint32_t index; // state
  struct str name;
  struct texpr *value;
  bool stochastic;
  struct span span;
};

struct rule {
  struct str name;    // optimizer's name
  uint32_t use;       // index into job->use
  struct shape shape; // as the rule sees it, after views
  enum storage dtype, grad;
  // `master`: the rule reads and writes a copy in this storage as `param`
  bool has_master;
  enum storage master;
  struct rule_state *state;
  uint32_t n_states;
  struct rule_input *input;
  uint32_t n_inputs;
  struct rule_stmt *stmt;
  uint32_t n_stmts;
  const struct optimizer *optimizer;
};

struct job_use {
  struct str label;
  const struct use *use; // NULL: the optimizer itself was picked
  const struct optimizer *optimizer;
  uint32_t first_hyper, n_hypers; // its slice of job->hyper, in order of declaration
  struct str when_text;           // "" for the unconditional line: shown as the reason
};

struct job_param {
  uint32_t use, rule; // UINT32_MAX where frozen or tied; with views that split: of part 0
  // views that split: the rule of each part, in order of its first row (column)
  uint32_t *part;
  uint32_t n_parts; // 0 without such views
};

struct job {
  struct str name; // of the recipe or optimizer
  const struct model *model;
  struct hyper *hyper;
  uint32_t n_hypers;
  struct job_use *use;
  uint32_t n_uses;
  struct rule **rule;
  uint32_t n_rules;
  struct job_param *param; // model->n_params of them
  struct texpr *clip;      // over recipe hypers; NULL: no clip
  bool skip_nonfinite;
};

struct setting { // -D ns=polar_express, -D rest.ns=..., --set lr=0.1
  struct str text;
};
struct job_options {
  struct str pick; // recipe or optimizer; empty: the only recipe, else the only optimizer
  const struct setting *define, *set;
  uint32_t n_defines, n_sets;
};

// For a program that parsed without errors: what a broken statement declares would be called unknown.
void sema_check(struct front *f, const struct program *p);
// Is there a recipe or optimizer of this name? Reported (E0317) where there is none.
bool sema_has_pick(struct front *f, const struct program *p, struct str name);
// NULL when anything was refused (reported). `sema_check` need not have run.
struct job *sema_job(struct front *f, const struct program *p, const struct model *m,
                     const struct job_options *o);

#endif
