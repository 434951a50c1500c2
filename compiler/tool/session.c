// A compiled job with its data in memory.
#include "tool/session_data.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

uint64_t memory_available(void) {
  FILE *f = fopen("/proc/meminfo", "re");
  uint64_t kb = 0;
  char line[128];
  while (f != NULL && kb == 0 && fgets(line, sizeof line, f) != NULL) {
    if (strncmp(line, "MemAvailable:", 13) == 0) {
      kb = strtoull(line + 13, NULL, 10);
    }
  }
  if (f != NULL) {
    (void)fclose(f);
  }
  return kb << 10;
}

static void log_note(void *ctx, int level, const char *text) {
  struct session *s = ctx;
  bool warns = level >= STEPRT_WARN;
  s->warnings += warns;
  if (warns || !s->source.quiet) {
    (void)fprintf(stderr, "%s: %s\n", warns ? "warning" : "note", text);
  }
}

enum exit_code session_failed(struct session *s, steprt_status status) {
  const char *text = s->rt != NULL ? steprt_error(s->rt) : "";
  struct str what = str_escape(s->tool->arena,
                               str_of(*text != '\0' ? text : steprt_status_text(status)));
  switch (status) {
  case STEPRT_OK: return EXIT_OK;
  case STEPRT_BAD_INPUT:
  case STEPRT_RANGE: say(s->tool, "%s", what.p); return EXIT_INPUT;
  case STEPRT_NO_MEMORY:
  case STEPRT_IO:
  case STEPRT_NO_LIBRARY: say(s->tool, "%s", what.p); return EXIT_ENVIRONMENT;
  case STEPRT_BAD_ARGUMENT:
  case STEPRT_BAD_PROGRAM:
  case STEPRT_BAD_STATE:
  case STEPRT_FAILED: break;
  }
  return internal_error(s->tool, what);
}

bool program_on_gpu(const struct steprt_program *p) {
  return strncmp(p->target, "cuda", 4) == 0;
}

// What the runtime takes of this machine's memory.
static uint64_t runtime_bytes(const struct session *s) {
  const struct rt_plan *plan = s->program->plan;
  return plan->host_bytes +
         (s->on_gpu ? 0 : plan->arena_bytes + plan->state_bytes + plan->step_bytes);
}

// Refused before it is tried: an overcommitted machine kills instead of refusing.
static bool fits_memory(struct session *s, uint64_t need) {
  uint64_t have = memory_available();
  if (have == 0 || need <= have) {
    return true;
  }
  say(s->tool, "this job needs %.1f GB of memory for %s; %.1f GB are available",
      (double)need * 1e-9,
      s->on_gpu || s->is_guest ? "states and staging"
                               : "parameters, gradients and states",
      (double)have * 1e-9);
  return false;
}

static enum exit_code open_runtime(struct session *s) {
  const struct rt_configuration *c = &s->program->plan->configuration;
  struct steprt_options o = {.size = sizeof o,
                             .threads = s->threads,
                             .log = log_note,
                             .log_ctx = s,
                             .trace = s->source.trace,
                             .gpu_memory = c->gpu_memory,
                             .host_memory = c->host_memory};
  double start = clock_now();
  steprt_status status = steprt_open(s->program, &o, &s->rt);
  s->open_seconds = clock_now() - start;
  if (status == STEPRT_OK) {
    start = clock_now();
    status = steprt_bind(s->rt, s->param);
    s->bind_seconds = clock_now() - start;
  }
  return session_failed(s, status);
}

static enum exit_code open_tensors(struct session *s, uint64_t beside) {
  session_data_layout(s);
  if (!fits_memory(s, session_data_bytes(s) + beside)) {
    return EXIT_ENVIRONMENT;
  }
  if (rt_team_new(s->threads, &s->team) != STEPRT_OK) {
    say(s->tool, "out of memory");
    return EXIT_ENVIRONMENT;
  }
  enum exit_code code = session_data_open(s);
  return code == EXIT_OK ? session_load_params(s) : code;
}

static struct session session_new(struct tool *t, const struct job *job,
                                  const struct steprt_program *program,
                                  const struct session_source *source, uint32_t threads) {
  return (struct session){.tool = t,
                          .job = job,
                          .model = job->model,
                          .program = program,
                          .source = *source,
                          .threads = threads,
                          .on_gpu = program_on_gpu(program)};
}

static enum exit_code close_failed(struct session *s, enum exit_code code) {
  if (code != EXIT_OK) {
    session_close(s);
  }
  return code;
}

enum exit_code session_open(struct session *s, struct tool *t, const struct job *job,
                            const struct steprt_program *program,
                            const struct session_source *source, uint32_t threads) {
  *s = session_new(t, job, program, source, threads);
  enum exit_code code = open_tensors(s, runtime_bytes(s));
  return close_failed(s, code == EXIT_OK ? open_runtime(s) : code);
}

enum exit_code session_open_tensors(struct session *s, struct tool *t,
                                    const struct job *job,
                                    const struct steprt_program *program,
                                    const struct session_source *source,
                                    uint32_t threads) {
  *s = session_new(t, job, program, source, threads);
  return close_failed(s, open_tensors(s, 0));
}

enum exit_code session_open_beside(struct session *s, const struct session *owner,
                                   const struct steprt_program *program, bool trace) {
  *s = *owner;
  s->program = program;
  s->source.trace = trace;
  s->is_guest = true;
  s->rt = NULL;
  s->step = 0;
  enum exit_code code =
      fits_memory(s, runtime_bytes(s)) ? open_runtime(s) : EXIT_ENVIRONMENT;
  return close_failed(s, code);
}

enum exit_code session_strict(const struct session *s) {
  if (s->warnings == 0 || !args_has(&s->tool->args, OPT_STRICT)) {
    return EXIT_OK;
  }
  say(s->tool, "--strict: the warnings above are errors");
  return EXIT_INPUT;
}

void session_close(struct session *s) {
  steprt_destroy(s->rt);
  if (!s->is_guest) {
    rt_team_free(s->team);
    session_data_close(s);
  }
  *s = (struct session){0};
}

enum exit_code session_step(struct session *s, struct steprt_report *r) {
  struct steprt_step step = {.size = sizeof step, .grads = (const void *const *)s->grad};
  double start = clock_now();
  steprt_status status = steprt_begin(s->rt, &step);
  if (status == STEPRT_OK) {
    status = steprt_run(s->rt, NULL);
  }
  if (status == STEPRT_OK) {
    status = steprt_end(s->rt);
  }
  s->host_seconds = clock_now() - start;
  if (status == STEPRT_OK) {
    status = steprt_wait_all(s->rt);
  }
  s->step_seconds = clock_now() - start;
  if (status == STEPRT_OK && r != NULL) {
    *r = (struct steprt_report){.size = sizeof *r};
    status = steprt_report(s->rt, r);
  }
  s->step += status == STEPRT_OK;
  return session_failed(s, status);
}

const void *session_state(struct session *s, uint32_t param, struct str name) {
  const char *text = str_cstr(s->tool->arena, name);
  uint64_t bytes = 0;
  const void *at = steprt_state(s->rt, param, text, &bytes);
  if (at != NULL || bytes == 0) {
    return at;
  }
  void *copy = arena_alloc(s->tool->arena, bytes, 64); // it lies on a GPU
  return steprt_state_get(s->rt, param, text, copy, bytes) == STEPRT_OK ? copy : NULL;
}
