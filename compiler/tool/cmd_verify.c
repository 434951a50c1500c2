// stepc verify: the laws, proved on this machine for this job.
#include "tool/run_plan.h"
#include "tool/table.h"
#include "tool/verify.h"

#include "core/team.h"

struct law {
  const char *name;
  enum exit_code (*prove)(struct verify *v, struct verdict *out);
};
static const struct law laws[] = {
    {"any number of threads", verify_threads},
    {"any chunks, slots and tier", verify_chunks},
    {"any CPU", verify_targets},
    {"CPU and GPU", verify_gpu},
    {"any cut", verify_cuts},
    {"schedule proof", verify_plans},
    {"within rounding", verify_bound},
};
enum { N_LAWS = sizeof laws / sizeof *laws };

static enum exit_code read_options(struct verify *v, uint64_t *elements) {
  struct tool *t = v->tool;
  uint64_t threads = 0;
  if (!option_u64(t, OPT_ELEMENTS, 1, UINT64_MAX, elements) ||
      !option_u64(t, OPT_THREADS, 1, RT_MAX_THREADS, &threads) ||
      !option_u64(t, OPT_SEED, 0, UINT64_MAX, &v->source.seed)) {
    return EXIT_USAGE;
  }
  if (v->setup.in.model.n == 0) {
    return usage_error(t, STR("`stepc verify` needs --model MODEL"));
  }
  struct rt_team *team = NULL;
  if (rt_team_new(0, &team) != STEPRT_OK) {
    say(t, "cannot start threads");
    return EXIT_ENVIRONMENT;
  }
  // One more than the cores by default: threads that share a core meet in other orders.
  v->threads = threads != 0 ? (uint32_t)threads : rt_team_size(team) + 1;
  rt_team_free(team);
  return EXIT_OK;
}

// Compiles for the whole model to learn its rules, then for the sample.
static enum exit_code compile(struct verify *v, uint64_t elements) {
  struct front *f = &v->tool->front;
  struct driver *d = &v->driver;
  const struct driver_input *in = &v->setup.in;
  if (!driver_parse(f, in, d) || !driver_model(f, in, d)) {
    return job_failed(v->tool, d);
  }
  enum exit_code code = run_plan_world(v->tool, d->model);
  if (code != EXIT_OK) {
    return code;
  }
  if (!driver_job(f, in, d)) {
    return job_failed(v->tool, d);
  }
  struct str left_out;
  d->model = verify_sample(f->arena, d->job, elements, &left_out);
  if (!driver_job(f, in, d) || !driver_lower(f, in, d) || !driver_compile(f, in, d)) {
    return job_failed(v->tool, d);
  }
  if (left_out.n != 0) {
    (void)fprintf(stderr, "note: %s\n", left_out.p);
  }
  code = report(v->tool);
  return code != EXIT_OK ? code : job_finish_passes(v->tool, &v->setup, d);
}

static const char *word(const struct verdict *x) {
  return x->skipped ? "skipped" : x->held ? "holds" : "BROKEN";
}

static void print_text(struct tool *t, const struct verdict *x) {
  struct table table = {.arena = t->arena, .columns = "llll"};
  for (int i = 0; i < N_LAWS; i++) {
    TABLE_ROW(&table, str_of(laws[i].name), str_of(word(&x[i])), x[i].result, x[i].tried);
  }
  out_str(t, table_text(&table));
}

static void print_json(struct tool *t, const struct verdict *x) {
  struct buf b = buf_new(t->arena);
  buf_puts(&b, "[\n");
  for (int i = 0; i < N_LAWS; i++) {
    buf_printf(&b, "  {\"law\": \"%s\", \"verdict\": \"%s\", \"tried\": ", laws[i].name,
               x[i].skipped ? "skipped"
               : x[i].held  ? "holds"
                            : "broken");
    buf_json(&b, x[i].tried);
    buf_puts(&b, ", \"result\": ");
    buf_json(&b, x[i].result);
    buf_puts(&b, i + 1 < N_LAWS ? "},\n" : "}\n]\n");
  }
  out_str(t, buf_done(&b));
}

enum exit_code cmd_verify(struct tool *t) {
  struct verify v = {.tool = t, .source.quiet = true};
  struct verdict verdicts[N_LAWS] = {0};
  uint64_t elements = 4 << 20;
  bool held = true;
  enum exit_code code = job_setup(t, &v.setup);
  if (code == EXIT_OK) {
    code = read_options(&v, &elements);
  }
  if (code == EXIT_OK) {
    code = compile(&v, elements);
  }
  for (int i = 0; i < N_LAWS && code == EXIT_OK; i++) {
    code = laws[i].prove(&v, &verdicts[i]);
    held = held && verdicts[i].held;
  }
  if (code == EXIT_OK) {
    args_has(&t->args, OPT_JSON) ? print_json(t, verdicts) : print_text(t, verdicts);
    code = held ? EXIT_OK : EXIT_INPUT;
  }
  driver_free(&v.driver);
  return code;
}
