// program.json, read.
#include "plan/program_read.h"
#include "plan/program_code.h"
#include "plan/program_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program_file {
  struct steprt_program program; // first: what the caller has
  struct rt_kernel *kernel;      // program.kernel
  struct rt_pool pool;
};

static bool read_head(struct program_reader *p, const struct json *root) {
  struct steprt_program *s = p->program;
  s->version = RT_PROGRAM_VERSION;
  return rt_reader_format(&p->r, root, "stepc-program/1") &&
         rt_fields_read(
             &p->r, root, &rt_program_fields,
             "format seal digest squares clip hypers iterations kernels orthos "
             "rules params",
             s) &&
         rt_reader_digest(&p->r, root, "digest", s->digest) &&
         rt_program_read_ids(&p->r, root, "squares", s->squares,
                             sizeof s->squares / sizeof *s->squares) &&
         rt_code_read(&p->r, root, "clip", &s->clip, &s->n_clip, &s->n_clip_regs);
}

static bool read_double(struct rt_reader *r, const struct json *obj, const char *key,
                        double *out) {
  const struct json *v = json_get(obj, key);
  return v != NULL ? rt_reader_double(r, v, key, out)
                   : rt_reader_fail(r, obj, "no `%s`", key);
}

static bool read_hypers(struct program_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(&p->r, root, "hypers", sizeof *p->program->hyper, &list, &items,
                      &p->program->n_hypers)) {
    return false;
  }
  struct rt_hyper *h = items;
  for (uint32_t i = 0; i < p->program->n_hypers; i++) {
    const struct json *v = json_item(list, i);
    if (!rt_reader_item(&p->r, v, "hyper", i) ||
        !rt_fields_read(&p->r, v, &rt_hyper_fields, "hyper value bound", &h[i]) ||
        !read_double(&p->r, v, "value", &h[i].value) ||
        !rt_code_read(&p->r, v, "bound", &h[i].bound, &h[i].n_bound,
                      &h[i].n_bound_regs)) {
      return false;
    }
  }
  p->program->hyper = h;
  return true;
}

static bool read_steps(struct rt_reader *r, const struct json *obj,
                       struct rt_iteration *it) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(r, obj, "steps", sizeof *it->abc, &list, &items, &it->n_steps)) {
    return false;
  }
  double(*abc)[3] = items;
  for (uint32_t i = 0; i < it->n_steps; i++) {
    const struct json *v = json_item(list, i);
    if (json_kind(v) != JSON_ARRAY || json_size(v) != 3) {
      return rt_reader_fail(r, v, "a step is [a, b, c]");
    }
    for (uint32_t c = 0; c < 3; c++) {
      if (!rt_reader_double(r, json_item(v, c), "steps", &abc[i][c])) {
        return false;
      }
    }
  }
  it->abc = items;
  return true;
}

static bool read_iterations(struct program_reader *p, const struct json *root) {
  static const char *const norms[] = {"frobenius", "aol"};
  const struct json *list, *norm;
  void *items;
  if (!rt_reader_list(&p->r, root, "iterations", sizeof *p->program->iteration, &list,
                      &items, &p->program->n_iterations)) {
    return false;
  }
  struct rt_iteration *it = items;
  for (uint32_t i = 0; i < p->program->n_iterations; i++) {
    const struct json *v = json_item(list, i);
    if (!rt_reader_item(&p->r, v, "iteration", i) ||
        !rt_fields_read(&p->r, v, &rt_iteration_fields, "iteration norm steps", &it[i]) ||
        (norm = rt_reader_get(&p->r, v, "norm", JSON_STRING)) == NULL ||
        !rt_reader_name(&p->r, norm, "norm", norms, 2, &it[i].norm) ||
        !read_steps(&p->r, v, &it[i])) {
      return false;
    }
  }
  p->program->iteration = it;
  return true;
}

