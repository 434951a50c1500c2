// stepc run: optimizer steps on real or seeded data.
#include "base/clock.h"
#include "tool/copy.h"
#include "tool/file.h"
#include "tool/job.h"
#include "tool/plan_file.h"
#include "tool/progress.h"
#include "tool/run_plan.h"
#include "tool/run_report.h"
#include "tool/tensors.h"

#include "core/team.h"

struct run {
  struct tool *tool;
  struct job_setup setup;
  struct driver driver;
  struct session session;
  struct session_source source;
  struct data_set *params, **grads;
  struct rt_plan *plan; // of --plan; NULL: made here
  uint64_t steps, threads;
  const char *out_params, *out_state;
  struct run_numbers numbers;
};

// Outputs are looked at before any work: nothing is computed that cannot be kept.
static enum exit_code check_output(struct tool *t, const char *path) {
  struct str why;
  if (path == NULL || file_can_write(t->arena, str_of(path), &why)) {
    return EXIT_OK;
  }
  say(t, "cannot write `%s`: %s", str_escape(t->arena, str_of(path)).p, why.p);
  return EXIT_ENVIRONMENT;
}

static enum exit_code check_outputs(struct tool *t) {
  static const enum option_id ids[] = {OPT_OUT_PARAMS, OPT_OUT_STATE, OPT_TRACE};
  enum { N = sizeof ids / sizeof *ids };
  const char *path[N];
  enum exit_code code = EXIT_OK;
  for (int i = 0; i < N && code == EXIT_OK; i++) {
    path[i] = args_value(&t->args, ids[i]);
    for (int k = 0; k < i; k++) {
      if (path[i] != NULL && path[k] != NULL &&
          file_is_same(t->arena, path[i], path[k])) {
        return usage_error(t,
                           str_fmt(t->arena, "--%s and --%s name one file",
                                   option_info(ids[k])->name, option_info(ids[i])->name));
      }
    }
    code = check_output(t, path[i]);
  }
  return code;
}

static enum exit_code read_options(struct run *r) {
  struct tool *t = r->tool;
  uint32_t n_grads = 0;
  for (uint32_t i = 0; i < t->args.given.n; i++) {
    n_grads += t->args.given.v[i].option == OPT_GRADS;
  }
  r->source.n_grads = n_grads;
  r->steps = n_grads != 0 ? n_grads : 10;
  if (!option_u64(t, OPT_STEPS, 1, 1u << 20, &r->steps) ||
      !option_u64(t, OPT_THREADS, 1, RT_MAX_THREADS, &r->threads) ||
      !option_u64(t, OPT_SEED, 0, UINT64_MAX, &r->source.seed)) {
    return EXIT_USAGE;
  }
  const char *params = args_value(&t->args, OPT_PARAMS);
  if (r->setup.in.model.n == 0 && params == NULL) {
    return usage_error(t, STR("`stepc run` needs --model MODEL or --params FILE"));
  }
  if (r->setup.in.model.n == 0) {
    r->setup.in.model = str_of(params);
  }
  r->source.trace = args_has(&t->args, OPT_TRACE) || r->setup.in.names_cuda; // for times
  r->out_params = args_value(&t->args, OPT_OUT_PARAMS);
  r->out_state = args_value(&t->args, OPT_OUT_STATE);
  enum exit_code code = run_plan_options(t);
  return code == EXIT_OK ? check_outputs(t) : code;
}

static bool open_data(struct run *r) {
  struct front *f = &r->tool->front;
  struct model *m = r->driver.model;
  const char *params = args_value(&r->tool->args, OPT_PARAMS);
  if (params != NULL) {
    r->params = data_open(f, m, str_of(params), DATA_PARAMS);
    r->source.params = r->params;
  }
  r->grads = ARENA_ARRAY(f->arena, struct data_set *, r->source.n_grads);
  for (uint32_t i = 0, n = 0; i < r->tool->args.given.n; i++) {
    const struct given *g = &r->tool->args.given.v[i];
    if (g->option == OPT_GRADS) {
      r->grads[n++] = data_open(f, m, str_of(g->value), DATA_GRADS);
    }
  }
  r->source.grads = (const struct data_set *const *)r->grads;
  return f->diags->n_errors == 0;
}

// What the back end chose where the spec leaves the choice.
static void print_notes(const struct run *r) {
  const struct driver *d = &r->driver;
  for (uint32_t i = 0; i < d->n_notes && !r->source.quiet; i++) {
    (void)fprintf(stderr, "note: %.*s\n", STR_FMT(d->note[i]));
  }
}

// What the CUDA back end notes is what it falls back to.
static enum exit_code strict(const struct run *r) {
  if (!args_has(&r->tool->args, OPT_STRICT) || !r->setup.in.names_cuda ||
      r->driver.n_notes == 0) {
    return EXIT_OK;
  }
  print_notes(r);
  say(r->tool, "--strict: the notes above are errors");
  return EXIT_INPUT;
}

