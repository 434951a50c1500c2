// From spec text to lowered job, with a model that is a table in the test.
#include "cpu_job.h"

#include "plan/planner.h" // compiler/

#include <criterion/criterion.h>

struct text_file {
  const char *path, *text;
};

// The root from memory when it has a text; everything else from disk.
static bool read_text(void *ctx, struct arena *a, struct str path, struct str *text,
                      struct str *why) {
  const struct text_file *root = ctx;
  if (root->text != NULL && str_is(path, root->path)) {
    *text = str_of(root->text);
    return true;
  }
  struct file_reader disk = file_reader_disk();
  return disk.read(disk.ctx, a, path, text, why);
}

static struct model *make_model(struct arena *a, const struct job_param_spec *param,
                                uint32_t n) {
  struct model *m = ARENA_NEW(a, struct model);
  *m = (struct model){.name = STR("test"),
                      .path = STR("test"),
                      .world = 1,
                      .param = ARENA_ARRAY(a, struct model_param, n),
                      .n_params = n};
  for (uint32_t i = 0; i < n; i++) {
    m->param[i] = (struct model_param){.name = str_of(param[i].name),
                                       .shape = param[i].shape,
                                       .dtype = param[i].dtype,
                                       .grad = param[i].grad,
                                       .has_grad = true,
                                       .frozen = param[i].frozen,
                                       .tied_to = UINT32_MAX};
  }
  return m;
}

struct cpu_job cpu_job_open_on(struct arena *a, const char *path, const char *text,
                               const char *pick, const struct job_param_spec *param,
                               uint32_t n) {
  struct cpu_job j = {.arena = a, .model = make_model(a, param, n)};
  struct sources *sources = ARENA_NEW(a, struct sources);
  struct diags *diags = ARENA_NEW(a, struct diags);
  sources->arena = a;
  diags_init(diags, a, sources);
  j.front = (struct front){a, sources, diags};
  struct text_file root = {path, text};
  struct program *p =
      parse_program(&j.front, str_of(path), (struct file_reader){read_text, &root});
  struct job_options options = {.pick = str_of(pick)};
  struct job *job =
      p != NULL && diags->n_errors == 0 ? sema_job(&j.front, p, j.model, &options) : NULL;
  if (job != NULL) {
    j.job = job_lower(a, job, (struct pass_log){0}, &j.ice);
  }
  return j;
}

struct cpu_job cpu_job_open(const char *path, const char *text, const char *pick,
                            const struct job_param_spec *param, uint32_t n) {
  return cpu_job_open_on(arena_new(0), path, text, pick, param, n);
}

void cpu_job_close(struct cpu_job *j) {
  arena_free(j->arena);
}

struct cpu_program *cpu_job_compile(struct cpu_job *j, const char *cpu) {
  cr_assert(j->job != NULL, "%s%.*s", cpu_job_said(j), STR_FMT(j->ice));
  struct cpu_options options = {str_of(cpu)};
  struct cpu_program *p = cpu_compile(&j->front, j->job, &options, &j->ice);
  if (p != NULL) {
    struct steprt_program *step = cpu_program_step(p);
    step->plan =
        plan_make(&j->front, j->job->job, step, &(struct plan_options){0}, &j->ice);
  }
  cr_assert(j->ice.n == 0, "%.*s", STR_FMT(j->ice));
  return p;
}

const char *cpu_job_said(struct cpu_job *j) {
  return str_cstr(j->arena, diag_render(j->front.diags, DIAG_TEXT, false, j->arena));
}
