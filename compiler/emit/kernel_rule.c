// The kernels that a rule needs.
#include "emit/kernel.h"

static struct kernel_map find_map(struct kernels *k, const struct phases *p,
                                  uint32_t phase, uint64_t numel) {
  struct kernel_map m = {.phases = p, .phase = phase};
  m.kernel = kernel_find(k, p, phase, numel, &m.slot);
  return m;
}

static struct kernel_map find_initial(struct kernels *k, const struct ir *init,
                                      uint64_t numel, struct str *ice) {
  const struct phases *p = phases_cut(k->arena, init);
  if (p->n_phases != 1 || p->phase[0].kind != PHASE_MAP || p->phase[0].n_scalars != 0) {
    *ice = STR("an initial state is not one map over constants and the parameter");
    return (struct kernel_map){0};
  }
  return find_map(k, p, 0, numel);
}

struct rule_kernels kernels_of_rule(struct kernels *k, const struct phases *p,
                                    struct str *ice) {
  const struct ir *ir = p->ir;
  uint64_t numel = shape_numel(&ir->shape);
  struct rule_kernels out = {.map = ARENA_ARRAY(k->arena, struct kernel_map, p->n_phases),
                             .init =
                                 ARENA_ARRAY(k->arena, struct kernel_map, ir->n_states)};
  for (uint32_t i = 0; i < p->n_phases; i++) {
    if (p->phase[i].kind == PHASE_MAP) {
      out.map[i] = find_map(k, p, i, numel);
    }
  }
  for (uint32_t s = 0; ir->init != NULL && s < ir->n_states; s++) {
    if (ir->init[s] != NULL && !ir->state[s].is_host) {
      out.init[s] = find_initial(k, ir->init[s], numel, ice);
    }
  }
  return out;
}
