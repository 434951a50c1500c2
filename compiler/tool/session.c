// A compiled job with its data in memory.
#include "tool/session_gpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool has_values(const struct model_param *p) {
  return p->tied_to == UINT32_MAX;
}

static bool has_gradient(const struct model_param *p) {
  return has_values(p) && !p->frozen;
}

uint64_t param_bytes(const struct model_param *p) {
  return has_values(p) ? shape_numel(&p->shape) * storage_bytes(p->dtype) : 0;
}

uint64_t grad_bytes(const struct model_param *p) {
  return has_gradient(p) ? shape_numel(&p->shape) * storage_bytes(p->grad) : 0;
}

uint64_t session_bytes(const struct model *m, const struct rt_plan *plan) {
  bool gpu = strncmp(plan->configuration.target, "cuda", 4) == 0;
  uint64_t bytes = plan->host_bytes;
  bytes += gpu ? 0 : plan->arena_bytes + plan->state_bytes + plan->step_bytes;
  for (uint32_t i = 0; i < m->n_params; i++) {
    bytes += param_bytes(&m->param[i]) + grad_bytes(&m->param[i]);
  }
  return bytes;
}

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

// Large tensors start at a huge page: the kernels then meet few TLB misses.
static void *tensor_new(uint64_t bytes) {
  enum { HUGE_PAGE = 2 << 20 };
  size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
  void *p = NULL;
  if (bytes > SIZE_MAX - align ||
      posix_memalign(&p, align, bytes != 0 ? bytes : 1) != 0) {
    return NULL;
  }
  if (align == HUGE_PAGE) {
    (void)madvise(p, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); // advice only
  }
  return p;
}

static bool allocate(struct session *s) {
  const struct model *m = s->model;
  for (uint32_t i = 0; i < m->n_params; i++) {
    const struct model_param *p = &m->param[i];
    if (has_values(p)) {
      s->param[i] = tensor_new(param_bytes(p));
    }
    if (has_gradient(p)) {
      s->grad[i] = tensor_new(grad_bytes(p));
    }
    if ((has_values(p) && s->param[i] == NULL) ||
        (has_gradient(p) && s->grad[i] == NULL)) {
      return false;
    }
  }
  return true;
}

static void seed_tensor(struct session *s, uint32_t i, enum data_role role, void *into) {
  const struct model_param *p = &s->model->param[i];
  struct data_key key = {.seed = s->source.seed,
                         .role = role,
                         .name = p->name,
                         .step = role == DATA_PARAMS ? 0 : s->step + 1};
  data_seed_all(s->team, &key, role == DATA_PARAMS ? p->dtype : p->grad,
                shape_numel(&p->shape), into);
}

static enum exit_code load_params(struct session *s) {
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    if (s->param[i] == NULL) {
      continue;
    }
    if (s->source.params == NULL) {
      seed_tensor(s, i, DATA_PARAMS, s->param[i]);
    } else if (!data_read(&s->tool->front, s->source.params, i, s->param[i])) {
      return report(s->tool);
    }
  }
  return EXIT_OK;
}

enum exit_code session_load_grads(struct session *s) {
  uint32_t n = s->source.n_grads, from = s->step + 1 < n ? (uint32_t)s->step + 1 : n;
  if (n != 0 && from == s->grads_read) {
    return EXIT_OK; // the last file repeats
  }
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    if (s->grad[i] == NULL) {
      continue;
    }
    if (n == 0) {
      seed_tensor(s, i, DATA_GRADS, s->grad[i]);
    } else if (!data_read(&s->tool->front, s->source.grads[from - 1], i, s->grad[i])) {
      return report(s->tool);
    }
  }
  s->grads_read = from;
  return EXIT_OK;
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

// Refused before it is tried: an overcommitted machine kills instead of refusing.
static bool fits_memory(struct session *s) {
  uint64_t need = session_bytes(s->model, s->program->plan), have = memory_available();
  if (have == 0 || need <= have) {
    return true;
  }
  say(s->tool,
      "this job needs %.1f GB of memory for parameters, gradients and states; %.1f GB "
      "are available",
      (double)need * 1e-9, (double)have * 1e-9);
  return false;
}

static enum exit_code open_runtime(struct session *s, uint32_t threads) {
  const struct rt_configuration *c = &s->program->plan->configuration;
  struct steprt_options o = {.size = sizeof o,
                             .threads = threads,
                             .log = log_note,
                             .log_ctx = s,
                             .trace = s->source.trace || s->gpu != NULL, // times
                             .gpu_memory = c->gpu_memory,
                             .host_memory = c->host_memory};
  steprt_status status = steprt_open(s->program, &o, &s->rt);
  if (status == STEPRT_OK) {
    status = steprt_bind(s->rt, s->at_param);
  }
  return session_failed(s, status);
}

enum exit_code session_open(struct session *s, struct tool *t, const struct job *job,
                            const struct steprt_program *program,
                            const struct session_source *source, uint32_t threads) {
  *s = (struct session){
      .tool = t, .job = job, .model = job->model, .program = program, .source = *source};
  s->param = ARENA_ARRAY(t->arena, void *, s->model->n_params);
  s->grad = ARENA_ARRAY(t->arena, void *, s->model->n_params);
  s->at_param = s->param;
  s->at_grad = s->grad;
  enum exit_code code = EXIT_ENVIRONMENT;
  if (!fits_memory(s)) {
    goto fail;
  }
  if (rt_team_new(threads, &s->team) != STEPRT_OK || !allocate(s)) {
    say(t, "out of memory");
    goto fail;
  }
  code = load_params(s);
  if (code == EXIT_OK && session_is_gpu(program)) {
    code = session_gpu_open(s);
  }
  if (code == EXIT_OK) {
    code = open_runtime(s, threads);
  }
  if (code == EXIT_OK) {
    return EXIT_OK;
  }
fail:
  session_close(s);
  return code;
}

void session_close(struct session *s) {
  steprt_destroy(s->rt);
  session_gpu_close(s);
  rt_team_free(s->team);
  for (uint32_t i = 0; s->param != NULL && i < s->model->n_params; i++) {
    free(s->param[i]);
    free(s->grad[i]);
  }
  *s = (struct session){0};
}

enum exit_code session_step(struct session *s, struct steprt_report *r) {
  struct steprt_step step = {.size = sizeof step,
                             .grads = (const void *const *)s->at_grad};
  enum exit_code code = s->gpu != NULL ? session_gpu_put_grads(s) : EXIT_OK;
  if (code != EXIT_OK) {
    return code;
  }
  steprt_status status = steprt_begin(s->rt, &step);
  if (status == STEPRT_OK) {
    status = steprt_run(s->rt, NULL);
  }
  if (status == STEPRT_OK) {
    status = steprt_end(s->rt);
  }
  if (status == STEPRT_OK) {
    status = steprt_wait_all(s->rt);
  }
  if (status == STEPRT_OK && r != NULL) {
    *r = (struct steprt_report){.size = sizeof *r};
    status = steprt_report(s->rt, r);
  }
  s->step += status == STEPRT_OK;
  return session_failed(s, status);
}

enum exit_code session_fetch(struct session *s) {
  return s->gpu != NULL ? session_gpu_get_params(s) : EXIT_OK;
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
