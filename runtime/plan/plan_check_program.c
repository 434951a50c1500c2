// A plan against its program: the same parameters, rules, states and kernels.
#include "plan/plan_check.h"

#include "plan/names.h"
#include "plan/program_json.h"

static bool same_text(const char *a, const char *b) {
  return b != NULL && strcmp(a, b) == 0;
}

static const char *fault_of_states(const struct rt_plan *plan,
                                   const struct rt_plan_param *p,
                                   const struct rt_rule *r) {
  if (p->n_states != r->n_states) {
    return "it has not the states of its rule";
  }
  for (uint32_t i = 0; i < r->n_states; i++) {
    const struct rt_state_home *s = &plan->state[p->first_state + i];
    if (!same_text(s->name, r->state[i].name) || s->storage != r->state[i].storage) {
      return "a state is not that of its rule";
    }
  }
  return NULL;
}

// A block of the program's tensor; rank 1: a range of its elements, too.
static bool is_shard(const struct rt_plan_param *p, const struct rt_param *whole) {
  if (p->rank == 1 && p->start[0] + p->dim[0] <= whole->numel) {
    return true;
  }
  bool inside = p->rank == whole->rank;
  for (uint32_t d = 0; inside && d < p->rank; d++) {
    inside = p->start[d] + p->dim[d] <= whole->dim[d];
  }
  return inside;
}

static const char *fault_of_param(const struct plan_check *c, uint32_t i) {
  const struct rt_plan_param *p = &c->plan->param[i];
  const struct rt_param *v = &c->program->param[i];
  if (!same_text(p->name, v->name)) {
    return "the program has another in its place";
  }
  if (!is_shard(p, v)) {
    return "it is no shard of the program's";
  }
  if (p->storage != v->storage || p->grad != v->grad) {
    return "the program has it or its gradient in another storage";
  }
  if (v->active != (p->unit != RT_NO_ID)) {
    return v->active ? "the program updates it" : "the program does not update it";
  }
  if (!v->active) {
    return NULL;
  }
  if (v->rule >= c->program->n_rules ||
      !same_text(p->rule, c->program->rule[v->rule].name)) {
    return "the program has another rule for it";
  }
  return fault_of_states(c->plan, p, &c->program->rule[v->rule]);
}

static bool same_kernel(const struct rt_kernel_info *a, const struct rt_kernel *b) {
  if (!same_text(a->name, b->name) || a->n_ptrs != b->n_ptrs ||
      a->n_scalars != b->n_scalars || a->bytes_read != b->bytes_read ||
      a->bytes_written != b->bytes_written || (b->n_ptrs > 0 && b->access == NULL)) {
    return false;
  }
  for (uint32_t i = 0; i < a->n_ptrs; i++) {
    const struct rt_access *x = &a->access[i], *y = &b->access[i];
    if (x->bytes != y->bytes || x->read != y->read || x->written != y->written) {
      return false;
    }
  }
  return true;
}

static steprt_status check_tables(struct plan_check *c) {
  const struct rt_plan *plan = c->plan;
  const struct steprt_program *p = c->program;
  if (plan->n_params != p->n_params || plan->n_kernels != p->n_kernels) {
    return rt_plan_bad(c, "the plan has %u params and %u kernels, the program %u and %u",
                       plan->n_params, plan->n_kernels, p->n_params, p->n_kernels);
  }
  for (uint32_t i = 0; i < p->n_params; i++) {
    const char *fault = fault_of_param(c, i);
    if (fault != NULL) {
      return rt_plan_bad(c, "param %u '%s': %s", i, rt_show(plan->param[i].name).text,
                         fault);
    }
  }
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    if (!same_kernel(&plan->kernel[i], &p->kernel[i])) {
      return rt_plan_bad(c, "kernel %u '%s' is not that of the program", i,
                         rt_show(plan->kernel[i].name).text);
    }
  }
  return STEPRT_OK;
}

// The norm: judged where the recipe looks at gradients, over all of them.
static steprt_status check_norm(struct plan_check *c) {
  bool needed = c->program->clips || c->program->skips_nonfinite;
  if (rt_plan_judges(c->plan) != needed) {
    return rt_plan_bad(
        c, needed ? "the recipe clips or skips; the plan has no verdict"
                  : "the plan has a verdict; the recipe neither clips nor skips");
  }
  return STEPRT_OK;
}

steprt_status rt_plan_check_program(struct plan_check *c) {
  const struct steprt_program *p = c->program;
  if (p == NULL) {
    return STEPRT_OK;
  }
  if (!same_text(c->plan->configuration.target, p->target)) {
    return rt_plan_bad(c, "the plan is for target %s, the program for %s",
                       rt_show(c->plan->configuration.target).text,
                       p->target == NULL ? "none" : rt_show(p->target).text);
  }
  RT_TRY(check_tables(c));
  RT_TRY(check_norm(c));
  char digest[65];
  if (p->digest[0] != '\0') {
    memcpy(digest, p->digest, sizeof digest);
  } else if (!rt_program_digest(p, digest)) {
    return rt_plan_check_no_memory(c);
  }
  return strcmp(c->plan->program_digest, digest) == 0
             ? STEPRT_OK
             : rt_plan_bad(c, "the plan is of another program: of %.64s, not %.64s",
                           c->plan->program_digest, digest);
}
