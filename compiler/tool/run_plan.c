// The plan of a run.
#include "tool/run_plan.h"

#include "plan/prove.h"
#include "tool/file.h"
#include "tool/plan_file.h"
#include "tool/plan_options.h"
#include "tool/plan_totals.h"
#include "tool/plan_words.h"
#include "tool/table.h"
#include "tool/trace.h"

#include <string.h>

enum exit_code run_plan_world(struct tool *t, const struct model *m) {
  if (m->world <= 1) {
    return EXIT_OK;
  }
  say(t,
      "the model has %llu ranks: this version runs a model of one; `stepc plan --rank R` "
      "plans the step of each",
      (unsigned long long)m->world);
  return EXIT_INPUT;
}

enum exit_code run_plan_options(struct tool *t) {
  const char *given = plan_options_given(t);
  if (!args_has(&t->args, OPT_PLAN) || given == NULL) {
    return EXIT_OK;
  }
  return usage_error(t,
                     str_fmt(t->arena, "--plan is a whole plan: --%s is in it", given));
}

// What is wrong with a plan, a line each; alike faults come in numbers, so that a few tell.
static enum exit_code say_faults(struct tool *t, const struct proof *proof,
                                 const char *name) {
  enum { MOST = 3 };
  for (uint32_t i = 0; i < proof->n_faults && i < MOST; i++) {
    say(t, "`%s` fails its proof: %.*s", name, STR_FMT(proof->fault[i].text));
  }
  if (proof->n_faults > MOST) {
    say(t, "and %u more", proof->n_faults - MOST);
  }
  return proof->n_faults != 0 ? EXIT_INPUT : EXIT_OK;
}

// A plan from outside is held against the program, then proven like one of ours.
static enum exit_code check(struct tool *t, const struct rt_plan *plan,
                            const struct steprt_program *program, const char *path) {
  char why[512];
  const char *name = str_escape(t->arena, str_of(path)).p;
  if (strcmp(plan->configuration.target, program->target) != 0) {
    say(t, "`%s` is a plan for `%s`, and this run is for `%s`: --target says what for",
        name, str_escape(t->arena, str_of(plan->configuration.target)).p,
        program->target);
    return EXIT_INPUT;
  }
  if (strcmp(plan->program_digest, program->digest) != 0) {
    say(t, "`%s` is the plan of another program: %.16s..., not %.16s...", name,
        plan->program_digest, program->digest);
    return EXIT_INPUT;
  }
  steprt_status status = rt_plan_check(plan, program, why, sizeof why);
  if (status != STEPRT_OK) {
    say(t, "`%s`: %s", name, status == STEPRT_NO_MEMORY ? "out of memory" : why);
    return status == STEPRT_NO_MEMORY ? EXIT_ENVIRONMENT : EXIT_INPUT;
  }
  return say_faults(t, plan_prove(t->arena, &plan, 1), name);
}

enum exit_code run_plan_read(struct tool *t, struct driver *d, struct rt_plan **read) {
  const char *path = args_value(&t->args, OPT_PLAN);
  *read = NULL;
  if (path == NULL) {
    return EXIT_OK;
  }
  enum exit_code code = EXIT_OK;
  *read = plan_file_read(t, path, &code);
  if (*read == NULL) {
    return code;
  }
  code = check(t, *read, d->step, path);
  if (code == EXIT_OK) {
    d->plan = *read;
    d->step->plan = *read;
  }
  return code;
}

struct str run_plan_text(struct arena *a, const struct rt_plan *p) {
  const struct plan_totals *t = plan_total(a, p);
  if (t->streamed == 0) {
    return STR("");
  }
  return str_fmt(
      a,
      "streams %s up and %s down each step, in %u chunk%s through %u slot%s of "
      "%s; the host holds %s of states\n",
      text_binary(a, (double)t->loaded).p, text_binary(a, (double)t->stored).p,
      t->streamed, plan_plural(t->streamed), p->n_slots, plan_plural(p->n_slots),
      text_binary(a, (double)p->slot_bytes).p, text_binary(a, (double)p->host_bytes).p);
}

struct str run_counters_text(struct arena *a, const struct steprt_counters *c) {
  const struct {
    const char *what;
    uint64_t n;
  } counters[] = {{"allocations", c->allocations},  {"pinned ranges", c->pins},
                  {"files opened", c->opens},       {"compilations", c->compiles},
                  {"connections", c->connects},     {"states created", c->states_created},
                  {"waits of the caller", c->waits}};
  struct buf b = buf_new(a);
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
    if (counters[i].n != 0) {
      buf_printf(&b, "%s inside steps: %llu\n", counters[i].what,
                 (unsigned long long)counters[i].n);
    }
  }
  return buf_done(&b);
}

enum exit_code run_trace_write(struct tool *t, struct steprt *rt,
                               const struct rt_plan *p) {
  const char *path = args_value(&t->args, OPT_TRACE);
  if (path == NULL) {
    return EXIT_OK;
  }
  uint64_t n = steprt_trace(rt, NULL, 0);
  struct steprt_trace_record *record =
      ARENA_ARRAY(t->arena, struct steprt_trace_record, n);
  n = steprt_trace(rt, record, n);
  struct str why, text = trace_text(t->arena, p, record, n);
  if (!file_replace(t->arena, str_of(path), text, &why)) {
    say(t, "cannot write `%s`: %s", str_escape(t->arena, str_of(path)).p, why.p);
    return EXIT_ENVIRONMENT;
  }
  return EXIT_OK;
}
