// stepc plan: makes the plan of a step, proves it, and says what it holds.
#include "tool/file.h"
#include "tool/job.h"
#include "tool/plan_diff.h"
#include "tool/plan_file.h"
#include "tool/plan_ranks.h"
#include "tool/plan_report.h"

#include <string.h>

struct planning {
  struct tool *tool;
  struct job_setup setup;
  struct driver driver;
  const char *output;  // NULL: not asked for
  struct rt_plan *old; // of --diff; NULL: not asked for
  bool all_ranks;
};

static bool to_stdout(const struct planning *p) {
  return p->output != NULL && strcmp(p->output, "-") == 0;
}

static enum exit_code check_options(const struct planning *p) {
  struct tool *t = p->tool;
  bool diff = args_has(&t->args, OPT_DIFF);
  if (p->setup.in.model.n == 0) {
    return usage_error(t, STR("`stepc plan` needs --model MODEL"));
  }
  if (p->all_ranks && (args_has(&t->args, OPT_RANK) || p->output != NULL || diff)) {
    return usage_error(t, STR("--all-ranks compares the plans of all ranks; --rank, -o "
                              "and --diff are for one"));
  }
  if (diff && (to_stdout(p) || args_has(&t->args, OPT_JSON))) {
    return usage_error(t, STR("--diff prints what differs, as text: --json and -o - "
                              "print something else"));
  }
  return EXIT_OK;
}

// The older plan is read before anything is written: both may be one file.
static enum exit_code read_options(struct planning *p) {
  struct tool *t = p->tool;
  const char *diff = args_value(&t->args, OPT_DIFF);
  p->output = args_value(&t->args, OPT_PLAN_OUTPUT);
  p->all_ranks = args_has(&t->args, OPT_ALL_RANKS);
  enum exit_code code = check_options(p);
  if (code == EXIT_OK && diff != NULL) {
    p->old = plan_file_read(t, diff, &code);
  }
  if (code != EXIT_OK) {
    return code;
  }
  struct str why;
  if (p->output != NULL && !to_stdout(p) &&
      !file_can_write(t->arena, str_of(p->output), &why)) {
    say(t, "cannot write `%s`: %s", str_escape(t->arena, str_of(p->output)).p, why.p);
    return EXIT_ENVIRONMENT;
  }
  return EXIT_OK;
}

static enum exit_code compile(struct planning *p) {
  struct front *f = &p->tool->front;
  struct driver *d = &p->driver;
  const struct driver_input *in = &p->setup.in;
  return driver_parse(f, in, d) && driver_model(f, in, d) && driver_job(f, in, d) &&
                 driver_lower(f, in, d) && driver_program(f, in, d)
             ? EXIT_OK
             : job_failed(p->tool, d);
}

static struct str mesh_text(struct arena *a, const struct model *m) {
  struct buf b = buf_new(a);
  for (uint32_t i = 0; i < m->n_axes; i++) {
    buf_printf(&b, "%s%s %llu", i != 0 ? ", " : "", str_escape(a, m->axis[i].name).p,
               (unsigned long long)m->axis[i].size);
  }
  return buf_done(&b);
}

static struct plan_view view_of(const struct planning *p, const struct rt_plan *plan,
                                const struct proof *proof) {
  struct arena *a = p->tool->arena;
  const struct driver *d = &p->driver;
  struct str model = d->model->name.n != 0 ? d->model->name : d->model->path;
  return (struct plan_view){
      .plan = plan,
      .title = str_fmt(a, "%.*s on %s", STR_FMT(d->job->name), str_escape(a, model).p),
      .mesh = mesh_text(a, d->model),
      .proof = proof};
}

// The report stands alone on standard output, but for a plan that goes there.
static void print_report(const struct planning *p, const struct rt_plan *plan,
                         const struct proof *proof) {
  struct tool *t = p->tool;
  struct plan_view v = view_of(p, plan, proof);
  struct str text = args_has(&t->args, OPT_JSON) ? plan_report_json(t->arena, &v)
                                                 : plan_report_text(t->arena, &v);
  if (to_stdout(p)) {
    (void)fwrite(text.p, 1, text.n, stderr);
  } else {
    out_str(t, text);
  }
}

