// Tables: kernels, host code, hypers, rules, parameters, iterations.
#include "core/check.h"

#include "core/hostcode.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_RANK = 8, MAX_REGS = 1 << 20 };

#define BAD(...) rt_refuse(rt, STEPRT_BAD_PROGRAM, __VA_ARGS__)

static steprt_status check_tables(struct steprt *rt, const struct steprt_program *p) {
  const struct {
    const char *name;
    const void *table;
    uint64_t n;
  } rows[] = {
      {"param", p->param, p->n_params},
      {"kernel", p->kernel, p->n_kernels},
      {"rule", p->rule, p->n_rules},
      {"hyper", p->hyper, p->n_hypers},
      {"iteration", p->iteration, p->n_iterations},
      {"clip", p->clip, p->n_clip},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].n > 0 && !rows[i].table) {
      return BAD("table %s has %llu entries and no address", rows[i].name,
                 (unsigned long long)rows[i].n);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_kernels(struct steprt *rt, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    const struct rt_kernel *k = &p->kernel[i];
    if (!k->name || (!k->fn && !k->image)) {
      return BAD("kernel %u has no %s", i, k->name ? "code" : "name");
    }
    if (k->n_ptrs > RT_MAX_PTRS || k->n_scalars > RT_MAX_SCALARS) {
      return BAD("kernel %u '%s': %u pointers and %u scalars, at most %d and %d", i,
                 rt_show(k->name).text, k->n_ptrs, k->n_scalars, RT_MAX_PTRS,
                 RT_MAX_SCALARS);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_code(struct steprt *rt, const char *what, const char *name,
                                const struct rt_host_ins *ins, uint32_t n,
                                const struct rt_host_bounds *bounds) {
  char why[160];
  if (n > 0 && !ins) {
    return BAD("%s '%s': host code without an address", what, rt_show(name).text);
  }
  if (bounds->n_regs > MAX_REGS) {
    return BAD("%s '%s': %u registers, at most %d", what, rt_show(name).text,
               bounds->n_regs, MAX_REGS);
  }
  bool *defined = calloc((size_t)bounds->n_regs + 1, sizeof *defined);
  if (!defined) {
    return rt_refuse(rt, STEPRT_NO_MEMORY, "out of memory");
  }
  bool ok = rt_host_check(ins, n, bounds, defined, why, sizeof why);
  free(defined);
  return ok ? STEPRT_OK : BAD("%s '%s': %s", what, rt_show(name).text, why);
}

static steprt_status check_hypers(struct steprt *rt, const struct steprt_program *p) {
  if (p->n_hypers > INT32_MAX) {
    return BAD("%u hypers are too many", p->n_hypers);
  }
  for (uint32_t i = 0; i < p->n_hypers; i++) {
    const struct rt_hyper *h = &p->hyper[i];
    if (!h->label || !h->name) {
      return BAD("hyper %u has no %s", i, h->label ? "name" : "label");
    }
    if (h->has_range && !(h->lo <= h->hi)) {
      return BAD("hyper %u '%s': its range is empty", i, rt_show(h->name).text);
    }
    if (!h->bound) {
      continue;
    }
    const struct rt_host_bounds bounds = {.n_regs = h->n_bound_regs, .n_hypers = i};
    steprt_status s = check_code(rt, "hyper", h->name, h->bound, h->n_bound, &bounds);
    if (s) {
      return s;
    }
  }
  return STEPRT_OK;
}

// Every scalar must be written, or kernels would read the last step's.
static steprt_status check_outs(struct steprt *rt, const struct rt_rule *r) {
  for (uint32_t k = 0; k < r->n_scalars; k++) {
    bool written = false;
    for (uint32_t i = 0; i < r->n_ins && !written; i++) {
      written = r->ins[i].op == RT_HOST_OUT && r->ins[i].index == k;
    }
    if (!written) {
      return BAD("rule '%s': scalar %u is never written", rt_show(r->name).text, k);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_rules(struct steprt *rt, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_rules; i++) {
    const struct rt_rule *r = &p->rule[i];
    if (!r->name) {
      return BAD("rule %u has no name", i);
    }
    if (r->n_host_states > 0 && (!r->host_init || !r->host_is_group)) {
      return BAD("rule '%s': host states without a table", rt_show(r->name).text);
    }
    const struct rt_host_bounds bounds = {.n_regs = r->n_regs,
                                          .n_hypers = p->n_hypers,
                                          .n_states = r->n_host_states,
                                          .n_outs = r->n_scalars,
                                          .has_step = true};
    steprt_status s = check_code(rt, "rule", r->name, r->ins, r->n_ins, &bounds);
    if (!s) {
      s = check_outs(rt, r);
    }
    if (!s) {
      s = rt_check_phases(rt, p, r);
    }
    if (s) {
      return s;
    }
  }
  return STEPRT_OK;
}

static const char *fault_of_shape(const struct rt_param *v) {
  uint64_t numel = 1;
  if (v->rank > MAX_RANK) {
    return "more than 8 dimensions";
  }
  for (uint32_t d = 0; d < v->rank; d++) {
    if (!rt_mul(numel, v->dim[d], &numel)) {
      return "its dimensions overflow";
    }
  }
  return numel == v->numel ? NULL : "its dimensions are not its number of elements";
}

static const char *fault_of_param(const struct steprt_program *p, uint32_t i) {
  const struct rt_param *v = &p->param[i];
  const char *shape = fault_of_shape(v);
  if (shape || !v->active) {
    return shape;
  }
  if (v->rule >= p->n_rules) {
    return "its rule does not exist";
  }
  if (v->storage > RT_Q8U || v->grad > RT_Q8U) {
    return "its storage or its gradient's is unknown";
  }
  bool looks = p->clips || p->skips_nonfinite;
  return looks && v->grad > RT_F16
             ? "clip and skip read gradients in f32, bf16 or f16 only"
             : NULL;
}

static steprt_status check_params(struct steprt *rt, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_params; i++) {
    if (!p->param[i].name) {
      return BAD("parameter %u has no name", i);
    }
    const char *fault = fault_of_param(p, i);
    if (fault) {
      return BAD("parameter '%s': %s", rt_show(p->param[i].name).text, fault);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_iterations(struct steprt *rt, const struct steprt_program *p) {
  for (uint32_t i = 0; i < p->n_iterations; i++) {
    const struct rt_iteration *it = &p->iteration[i];
    if (!it->name || !it->abc || it->n_steps == 0) {
      return BAD("iteration %u has no %s", i, it->name ? "steps" : "name");
    }
    if (it->norm > RT_NORM_AOL || (it->compute != RT_F32 && it->compute != RT_BF16)) {
      return BAD("iteration '%s': unknown norm or compute type", rt_show(it->name).text);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_clip(struct steprt *rt, const struct steprt_program *p) {
  if (!p->clips) {
    return STEPRT_OK;
  }
  if (p->n_clip == 0) {
    return BAD("clip has no bound");
  }
  const struct rt_host_bounds bounds = {.n_regs = p->n_clip_regs,
                                        .n_hypers = p->n_hypers};
  return check_code(rt, "recipe", "clip", p->clip, p->n_clip, &bounds);
}

steprt_status rt_check_program(struct steprt *rt, const struct steprt_program *p) {
  static steprt_status (*const checks[])(struct steprt *,
                                         const struct steprt_program *) = {
      check_tables, check_kernels, check_hypers, check_iterations,
      check_rules,  check_params,  check_clip};
  if (p->version != RT_PROGRAM_VERSION) {
    return BAD("the program is of version %u; this libsteprt runs version %d", p->version,
               RT_PROGRAM_VERSION);
  }
  steprt_status s = STEPRT_OK;
  for (size_t i = 0; i < sizeof checks / sizeof *checks && !s; i++) {
    s = checks[i](rt, p);
  }
  return s;
}
