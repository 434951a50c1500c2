// What the parts of sema_job share: recipe.c, recipe_pick.c, recipe_rules.c.
#ifndef STEPC_FRONT_RECIPE_INT_H
#define STEPC_FRONT_RECIPE_INT_H

#include "front/sema_rule.h"

struct built_rule {    // one instantiation that was tried
  uint32_t line, rule; // NO_INDEX: refused
  struct shape shape;
  enum storage dtype, grad;
  bool is_small; // 8-bit states keep f32
};

struct job_builder {
  struct sema *s;
  struct front *f;
  const struct model *model;
  struct job_lines line;
  struct job *job;
  VEC(struct rule *) rule;
  VEC(struct built_rule) built;
  uint32_t *slot, cap; // hash table over `built`
};

// By name, else the only recipe of the root file, else its only optimizer. Both NULL after an error.
void job_pick(struct sema *s, struct str name, const struct recipe **r,
              const struct optimizer **o);
// The rule of `p` seen with `shape` on a line, instantiated at its first use; NO_INDEX: refused (reported once).
uint32_t job_rule(struct job_builder *b, uint32_t line, const struct model_param *p,
                  const struct shape *shape);
// Reports a shard that would cut a block of an 8-bit state.
void job_check_place(struct job_builder *b, const struct model_param *p,
                     const struct rule *rule);
struct str param_note(struct arena *a,
                      const struct model_param *p); // "for `w` (shape [2, 3])"

#endif
