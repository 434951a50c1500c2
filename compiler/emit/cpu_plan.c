// Parameters, rules and hypers of the program. Phases are in cpu_phases.c.
#include "emit/cpu_plan.h"

#include "file/sha256.h"

static const char *cstr(const struct planner *p, struct str s) {
  return str_cstr(p->arena, s);
}

// ---- parameters

static void add_param(struct planner *p, uint32_t index) {
  const struct model_param *m = &p->j->job->model->param[index];
  uint32_t rule = p->j->job->param[index].rule;
  struct rt_param *param = &p->param[index];
  *param = (struct rt_param){.name = cstr(p, m->name),
                             .rank = m->shape.rank,
                             .numel = shape_numel(&m->shape),
                             .storage = m->dtype,
                             .grad = rule != UINT32_MAX ? p->j->job->rule[rule]->grad
                                                        : m->grad,
                             .active = rule != UINT32_MAX,
                             .rule = rule};
  for (uint32_t d = 0; d < m->shape.rank; d++) {
    param->dim[d] = m->shape.dim[d];
  }
}

// ---- rules and hypers

// The initial value of a host state: the constant that its IR stores.
static double host_initial(const struct planner *p, const struct ir *ir, uint32_t state) {
  const struct ir *init = ir->init != NULL ? ir->init[state] : NULL;
  for (uint32_t i = 0; init != NULL && i < init->ins.n; i++) {
    const struct ir_ins *ins = &init->ins.v[i];
    if (ins->op == IR_SET_HOST && ir_at(init, ins->arg[0])->op == IR_CONST) {
      return ir_at(init, ins->arg[0])->num;
    }
  }
  if (init != NULL) {
    *p->ice = str_fmt(p->arena, "host state `%.*s` has no constant initial value",
                      STR_FMT(ir->state[state].name));
  }
  return 0;
}

static void add_rule(struct planner *p, uint32_t index, struct rt_rule *out) {
  const struct ir *ir = p->j->ir[index];
  p->out_of[index] = ARENA_ARRAY(p->arena, uint32_t, ir->ins.n);
  double *initial = ARENA_ARRAY(p->arena, double, ir->n_states);
  uint8_t *is_group = ARENA_ARRAY(p->arena, uint8_t, ir->n_states);
  uint32_t n_host = 0, n_scalars = 0;
  for (uint32_t s = 0; s < ir->n_states; s++) {
    if (ir->state[s].is_host) {
      is_group[n_host] = ir->state[s].cls == CLS_GROUP;
      initial[n_host++] = host_initial(p, ir, s);
    }
  }
  struct host_code code =
      cpu_host_rule(p->arena, ir, p->out_of[index], &n_scalars, p->ice);
  *out = (struct rt_rule){.name = cstr(p, ir->name),
                          .ins = code.ins.v,
                          .n_ins = code.ins.n,
                          .n_regs = code.n_regs,
                          .n_scalars = n_scalars,
                          .n_host_states = n_host,
                          .host_init = initial,
                          .host_is_group = is_group,
                          .use = p->j->job->rule[index]->use};
}

static struct rt_hyper make_hyper(struct planner *p, const struct hyper *h) {
  struct rt_hyper out = {.label = cstr(p, h->label),
                         .name = cstr(p, h->name),
                         .value = h->value,
                         .has_range = h->has_range,
                         .lo_open = h->lo_open,
                         .hi_open = h->hi_open,
                         .lo = h->lo,
                         .hi = h->hi};
  if (h->bound != NULL) {
    struct host_code code = cpu_host_expr(p->arena, h->bound, p->ice);
    out.bound = code.ins.v;
    out.n_bound = code.ins.n;
    out.n_bound_regs = code.n_regs;
  }
  return out;
}