static bool read_shape(struct rt_reader *r, const struct json *obj,
                       struct rt_param *out) {
  const struct json *list = rt_reader_get(r, obj, "shape", JSON_ARRAY);
  if (list == NULL) {
    return false;
  }
  if (json_size(list) > 8) {
    return rt_reader_fail(r, list, "`shape` has more than 8 dimensions");
  }
  out->rank = json_size(list);
  out->numel = 1;
  for (uint32_t d = 0; d < out->rank; d++) {
    if (!rt_reader_u64(r, json_item(list, d), "shape", UINT64_MAX, &out->dim[d])) {
      return false;
    }
    if (__builtin_mul_overflow(out->numel, out->dim[d], &out->numel)) {
      return rt_reader_fail(r, list, "`shape` has too many elements");
    }
  }
  return true;
}

static bool read_params(struct program_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(&p->r, root, "params", sizeof *p->program->param, &list, &items,
                      &p->program->n_params)) {
    return false;
  }
  struct rt_param *param = items;
  for (uint32_t i = 0; i < p->program->n_params; i++) {
    const struct json *v = json_item(list, i);
    if (!rt_reader_item(&p->r, v, "param", i) ||
        !rt_fields_read(&p->r, v, &rt_program_param_fields, "param shape", &param[i]) ||
        !read_shape(&p->r, v, &param[i])) {
      return false;
    }
  }
  p->program->param = param;
  return true;
}

static bool check_digests(struct program_reader *p, const struct json *root) {
  char digest[65], seal[65], says[65];
  if (!rt_reader_digest(&p->r, root, "seal", says)) {
    return false;
  }
  if (!rt_program_digest(p->program, digest) ||
      !rt_program_seal(p->program, p->image, seal)) {
    return rt_reader_no_memory(&p->r);
  }
  bool same = strcmp(digest, p->program->digest) == 0;
  return (same && strcmp(seal, says) == 0) ||
         rt_reader_fail(&p->r, json_get(root, same ? "seal" : "digest"),
                        "the program was changed: its %s is %s", same ? "seal" : "digest",
                        same ? seal : digest);
}

static bool read_program(struct program_reader *p, const struct json *root) {
  static bool (*const parts[])(struct program_reader *,
                               const struct json *) = {read_head,
                                                       read_hypers,
                                                       read_iterations,
                                                       rt_program_read_kernels,
                                                       rt_program_read_orthos,
                                                       rt_program_read_rules,
                                                       read_params,
                                                       check_digests};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    p->r.what = NULL;
    if (!parts[i](p, root)) {
      return false;
    }
  }
  return true;
}

steprt_status rt_program_from_json(const char *text, uint64_t n,
                                   struct steprt_program **out,
                                   const struct rt_image_ref **images, char *why,
                                   size_t n_why) {
  *out = NULL;
  struct program_file *f = calloc(1, sizeof *f);
  if (f == NULL) {
    (void)snprintf(why, n_why, "out of memory");
    return STEPRT_NO_MEMORY;
  }
  struct program_reader p = {
      .r = {.text = text, .pool = &f->pool, .why = why, .n_why = n_why},
      .program = &f->program};
  struct json_doc *d = rt_reader_parse(&p.r, n);
  bool ok = d != NULL && read_program(&p, json_root(d));
  json_free(d);
  if (!ok) {
    rt_program_free(&f->program);
    return p.r.status;
  }
  f->kernel = p.kernel;
  *out = &f->program;
  if (images != NULL) {
    *images = p.image;
  }
  return STEPRT_OK;
}

void rt_program_set_image(struct steprt_program *program, uint32_t kernel,
                          const void *image, uint64_t bytes) {
  struct rt_kernel *k = &((struct program_file *)program)->kernel[kernel];
  k->image = image;
  k->image_bytes = bytes;
}

void rt_program_free(struct steprt_program *program) {
  if (program != NULL) {
    struct program_file *f = (struct program_file *)program;
    rt_pool_free(&f->pool);
    free(f);
  }
}
