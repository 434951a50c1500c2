// stepc_compile and stepc_program_free: the chain under a guard, with every way out a status.
#include "api/program.h"

#include "core/fpmode.h"

#include <stdlib.h>

// What the errors say of the environment; STEPC_BAD_INPUT when nothing.
static stepc_status status_of(const struct diags *d) {
  for (uint32_t i = 0; i < d->list.n; i++) {
    const struct diag *g = d->list.v[i];
    struct str code = str_of(diag_info(g->code)->code);
    if (g->severity == SEV_ERROR && str_starts(code, "E00")) {
      return str_is(code, "E0001") ? STEPC_IO : STEPC_NO_LIBRARY;
    }
  }
  return STEPC_BAD_INPUT;
}

// The first error in the order shown stands for all.
static const char *first_error(const struct compiled *p) {
  for (uint32_t i = 0; i < p->records.summary.n_diags; i++) {
    if (p->records.diag[i].diag.severity == STEPC_ERROR) {
      return p->records.diag[i].diag.text;
    }
  }
  return "";
}

static stepc_status compile_job(struct compiled *p, const struct stepc_job *job) {
  struct str why;
  if (!read_job(p, job, &why)) {
    p->error = str_cstr(p->arena, why);
    return STEPC_BAD_ARGUMENT;
  }
  struct front *f = &p->front;
  struct driver *d = &p->driver;
  const struct driver_input *in = &p->input;
  bool made = driver_run(f, in, d);
  keep_records(p);
  if (made) {
    p->step = *d->step;
    return STEPC_OK;
  }
  if (d->ice.n != 0 || p->diags.n_errors == 0) {
    p->error =
        d->ice.n != 0 ? str_cstr(p->arena, d->ice) : "a stage failed without a message";
    return STEPC_INTERNAL;
  }
  p->error = first_error(p);
  return status_of(&p->diags);
}

// Forgets all but the fact that memory ran out.
static void forget(struct compiled *p) {
  driver_free(&p->driver);
  arena_free(p->arena);
  *p = (struct compiled){.error = "out of memory", .messages = ""};
}

static stepc_status compile_guarded(struct compiled *p, const struct stepc_job *job) {
  jmp_buf oom;
  if (setjmp(oom) != 0) {
    forget(p);
    return STEPC_NO_MEMORY;
  }
  arena_guard(p->arena, &oom);
  p->sources.arena = p->arena;
  diags_init(&p->diags, p->arena, &p->sources);
  p->front = (struct front){p->arena, &p->sources, &p->diags};
  stepc_status s = compile_job(p, job);
  arena_guard(p->arena, NULL);
  return s;
}

// Read before the job is checked: a job too short for it has no limit.
static size_t limit_of(const struct stepc_job *job) {
  size_t end = offsetof(struct stepc_job, memory_limit) + sizeof job->memory_limit;
  uint64_t limit = job != NULL && job->size >= end ? job->memory_limit : 0;
  return limit > SIZE_MAX ? 0 : (size_t)limit;
}

// strtod looks at the x87 unit's rounding, which fpmode.h leaves alone.
void fp_enter(fenv_t *callers) {
  fegetenv(callers);
  fesetenv(FE_DFL_ENV);
  (void)rt_fpmode_enter();
}

stepc_status stepc_compile(const struct stepc_job *job, struct steprt_program **program) {
  if (program == NULL) {
    return STEPC_BAD_ARGUMENT;
  }
  struct compiled *p = calloc(1, sizeof *p);
  *program = p == NULL ? NULL : &p->step;
  if (p == NULL) {
    return STEPC_NO_MEMORY;
  }
  p->error = p->messages = "";
  p->arena = arena_new(limit_of(job));
  if (p->arena == NULL) {
    forget(p);
    return STEPC_NO_MEMORY;
  }
  fenv_t callers;
  fp_enter(&callers);
  stepc_status s = compile_guarded(p, job);
  fesetenv(&callers);
  return s;
}

void stepc_program_free(struct steprt_program *program) {
  struct compiled *p = compiled_of(program);
  if (p != NULL) {
    driver_free(&p->driver);
    arena_free(p->arena);
    free(p);
  }
}
