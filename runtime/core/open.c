// open, bind and destroy: everything that a step needs is made here, so that the step is silent (L2).
#include "core/check.h"
#include "core/tables.h"

#include <stdlib.h>

static steprt_status open_team(struct steprt *rt, uint32_t threads) {
  steprt_status s = rt_team_new(threads, &rt->team);
  if (s == STEPRT_BAD_ARGUMENT) {
    return rt_refuse(rt, s, "%u threads are too many", threads);
  }
  if (s) {
    return rt_refuse(rt, s, "no memory or no threads for a team of %u", threads);
  }
  return STEPRT_OK;
}

// The BLAS and its scratch, only where the step has a matrix operation.
static steprt_status open_products(struct steprt *rt) {
  const struct steprt_program *p = rt->program;
  size_t most = 0;
  bool needed = false;
  for (uint32_t i = 0; i < p->n_ops; i++) {
    const struct rt_wave_op *op = &p->op[i];
    if (op->kind != RT_WAVE_ORTHO) {
      continue;
    }
    needed = true;
    size_t bytes = rt_ortho_scratch(&p->iteration[op->iteration], op->rows, op->cols,
                                    rt_team_size(rt->team));
    most = bytes > most ? bytes : most;
  }
  if (!needed) {
    return STEPRT_OK;
  }
  char why[480];
  steprt_status s = rt_blas_open(&rt->blas, why, sizeof why);
  if (s) {
    return rt_refuse(rt, s, "no BLAS for matrix products: %s", why);
  }
  if (*why) {
    rt_note(rt, "%s", why);
  }
  rt_note(rt, "products by %s", rt_blas_name(rt->blas));
  rt->scratch = rt_memory_alloc(&rt->memory, most, 1);
  if (!rt->scratch) {
    return rt_refuse(rt, STEPRT_NO_MEMORY, "out of memory: %zu bytes for products", most);
  }
  rt_memory_touch(rt->team, rt->scratch, most);
  return STEPRT_OK;
}

static steprt_status make_everything(struct steprt *rt, uint32_t threads) {
  RT_TRY(open_team(rt, threads));
  rt->base = rt_memory_alloc(&rt->memory, rt->program->n_buffers, sizeof *rt->base);
  if (!rt->base) {
    return STEPRT_NO_MEMORY;
  }
  RT_TRY(rt_make_schedules(rt));
  RT_TRY(rt_make_scalars(rt));
  RT_TRY(rt_make_host_states(rt));
  RT_TRY(rt_make_buffers(rt, RT_BUF_TEMP));
  return open_products(rt);
}

static steprt_status open_handle(struct steprt *rt, const struct steprt_program *program,
                                 const struct steprt_options *options) {
  struct steprt_options o = {.size = sizeof o};
  if (!program) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "open: no program");
  }
  if (options && !rt_read_versioned(&o, sizeof o, options)) {
    return rt_refuse(
        rt, STEPRT_BAD_ARGUMENT,
        "open: options of a size or with a field that this library does not know");
  }
  rt->log = o.log;
  rt->log_ctx = o.log_ctx;
  RT_TRY(rt_check_program(rt, program));
  rt->program = program;
  steprt_status s = make_everything(rt, o.threads);
  if (s == STEPRT_NO_MEMORY && !*rt->error) {
    return rt_refuse(rt, s, "out of memory");
  }
  if (!s) {
    rt->phase = RT_MODE_OPEN;
  }
  return s;
}

steprt_status steprt_open(const struct steprt_program *program,
                          const struct steprt_options *options, struct steprt **out) {
  if (!out) {
    return STEPRT_BAD_ARGUMENT;
  }
  *out = calloc(1, sizeof **out);
  return *out ? open_handle(*out, program, options) : STEPRT_NO_MEMORY;
}

void steprt_destroy(struct steprt *rt) {
  if (!rt) {
    return;
  }
  rt_team_free(rt->team);
  rt_blas_close(rt->blas);
  rt_memory_free(&rt->memory);
  free(rt);
}

static steprt_status check_pointers(struct steprt *rt, void *const *params) {
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    const struct rt_param *v = &rt->program->param[i];
    if (!v->active || v->numel == 0) {
      continue;
    }
    if (!params[i]) {
      return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameter '%s' has no address",
                       rt_show(v->name).text);
    }
    if ((uintptr_t)params[i] % rt_storage_bytes(v->storage)) {
      return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                       "parameter '%s': its address %p is not aligned to its elements",
                       rt_show(v->name).text, params[i]);
    }
  }
  return STEPRT_OK;
}

steprt_status steprt_bind(struct steprt *rt, void *const *params) {
  RT_TRY(rt_expect(rt, RT_MODE_OPEN, RT_MODE_OPEN, "bind"));
  if (!params) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "bind: no parameters");
  }
  RT_TRY(check_pointers(rt, params));
  RT_TRY(rt_make_buffers(rt, RT_BUF_STATE));
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    rt->takes_part[i] = rt->program->param[i].active;
    if (rt->takes_part[i]) {
      rt->base[rt->program->param[i].param_buffer] = params[i];
    }
  }
  rt_run_schedule(rt, &rt->init);
  rt->report = (struct steprt_report){.size = sizeof rt->report, .clip_factor = 1};
  rt->phase = RT_MODE_BOUND;
  return STEPRT_OK;
}
