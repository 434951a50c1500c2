// The digest of a program: over a text of its tables.
#include "plan/program_digest.h"

#include "file/sha256.h"
#include "file/text.h"

#include <stdlib.h>

static void put_all(struct rt_text *t, const uint64_t *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    rt_text_comma(t);
    rt_text_u64(t, x[i]);
  }
}
#define PUT(t, ...)                                                                      \
  put_all((t), (const uint64_t[]){__VA_ARGS__},                                          \
          sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void put_double(struct rt_text *t, double x) {
  rt_text_comma(t);
  rt_text_double(t, x);
}

static void put_name(struct rt_text *t, const char *name) {
  rt_text_line(t);
  rt_text_string(t, name);
}

static void put_host(struct rt_text *t, const struct rt_host_ins *ins, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const struct rt_host_ins *x = &ins[i];
    PUT(t, x->op, x->out, x->arg[0], x->arg[1], x->arg[2], x->index);
    put_double(t, x->num);
  }
}

static void put_params(struct rt_text *t, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_params; i++) {
    const struct rt_param *x = &p->param[i];
    put_name(t, x->name);
    PUT(t, x->storage, x->grad, x->active, x->active ? x->rule : 0, x->rank);
    put_all(t, x->dim, x->rank);
  }
}

static void put_kernels(struct rt_text *t, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    const struct rt_kernel *k = &p->kernel[i];
    put_name(t, k->name);
    PUT(t, k->n_ptrs, k->n_scalars, k->bytes_read, k->bytes_written);
    for (uint32_t a = 0; a < k->n_ptrs; a++) {
      PUT(t, k->access[a].bytes, k->access[a].read, k->access[a].written);
    }
  }
}

static void put_phases(struct rt_text *t, const struct steprt_program *p,
                       const struct rt_phase *phase, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const struct rt_phase *x = &phase[i];
    rt_text_line(t);
    PUT(t, x->kind, x->kernel, x->n_tensors);
    for (uint32_t k = 0; k < x->n_tensors; k++) {
      const struct rt_tensor *y = &x->tensor[k];
      PUT(t, y->kind, y->index, y->storage, y->read, y->written);
    }
    uint32_t scalars = x->kind == RT_PHASE_MAP ? p->kernel[x->kernel].n_scalars : 0;
    for (uint32_t k = 0; k < scalars; k++) {
      PUT(t, x->scalar[k]);
    }
  }
}

static void put_rules(struct rt_text *t, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_rules; i++) {
    const struct rt_rule *r = &p->rule[i];
    put_name(t, r->name);
    PUT(t, r->rows, r->cols, r->use, r->n_regs, r->n_scalars, r->n_host_states);
    put_phases(t, p, r->phase, r->n_phases);
    put_phases(t, p, r->init, r->n_init);
    for (uint32_t s = 0; s < r->n_states; s++) {
      put_name(t, r->state[s].name);
      PUT(t, r->state[s].storage);
    }
    for (uint32_t s = 0; s < r->n_temps; s++) {
      PUT(t, r->temp[s]);
    }
    put_host(t, r->ins, r->n_ins);
    for (uint32_t s = 0; s < r->n_host_states; s++) {
      put_double(t, r->host_init[s]);
      PUT(t, r->host_is_group[s]);
    }
  }
}

static void put_iterations(struct rt_text *t, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_iterations; i++) {
    const struct rt_iteration *x = &p->iteration[i];
    put_name(t, x->name);
    PUT(t, x->norm, x->norm_in_f32, x->compute, x->n_steps);
    const double constants[] = {x->safety, x->eps, x->floor};
    for (uint32_t k = 0; k < 3; k++) {
      put_double(t, constants[k]);
    }
    for (uint32_t s = 0; s < 3 * x->n_steps; s++) {
      put_double(t, x->abc[s / 3][s % 3]);
    }
  }
}

static void put_hypers(struct rt_text *t, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_hypers; i++) {
    put_name(t, p->hyper[i].label);
    put_name(t, p->hyper[i].name);
    put_host(t, p->hyper[i].bound, p->hyper[i].n_bound);
  }
}

bool rt_program_digest(const struct steprt_program *p, char hex[65]) {
  struct rt_text t = {0};
  put_name(&t, p->target);
  PUT(&t, p->n_params, p->n_kernels, p->n_rules, p->n_iterations, p->n_hypers, p->clips,
      p->skips_nonfinite);
  put_host(&t, p->clip, p->n_clip);
  put_params(&t, p);
  put_kernels(&t, p);
  put_rules(&t, p);
  put_iterations(&t, p);
  put_hypers(&t, p);
  uint64_t n;
  char *text = rt_text_done(&t, &n);
  if (text == NULL) {
    return false;
  }
  struct sha256 s;
  sha256_init(&s);
  sha256_add(&s, text, n);
  sha256_hex(&s, hex);
  free(text);
  return true;
}
