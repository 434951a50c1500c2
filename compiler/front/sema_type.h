// Typing of expressions. Private to semantic analysis.
#ifndef STEPC_FRONT_SEMA_TYPE_H
#define STEPC_FRONT_SEMA_TYPE_H

#include "front/sema_names.h"

// ---- values known on the host (sema_fold.c)

// In double; bools are 0 and 1. NaN for functions of tensors.
double fn_eval(enum fn f, const double *x);
// Value of an expression over constants and hypers only.
double texpr_host_value(const struct texpr *t, const double *hyper);

// ---- typing (sema_expr.c, sema_call.c)

// What the name of one statement stands for in an instantiation.
struct binding {
  struct texpr *value; // static, let
  uint32_t index; // hyper: of the job; state, input: of the rule; let: rule statement
  bool exists, is_host, needs_shape;
  enum cls cls; // state, input
};

// Where expressions are typed: an instantiation of an optimizer, or a recipe.
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

// Reports with the context's note, and counts.
struct diag *ctx_report(struct ctx *c, struct span at, enum diag_code code,
                        const struct str *args, uint32_t n_args);
#define REPORT(c, at, code, ...)                                                         \
  ctx_report((c), (at), (code), (struct str[]){__VA_ARGS__},                             \
             (uint32_t)(sizeof((struct str[]){__VA_ARGS__}) / sizeof(struct str)))
#define REPORT0(c, at, code) ctx_report((c), (at), (code), NULL, 0)

struct diags sema_quiet(struct sema *s); // counts errors and keeps none
// Nodes on the arena of the compilation, static and of class group until said otherwise.
struct texpr *texpr_new(struct ctx *c, enum tex_kind kind, enum vtype type,
                        struct span span);
struct texpr *texpr_string(struct ctx *c, struct str text, struct span span);
struct texpr *texpr_poison(struct ctx *c, struct span span);
struct texpr *texpr_number(struct ctx *c, double x, struct span span);
static inline bool is_poison(const struct texpr *t) {
  return t->type == VT_POISON;
}
// Types an expression; poison after an error, and for what the names were reported for. Never NULL.
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

#endif
