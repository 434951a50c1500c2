// From options to a compiled job.
#include "tool/job.h"
#include "tool/devices.h"
#include "tool/plan_options.h"

#include <string.h>

static const struct setting *settings(struct tool *t, enum option_id o, uint32_t *n) {
  VEC(struct setting) all = {0};
  for (uint32_t i = 0; i < t->args.given.n; i++) {
    if (t->args.given.v[i].option == o) {
      struct setting s = {str_of(t->args.given.v[i].value)};
      VEC_PUSH(t->arena, all, s);
    }
  }
  *n = all.n;
  return all.v;
}

// What runs steps takes the GPU where there is one.
static enum exit_code default_target(struct tool *t, struct driver_input *in) {
  bool has_device = false;
  if (t->args.command != CMD_RUN && t->args.command != CMD_BENCH) {
    return EXIT_OK;
  }
  in->arch = usable_arch(t->arena, &has_device);
  in->names_cuda = in->arch.n != 0;
  if (!has_device || in->names_cuda) {
    return EXIT_OK;
  }
  const char *why = "there is a CUDA device, but no NVRTC to compile for it; `stepc "
                    "doctor` says why";
  if (args_has(&t->args, OPT_STRICT)) {
    say(t, "--strict: %s", why);
    return EXIT_ENVIRONMENT;
  }
  (void)fprintf(stderr, "note: on the CPU: %s\n", why);
  return EXIT_OK;
}

static enum exit_code target(struct tool *t, struct driver_input *in) {
  const char *text = args_value(&t->args, OPT_TARGET);
  struct str why;
  if (text == NULL) {
    return default_target(t, in);
  }
  if (!driver_read_target(t->arena, str_of(text), in, &why)) {
    return usage_error(t, why);
  }
  if (in->names_cuda && t->args.command == CMD_VERIFY) {
    return usage_error(t, STR("`stepc verify` starts from the CPU and compares the GPU "
                              "with it where there is one; leave --target cuda out"));
  }
  return EXIT_OK;
}

static struct pass_time *pass_entry(struct job_setup *s, const char *name) {
  for (uint32_t i = 0; i < s->passes.n; i++) {
    if (str_is(s->passes.v[i].name, name)) {
      return &s->passes.v[i];
    }
  }
  struct pass_time fresh = {.name = str_copy(s->tool->arena, str_of(name))};
  VEC_PUSH(s->tool->arena, s->passes, fresh);
  return &s->passes.v[s->passes.n - 1];
}

static void after_pass(void *ctx, const char *pass, const struct ir *ir, bool changed,
                       double seconds) {
  struct job_setup *s = ctx;
  struct pass_time *p = pass_entry(s, pass);
  p->seconds += seconds;
  p->runs++;
  p->changes += changed;
  bool all = s->print_after != NULL && strcmp(s->print_after, "all") == 0;
  if (all || (s->print_after != NULL && strcmp(s->print_after, pass) == 0)) {
    s->print_matched = true;
    struct str text = changed || !all ? ir_print(s->tool->arena, ir) : STR("");
    (void)fprintf(stderr, "# %.*s after %s%s\n%.*s", STR_FMT(ir->name), pass,
                  changed ? "" : " (unchanged)", STR_FMT(text));
  }
}

enum exit_code job_setup(struct tool *t, struct job_setup *s) {
  *s =
      (struct job_setup){.tool = t, .print_after = args_value(&t->args, OPT_PRINT_AFTER)};
  const char *model = args_value(&t->args, OPT_MODEL);
  s->in.spec = t->args.n_operands > 0 ? str_of(t->args.operand[0]) : STR("");
  s->in.model = model != NULL ? str_of(model) : STR("");
  s->in.define = settings(t, OPT_DEFINE, &s->in.n_defines);
  s->in.set = settings(t, OPT_SET, &s->in.n_sets);
  s->in.log = (struct pass_log){after_pass, s};
  enum exit_code code = plan_options_read(t, &s->in.plan);
  return code != EXIT_OK ? code : target(t, &s->in);
}

struct str job_target_name(struct arena *a, const struct driver_input *in,
                           const struct steprt_program *program) {
  bool native = in->cpu.n == 0 || str_is(in->cpu, "native");
  return in->names_cuda
             ? str_of(program->target)
             : str_fmt(a, "cpu:%s", native ? cpu_host_name(a).p : str_cstr(a, in->cpu));
}

enum exit_code job_failed(struct tool *t, const struct driver *d) {
  enum exit_code code = report(t);
  return d->ice.n != 0     ? internal_error(t, d->ice)
         : code == EXIT_OK ? internal_error(t, STR("a stage failed without a message"))
                           : code;
}

static void print_times(const struct job_setup *s, const struct driver *d) {
  const struct driver_times *x = &d->times;
  (void)fprintf(stderr, "%-10s %10s  %s\n", "stage", "ms", "changed");
  (void)fprintf(stderr, "%-10s %10.3f\n%-10s %10.3f\n%-10s %10.3f\n", "parse",
                x->parse * 1e3, "model", x->model * 1e3, "sema", x->sema * 1e3);
  for (uint32_t i = 0; i < s->passes.n; i++) {
    const struct pass_time *p = &s->passes.v[i];
    (void)fprintf(stderr, "  %-8.*s %10.3f  %u of %u\n", STR_FMT(p->name),
                  p->seconds * 1e3, p->changes, p->runs);
  }
  (void)fprintf(stderr, "%-10s %10.3f\n", "lower", x->lower * 1e3);
  if (x->compile > 0) {
    (void)fprintf(stderr, "%-10s %10.3f\n", "llvm", x->compile * 1e3);
  }
  if (x->plan > 0) {
    (void)fprintf(stderr, "%-10s %10.3f\n", "plan", x->plan * 1e3);
  }
}

enum exit_code job_finish_passes(struct tool *t, struct job_setup *s,
                                 const struct driver *d) {
  if (args_has(&t->args, OPT_TIME_PASSES)) {
    print_times(s, d);
  }
  if (s->print_after == NULL || s->print_matched || strcmp(s->print_after, "all") == 0) {
    return EXIT_OK;
  }
  struct buf names = buf_new(t->arena);
  for (uint32_t i = 0; i < s->passes.n; i++) {
    buf_printf(&names, "%s%.*s", i != 0 ? ", " : "", STR_FMT(s->passes.v[i].name));
  }
  return usage_error(t, str_fmt(t->arena, "no pass `%s`; the passes are %s",
                                str_escape(t->arena, str_of(s->print_after)).p,
                                buf_done(&names).p));
}
