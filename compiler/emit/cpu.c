// The CPU target from a job in IR to a program that runs.
#include "emit/cpu.h"

#include "emit/cpu_code.h"
#include "emit/cpu_plan.h"
#include "emit/cpu_text.h"
#include "emit/refuse.h"

struct cpu_program {
  struct cpu_plan *plan;
  struct cpu_code *code;
};

static bool find_target(struct front *f, struct str cpu, bool runs,
                        struct cpu_target *out) {
  if (!cpu_target_find(f->arena, cpu, out)) {
    struct diag *d = DIAG(f->diags, NO_SPAN, E0702, cpu);
    uint32_t n = 0;
    const struct str *names = cpu_target_names(&n);
    diag_suggest(f->diags, d, cpu, names, n);
    return false;
  }
  if (runs && !out->is_host) {
    DIAG(f->diags, NO_SPAN, E0703, out->cpu, cpu_host_name(f->arena));
    return false;
  }
  return true;
}

// Kernels that take more than libsteprt hands over.
static bool refuse_large(struct front *f, const struct cpu_plan *plan) {
  bool refused = false;
  for (uint32_t i = 0; i < plan->kernels.list.n; i++) {
    const struct kernel *k = plan->kernels.list.v[i];
    if (k->n_slots > RT_MAX_PTRS || k->n_scalars > RT_MAX_SCALARS) {
      struct str thing = str_fmt(
          f->arena, "a phase of `%.*s` with more than %d tensors or %d host scalars",
          STR_FMT(k->phases->ir->name), RT_MAX_PTRS, RT_MAX_SCALARS);
      DIAG(f->diags, NO_SPAN, E0701, thing, STR("cpu"));
      refused = true;
    }
  }
  return refused;
}

// Target, refusals and plan; NULL when there is nothing to make.
static struct cpu_plan *begin(struct front *f, const struct job_ir *j,
                              const struct cpu_options *o, bool runs,
                              struct cpu_target *target, struct str *ice) {
  *ice = STR("");
  if (!find_target(f, o->cpu, runs, target) || target_refuse(f, j, STR("cpu"))) {
    return NULL;
  }
  struct cpu_plan *plan = cpu_plan_build(f->arena, j, CPU_STREAM_NUMEL, ice);
  return ice->n == 0 && !refuse_large(f, plan) ? plan : NULL;
}

struct cpu_program *cpu_compile(struct front *f, const struct job_ir *j,
                                const struct cpu_options *o, struct str *ice) {
  struct cpu_target target;
  struct cpu_plan *plan = begin(f, j, o, true, &target, ice);
  if (plan == NULL) {
    return NULL;
  }
  struct cpu_program *p = ARENA_NEW(f->arena, struct cpu_program);
  p->plan = plan;
  p->code = cpu_code_new(f->arena, &target, &plan->kernels, ice);
  if (p->code == NULL) {
    return NULL;
  }
  for (uint32_t i = 0; i < plan->kernels.list.n; i++) {
    plan->kernel[i].fn = cpu_code_function(p->code, i);
  }
  return p;
}

struct str cpu_emit_text(struct front *f, const struct job_ir *j,
                         const struct cpu_options *o, bool assembly, struct str *ice) {
  struct cpu_target target;
  struct cpu_plan *plan = begin(f, j, o, false, &target, ice);
  if (plan == NULL) {
    return STR("");
  }
  struct str text = cpu_code_text(f->arena, &target, &plan->kernels, assembly, ice);
  return text.n != 0 ? cpu_text_annotate(f->arena, f->sources, &plan->kernels, target.cpu,
                                         text, assembly)
                     : text;
}

struct steprt_program *cpu_program_step(const struct cpu_program *p) {
  return &p->plan->program;
}

struct steprt_program *cpu_program_plan_only(struct front *f, const struct job_ir *j,
                                             struct str *ice) {
  *ice = STR("");
  struct cpu_plan *plan = target_refuse(f, j, STR("cpu"))
                              ? NULL
                              : cpu_plan_build(f->arena, j, CPU_STREAM_NUMEL, ice);
  return plan != NULL && ice->n == 0 && !refuse_large(f, plan) ? &plan->program : NULL;
}

const struct str *cpu_program_notes(const struct cpu_program *p, uint32_t *n) {
  *n = p->plan->note.n;
  return p->plan->note.v;
}

void cpu_program_free(struct cpu_program *p) {
  if (p != NULL) {
    cpu_code_free(p->code);
  }
}