static enum exit_code compile(struct run *r) {
  struct front *f = &r->tool->front;
  struct driver *d = &r->driver;
  const struct driver_input *in = &r->setup.in;
  if (!driver_parse(f, in, d) || !driver_model(f, in, d)) {
    return job_failed(r->tool, d);
  }
  enum exit_code code = run_plan_world(r->tool, d->model);
  if (code != EXIT_OK) {
    return code;
  }
  if (!open_data(r) || !driver_job(f, in, d) || !driver_lower(f, in, d) ||
      !driver_compile(f, in, d)) {
    return job_failed(r->tool, d);
  }
  code = report(r->tool);
  if (code == EXIT_OK) {
    code = strict(r);
  }
  if (code == EXIT_OK) {
    code = run_plan_read(r->tool, d, &r->plan);
  }
  if (code == EXIT_OK) {
    code = job_finish_passes(r->tool, &r->setup, d);
  }
  if (code == EXIT_OK && (r->out_state != NULL || args_has(&r->tool->args, OPT_DIGEST)) &&
      session_names_collide(r->tool, d->job)) {
    code = EXIT_INPUT;
  }
  return code;
}

static enum exit_code run_steps(struct run *r) {
  struct run_numbers *n = &r->numbers;
  n->seconds = ARENA_ARRAY(r->tool->arena, double, r->steps);
  n->map = ARENA_ARRAY(r->tool->arena, double, r->steps);
  n->matrix = ARENA_ARRAY(r->tool->arena, double, r->steps);
  struct progress bar = progress_begin(r->steps);
  enum exit_code code = EXIT_OK;
  for (uint64_t i = 0; i < r->steps && code == EXIT_OK; i++) {
    progress_show(&bar, i);
    struct steprt_report report;
    code = session_load_grads(&r->session);
    if (code == EXIT_OK) {
      code = session_step(&r->session, &report);
    }
    if (code == EXIT_OK) {
      n->seconds[i] = report.seconds;
      n->map[i] = report.map_seconds;
      n->matrix[i] = report.matrix_seconds;
      n->bytes = report.bytes_moved;
      n->grad_norm = report.grad_norm;
      n->clip_factor = report.clip_factor;
      n->skipped += report.skipped != 0;
      n->steps = i + 1;
    }
  }
  progress_end(&bar);
  return code;
}

static enum exit_code write_results(struct run *r) {
  struct tensors all;
  enum exit_code code = EXIT_OK;
  if (r->out_params != NULL) {
    code = session_tensors(&r->session, true, false, &all);
    code = code == EXIT_OK ? tensors_write(r->tool, &all, r->out_params) : code;
  }
  if (r->out_state != NULL && code == EXIT_OK) {
    code = session_tensors(&r->session, false, true, &all);
    code = code == EXIT_OK ? tensors_write(r->tool, &all, r->out_state) : code;
  }
  return code != EXIT_OK ? code : run_trace_write(r->tool, r->session.rt, r->driver.plan);
}

// Digests stand alone on standard output, so that two runs can be compared as they are; the tables then are messages.
static enum exit_code print_results(struct run *r) {
  struct tool *t = r->tool;
  struct run_numbers *n = &r->numbers;
  n->copy = r->session.on_gpu ? 0 : copy_seconds(r->session.team, n->bytes);
  struct str target = job_target_name(t->arena, &r->setup.in, r->driver.step);
  struct str digests = STR("");
  enum exit_code code =
      args_has(&t->args, OPT_DIGEST) ? digest_text(&r->session, &digests) : EXIT_OK;
  if (code != EXIT_OK) {
    return code;
  }
  if (args_has(&t->args, OPT_JSON)) {
    out_str(t, run_json(t->arena, &r->driver, target, n, digests));
    return EXIT_OK;
  }
  out_str(t, digests);
  struct str rules = run_rules_text(t->arena, &r->driver, target, n->threads);
  struct str times = run_times_text(t->arena, n, r->driver.step->clips);
  struct steprt_counters counters = {.size = sizeof counters};
  (void)steprt_counters(r->session.rt, &counters);
  struct str streams = run_plan_text(t->arena, r->driver.plan);
  struct str silence = run_counters_text(t->arena, &counters);
  struct str tables = str_fmt(t->arena, "%s\n%s%.*s%.*s", rules.p, times.p,
                              STR_FMT(streams), STR_FMT(silence));
  if (args_has(&t->args, OPT_DIGEST)) {
    (void)fputs(tables.p, stderr);
  } else {
    out_str(t, tables);
  }
  return EXIT_OK;
}

static enum exit_code step_and_report(struct run *r) {
  enum exit_code code = session_open(&r->session, r->tool, r->driver.job, r->driver.step,
                                     &r->source, (uint32_t)r->threads);
  if (code != EXIT_OK) {
    return code;
  }
  print_notes(r);
  r->numbers.threads = rt_team_size(r->session.team);
  code = session_strict(&r->session);
  if (code == EXIT_OK) {
    code = run_steps(r);
  }
  if (code == EXIT_OK) {
    code = write_results(r);
  }
  return code == EXIT_OK ? print_results(r) : code;
}

enum exit_code cmd_run(struct tool *t) {
  struct run r = {.tool = t};
  enum exit_code code = job_setup(t, &r.setup);
  if (code == EXIT_OK) {
    code = read_options(&r);
  }
  if (code == EXIT_OK) {
    code = compile(&r);
  }
  if (code == EXIT_OK) {
    code = step_and_report(&r);
  }
  session_close(&r.session);
  driver_free(&r.driver);
  rt_plan_free(r.plan);
  data_close(r.params);
  for (uint32_t i = 0; r.grads != NULL && i < r.source.n_grads; i++) {
    data_close(r.grads[i]);
  }
  return code;
}
