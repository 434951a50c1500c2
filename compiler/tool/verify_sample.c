// Which parameters of a large model are verified.
#include "tool/table.h"
#include "tool/verify.h"

#include <stdlib.h>

struct candidate {
  uint32_t param, use, rule;
  uint64_t elements;
};

static int by_size(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  return x->elements != y->elements
             ? (x->elements > y->elements) - (x->elements < y->elements)
             : (x->param > y->param) - (x->param < y->param);
}

struct chosen {
  bool *param, *use, *rule;
  uint64_t elements;
};

static void choose(struct chosen *c, const struct candidate *x) {
  if (!c->param[x->param]) {
    c->param[x->param] = c->use[x->use] = c->rule[x->rule] = true;
    c->elements += x->elements;
  }
}

static void choose_all(struct chosen *c, const struct candidate *list, uint32_t n,
                       uint64_t elements) {
  for (uint32_t i = 0; i < n; i++) { // of each use line, whatever its size
    if (!c->use[list[i].use]) {
      choose(c, &list[i]);
    }
  }
  for (int any_rule = 0; any_rule < 2; any_rule++) {
    for (uint32_t i = 0; i < n; i++) {
      bool wanted = any_rule != 0 || !c->rule[list[i].rule];
      if (wanted && c->elements + list[i].elements <= elements) {
        choose(c, &list[i]);
      }
    }
  }
}

static struct str describe_rest(struct arena *a, const struct job *job,
                                const struct chosen *c, uint64_t elements) {
  uint32_t tensors = 0, rules = 0;
  uint64_t rest = 0;
  const struct model_param *largest = NULL;
  for (uint32_t i = 0; i < job->model->n_params; i++) {
    const struct model_param *p = &job->model->param[i];
    if (job->param[i].rule == UINT32_MAX || c->param[i]) {
      continue;
    }
    tensors++;
    rest += shape_numel(&p->shape);
    if (largest == NULL || shape_numel(&p->shape) > shape_numel(&largest->shape)) {
      largest = p;
    }
  }
  for (uint32_t r = 0; r < job->n_rules; r++) {
    rules += !c->rule[r];
  }
  if (largest == NULL) {
    return STR("");
  }
  return str_fmt(a,
                 "%u tensors of %s elements are left out (the largest: `%s` %s), %u of "
                 "%u rules with them; "
                 "--elements %llu is the limit",
                 tensors, text_count(a, (double)rest).p, str_escape(a, largest->name).p,
                 shape_text(a, &largest->shape).p, rules, job->n_rules,
                 (unsigned long long)elements);
}

struct model *verify_sample(struct arena *a, const struct job *job, uint64_t elements,
                            struct str *left_out) {
  const struct model *m = job->model;
  struct candidate *list = ARENA_ARRAY(a, struct candidate, m->n_params);
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->n_params; i++) {
    if (job->param[i].rule != UINT32_MAX) {
      list[n++] = (struct candidate){i, job->param[i].use, job->param[i].rule,
                                     shape_numel(&m->param[i].shape)};
    }
  }
  qsort(list, n, sizeof *list, by_size);
  struct chosen c = {.param = ARENA_ARRAY(a, bool, m->n_params),
                     .use = ARENA_ARRAY(a, bool, job->n_uses),
                     .rule = ARENA_ARRAY(a, bool, job->n_rules)};
  choose_all(&c, list, n, elements);
  struct model *out = ARENA_NEW(a, struct model);
  *out = *m;
  out->param = ARENA_ARRAY(a, struct model_param, m->n_params);
  out->n_params = 0;
  for (uint32_t i = 0; i < m->n_params; i++) {
    if (c.param[i]) {
      out->param[out->n_params++] = m->param[i];
    }
  }
  *left_out = describe_rest(a, job, &c, elements);
  return out;
}