static enum exit_code write_plan(const struct planning *p, const struct rt_plan *plan) {
  struct tool *t = p->tool;
  struct str text = plan_file_text(t, plan), why;
  if (text.n == 0) {
    return EXIT_ENVIRONMENT;
  }
  if (to_stdout(p)) {
    out_str(t, text);
    return EXIT_OK;
  }
  if (!file_replace(t->arena, str_of(p->output), text, &why)) {
    say(t, "cannot write `%s`: %s", str_escape(t->arena, str_of(p->output)).p, why.p);
    return EXIT_ENVIRONMENT;
  }
  return EXIT_OK;
}

static enum exit_code print_diff(const struct planning *p, const struct rt_plan *plan) {
  struct str text = plan_diff(p->tool->arena, p->old, plan);
  out_str(p->tool, text);
  return text.n != 0 ? EXIT_INPUT : EXIT_OK;
}

// A plan that fails its proof is never written, and never our caller's fault.
static enum exit_code proven(const struct planning *p, const struct proof *proof) {
  return proof->n_faults == 0
             ? EXIT_OK
             : internal_error(p->tool,
                              str_fmt(p->tool->arena, "the plan fails its proof: %.*s",
                                      STR_FMT(proof->fault[0].text)));
}

// Before anything is printed or written.
static enum exit_code settled(struct planning *p) {
  enum exit_code code = report(p->tool);
  return code == EXIT_OK ? job_finish_passes(p->tool, &p->setup, &p->driver) : code;
}

static enum exit_code plan_one(struct planning *p) {
  struct tool *t = p->tool;
  if (!driver_plan(&t->front, &p->setup.in, &p->driver)) {
    return job_failed(t, &p->driver);
  }
  enum exit_code code = settled(p);
  if (code != EXIT_OK) {
    return code;
  }
  const struct rt_plan *plan = p->driver.plan;
  const struct proof *proof = plan_prove(t->arena, &plan, 1);
  if (p->old == NULL) {
    print_report(p, plan, proof);
  }
  code = proven(p, proof);
  if (code == EXIT_OK && p->output != NULL) {
    code = write_plan(p, plan);
  }
  if (code == EXIT_OK && p->old != NULL) {
    code = print_diff(p, plan);
  }
  return code;
}

static enum exit_code plan_all(struct planning *p) {
  struct tool *t = p->tool;
  uint32_t world = (uint32_t)p->driver.model->world;
  const struct rt_plan **plan = ARENA_ARRAY(t->arena, const struct rt_plan *, world);
  for (uint32_t r = 0; r < world; r++) {
    p->setup.in.plan.rank = r;
    if (!driver_plan(&t->front, &p->setup.in, &p->driver)) {
      enum exit_code failed = job_failed(t, &p->driver);
      say(t, "that is of the plan of rank %u", r);
      return failed;
    }
    plan[r] = p->driver.plan;
  }
  enum exit_code code = settled(p);
  if (code != EXIT_OK) {
    return code;
  }
  const struct proof *proof = plan_prove(t->arena, plan, world);
  struct plan_view v = view_of(p, plan[0], proof);
  out_str(t, args_has(&t->args, OPT_JSON) ? plan_ranks_json(t->arena, &v, plan, world)
                                          : plan_ranks_text(t->arena, &v, plan, world));
  return proven(p, proof);
}

enum exit_code cmd_plan(struct tool *t) {
  struct planning p = {.tool = t};
  enum exit_code code = job_setup(t, &p.setup);
  if (code == EXIT_OK) {
    code = read_options(&p);
  }
  if (code == EXIT_OK) {
    code = compile(&p);
  }
  if (code == EXIT_OK) {
    code = p.all_ranks ? plan_all(&p) : plan_one(&p);
  }
  rt_plan_free(p.old);
  driver_free(&p.driver);
  return code;
}
