// 8-bit states and placement: a shard must hold whole blocks, or bits would depend on the mesh (DESIGN section 3).
#include "front/recipe_int.h"

struct cut_check {
  struct job_builder *b;
  const struct model_param *p;
  const struct rule_state *state;
};

static void report(struct cut_check *c, struct str axis) {
  (void)DIAG(c->b->f->diags, NO_SPAN, E0325, c->p->name, axis,
             str_fmt(c->b->f->arena, "%u", c->state->block), c->state->name);
}

// Rows of `n` elements, cut by the placements from `k` on that shard the last dimension: shards of ceil(n / size), the
// last one shorter (DESIGN section 5). False once a message was given.
static bool cut_rows(struct cut_check *c, uint64_t n, uint32_t k) {
  const struct model_param *p = c->p;
  while (k < p->n_places && p->place[k].dim + 1 != p->shape.rank) {
    k++;
  }
  if (k == p->n_places || n == 0) {
    return true;
  }
  const struct model_axis *axis = &c->b->model->axis[p->place[k].axis];
  uint64_t full = (n + axis->size - 1) / axis->size;
  if (full < n && full % c->state->block != 0) {
    report(c, axis->name);
    return false;
  }
  uint64_t last = n % full;
  return cut_rows(c, full, k + 1) && (last == 0 || cut_rows(c, last, k + 1));
}

static void cut_flat(struct cut_check *c) {
  const struct model_param *p = c->p;
  uint64_t cols = p->shape.dim[p->shape.rank - 1];
  for (uint32_t i = 0; i < p->n_flat; i++) {
    for (uint32_t end = 0; end < 2; end++) {
      if (cols != 0 && p->flat[i][end] % cols % c->state->block != 0) {
        report(c, p->flat_axis);
        return;
      }
    }
  }
}

void job_check_place(struct job_builder *b, const struct model_param *p,
                     const struct rule *rule) {
  for (uint32_t i = 0; i < rule->n_states; i++) {
    struct cut_check c = {b, p, &rule->state[i]};
    if (c.state->block != 0 && p->shape.rank >= 2) {
      (void)cut_rows(&c, p->shape.dim[p->shape.rank - 1], 0);
      cut_flat(&c);
    }
  }
}