static void set_job(struct planner *p, struct steprt_program *s) {
  const struct job *job = p->j->job;
  struct rt_hyper *hyper = ARENA_ARRAY(p->arena, struct rt_hyper, job->n_hypers);
  for (uint32_t i = 0; i < job->n_hypers; i++) {
    hyper[i] = make_hyper(p, &job->hyper[i]);
  }
  struct rt_rule *rule = p->rule = ARENA_ARRAY(p->arena, struct rt_rule, job->n_rules);
  for (uint32_t i = 0; i < job->n_rules; i++) {
    add_rule(p, i, &rule[i]);
  }
  s->hyper = hyper;
  s->n_hypers = job->n_hypers;
  s->rule = rule;
  s->n_rules = job->n_rules;
  s->clips = job->clip != NULL;
  s->skips_nonfinite = job->skip_nonfinite;
  if (job->clip != NULL) {
    struct host_code code = cpu_host_expr(p->arena, job->clip, p->ice);
    s->clip = code.ins.v;
    s->n_clip = code.ins.n;
    s->n_clip_regs = code.n_regs;
  }
}

static const struct rt_access *accesses(struct arena *a, const struct kernel *k) {
  struct rt_access *access = ARENA_ARRAY(a, struct rt_access, k->n_slots);
  for (uint32_t i = 0; i < k->n_slots; i++) {
    access[i] = (struct rt_access){.bytes = storage_bytes(k->slot[i].storage),
                                   .read = k->slot[i].read,
                                   .written = k->slot[i].written};
  }
  return access;
}

// The key is all that a kernel's code depends on.
static const char *digest_of(struct arena *a, struct str key) {
  char *hex = arena_alloc(a, 65, 1);
  struct sha256 s;
  sha256_init(&s);
  sha256_add(&s, key.p, key.n);
  sha256_hex(&s, hex);
  return hex;
}

static void set_kernels(struct cpu_plan *plan) {
  uint32_t n = plan->kernels.list.n;
  plan->kernel = ARENA_ARRAY(plan->arena, struct rt_kernel, n);
  for (uint32_t i = 0; i < n; i++) {
    const struct kernel *k = plan->kernels.list.v[i];
    plan->kernel[i] = (struct rt_kernel){.name = str_cstr(plan->arena, k->name),
                                         .n_ptrs = k->n_slots,
                                         .n_scalars = k->n_scalars,
                                         .bytes_read = k->bytes_read,
                                         .bytes_written = k->bytes_written,
                                         .access = accesses(plan->arena, k),
                                         .source_digest = digest_of(plan->arena, k->key)};
  }
  plan->program.kernel = plan->kernel;
  plan->program.n_kernels = n;
}

struct cpu_plan *cpu_plan_build(struct arena *a, const struct job_ir *j,
                                uint64_t stream_numel, struct str *ice) {
  struct cpu_plan *plan = ARENA_NEW(a, struct cpu_plan);
  *plan = (struct cpu_plan){
      .arena = a, .j = j, .kernels = {.arena = a, .stream_numel = stream_numel}};
  const struct job *job = j->job;
  struct planner p = {.plan = plan, .j = j, .arena = a, .ice = ice};
  p.out_of = ARENA_ARRAY(a, uint32_t *, job->n_rules);
  p.maps = ARENA_ARRAY(a, struct rule_kernels, job->n_rules);
  p.param = ARENA_ARRAY(a, struct rt_param, job->model->n_params);
  struct steprt_program *s = &plan->program;
  s->version = RT_PROGRAM_VERSION;
  s->target = "cpu";
  s->squares[RT_F32] = s->squares[RT_BF16] = s->squares[RT_F16] = RT_NO_ID;
  s->merge = s->judge = RT_NO_ID;
  set_job(&p, s);
  for (uint32_t i = 0; i < job->model->n_params; i++) {
    add_param(&p, i);
  }
  for (uint32_t i = 0; i < job->n_rules; i++) {
    p.maps[i] = kernels_of_rule(&plan->kernels, j->phases[i], ice);
  }
  for (uint32_t i = 0; i < job->n_rules; i++) {
    cpu_set_phases(&p, i, &p.rule[i]);
  }
  set_kernels(plan);
  s->param = p.param;
  s->n_params = job->model->n_params;
  s->iteration = p.iteration.v;
  s->n_iterations = p.iteration.n;
  return plan;
}
