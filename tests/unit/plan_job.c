#include "plan_job.h"

#include <criterion/criterion.h>
#include <string.h>

static bool read_text(void *ctx, struct arena *a, struct str path, struct str *text,
                      struct str *why) {
  const struct plan_job *j = ctx;
  if (str_is(path, "specs/test.opt")) { // beside the shipped ones, for imports
    *text = j->spec;
    return true;
  }
  struct file_reader disk = file_reader_disk();
  return disk.read(disk.ctx, a, path, text, why);
}

static void set_input(struct plan_job *j, const char *spec, const char *model,
                      bool cuda) {
  struct driver_input *in = &j->input;
  j->spec = in->spec = str_of(spec);
  if (strchr(spec, '\n') != NULL) {
    in->spec = STR("specs/test.opt");
    in->reader = (struct file_reader){read_text, j};
  }
  in->model = str_of(model);
  if (model[0] == '{') {
    in->model = STR("model");
    in->model_text = str_of(model);
  }
  in->names_cuda = cuda;
  in->arch = cuda ? STR("sm_90a") : STR("");
}

void plan_job_open(struct plan_job *j, const char *spec, const char *model, bool cuda) {
  *j = (struct plan_job){.arena = arena_new(0)};
  j->sources.arena = j->arena;
  diags_init(&j->diags, j->arena, &j->sources);
  j->front = (struct front){j->arena, &j->sources, &j->diags};
  set_input(j, spec, model, cuda);
  struct driver *d = &j->driver;
  cr_assert(
      driver_parse(&j->front, &j->input, d) && driver_model(&j->front, &j->input, d) &&
          driver_job(&j->front, &j->input, d) && driver_lower(&j->front, &j->input, d) &&
          driver_program(&j->front, &j->input, d),
      "%s%.*s", plan_job_said(j), STR_FMT(d->ice));
}

struct rt_plan *plan_job_plan(struct plan_job *j, const struct plan_options *o) {
  j->input.plan = *o;
  (void)driver_plan(&j->front, &j->input, &j->driver);
  cr_assert(j->driver.ice.n == 0, "%.*s", STR_FMT(j->driver.ice));
  return j->driver.plan;
}

const char *plan_job_said(struct plan_job *j) {
  const char *said =
      str_cstr(j->arena, diag_render(&j->diags, DIAG_TEXT, false, j->arena));
  diags_init(&j->diags, j->arena, &j->sources);
  return said;
}

void plan_job_close(struct plan_job *j) {
  driver_free(&j->driver);
  arena_free(j->arena);
}
