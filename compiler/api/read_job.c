// From the caller's job to the driver's input.
#include "api/program.h"

#include "core/handle.h" // rt_read_versioned: one rule for versioned structs in both libraries

#include <string.h>

// A text of the caller; empty where it is NULL.
static struct str copy(struct arena *a, const char *text) {
  return text == NULL ? STR("") : str_copy(a, str_of(text));
}

static const struct setting *copy_settings(struct arena *a, const char *const *text,
                                           uint32_t n) {
  struct setting *s = ARENA_ARRAY(a, struct setting, n);
  for (uint32_t i = 0; i < n; i++) {
    s[i].text = copy(a, text[i]);
  }
  return s;
}

static bool copy_param(struct arena *a, const struct stepc_param *p,
                       struct model_tensor *t) {
  if (p->name == NULL || (p->rank != 0 && p->dim == NULL)) {
    return false;
  }
  *t = (struct model_tensor){.name = copy(a, p->name),
                             .dtype = copy(a, p->dtype),
                             .grad = copy(a, p->grad),
                             .tied = copy(a, p->tied),
                             .rank = p->rank,
                             .frozen = p->frozen != 0};
  uint32_t kept = p->rank <= MAX_RANK ? p->rank : 0; // more are refused, with a message
  uint64_t *dim = ARENA_ARRAY(a, uint64_t, kept);
  for (uint32_t i = 0; i < kept; i++) {
    dim[i] = p->dim[i];
  }
  t->dim = dim;
  return true;
}

// The elements lie as far apart as the caller's struct is large.
static bool read_params(struct compiled *p, const struct stepc_job *job,
                        struct str *why) {
  struct arena *a = p->arena;
  struct model_tensor *t = ARENA_ARRAY(a, struct model_tensor, job->n_params);
  const char *at = (const char *)job->params;
  for (uint32_t i = 0; i < job->n_params; i++) {
    struct stepc_param param;
    if (!rt_read_versioned(&param, sizeof param, at) || param.size != job->params->size) {
      *why = str_fmt(a,
                     "job.params[%u] has a size, or a field, that this library does not "
                     "know",
                     i);
      return false;
    }
    if (!copy_param(a, &param, &t[i])) {
      *why = str_fmt(a, "job.params[%u] has no name or no dimensions", i);
      return false;
    }
    at += job->params->size;
  }
  p->input.tensor = t;
  p->input.n_tensors = job->n_params;
  return true;
}

static bool read_model(struct compiled *p, const struct stepc_job *job, struct str *why) {
  if ((job->model == NULL) == (job->params == NULL) ||
      (job->params == NULL) != (job->n_params == 0)) {
    *why = STR("a job has a model or a list of parameters, and one of the two");
    return false;
  }
  if (job->params != NULL) {
    return read_params(p, job, why);
  }
  if (job->model[strspn(job->model, " \t\r\n")] == '{') {
    p->input.model = STR("model");
    p->input.model_text = copy(p->arena, job->model);
  } else {
    p->input.model = copy(p->arena, job->model);
  }
  return true;
}

// ---- the spec

struct root_text {
  struct str path, text;
};

// The root from memory, its imports from disk.
static bool read_root(void *ctx, struct arena *a, struct str path, struct str *text,
                      struct str *why) {
  const struct root_text *root = ctx;
  if (str_eq(path, root->path)) {
    *text = root->text;
    return true;
  }
  struct file_reader disk = file_reader_disk();
  return disk.read(disk.ctx, a, path, text, why);
}

static bool read_spec(struct compiled *p, const struct stepc_job *job, struct str *why) {
  p->input.spec = copy(p->arena, job->spec);
  p->input.pick = copy(p->arena, job->pick);
  if (job->spec_text == NULL) {
    *why = STR("a job has a spec: its path or its text");
    return job->spec != NULL;
  }
  if (job->spec == NULL) {
    p->input.spec = STR("spec");
  }
  struct root_text *root = ARENA_NEW(p->arena, struct root_text);
  *root = (struct root_text){p->input.spec, copy(p->arena, job->spec_text)};
  p->input.reader = (struct file_reader){read_root, root};
  return true;
}

static bool read_target(struct compiled *p, const struct stepc_job *job,
                        struct str *why) {
  struct str target = copy(p->arena, job->target);
  if (job->target != NULL && !driver_read_target(p->arena, target, &p->input, why)) {
    return false;
  }
  return true;
}

bool read_job(struct compiled *p, const struct stepc_job *job, struct str *why) {
  struct stepc_job j;
  if (job == NULL || !rt_read_versioned(&j, sizeof j, job)) {
    *why = STR("a job of a size, or with a field, that this library does not know");
    return false;
  }
  if ((j.n_defines != 0 && j.defines == NULL) || (j.n_sets != 0 && j.sets == NULL)) {
    *why = STR("a job counts settings that it does not have");
    return false;
  }
  p->input.define = copy_settings(p->arena, j.defines, j.n_defines);
  p->input.set = copy_settings(p->arena, j.sets, j.n_sets);
  p->input.n_defines = j.n_defines;
  p->input.n_sets = j.n_sets;
  p->input.plan = (struct plan_options){.offload = copy(p->arena, j.offload),
                                        .chunk_bytes = j.chunk_bytes,
                                        .slots = j.slots,
                                        .overlap = j.overlap != 0,
                                        .gpu_memory = j.gpu_memory,
                                        .host_memory = j.host_memory,
                                        .rank = j.rank};
  return read_target(p, &j, why) && read_spec(p, &j, why) && read_model(p, &j, why);
}
