// open, bind and destroy: everything that a step needs is made here, so that the step is silent (L2).
#include "core/check.h"
#include "core/tables.h"

#include <stdlib.h>

static steprt_status open_team(struct steprt *rt, uint32_t threads) {
  steprt_status s = rt_team_new(threads, &rt->team);
  if (s == STEPRT_BAD_ARGUMENT)
    return rt_refuse(rt, s, "%u threads are too many", threads);
  if (s)
    return rt_refuse(rt, s, "no memory or no threads for a team of %u", threads);
  rt_note(rt, "%u threads", rt_team_size(rt->team));
  return STEPRT_OK;
}

// The BLAS and its scratch, only where the step has a matrix operation.
static steprt_status open_products(struct steprt *rt) {
  const struct steprt_program *p = rt->program;
  size_t most = 0;
  bool needed = false;
  for (uint32_t i = 0; i < p->n_ops; i++) {
    const struct rt_op *op = &p->op[i];
    if (op->kind != RT_OP_ORTHO)
      continue;
    needed = true;
    size_t bytes = rt_ortho_scratch(&p->iteration[op->iteration], op->rows, op->cols,
                                    rt_team_size(rt->team));
    most = bytes > most ? bytes : most;
  }
  if (!needed)
    return STEPRT_OK;
  char why[480];
  steprt_status s = rt_blas_open(&rt->blas, why, sizeof why);
  if (s)
    return rt_refuse(rt, s, "no BLAS for matrix products: %s", why);
  rt_note(rt, "products by %s", rt_blas_name(rt->blas));
  rt->scratch = rt_memory_alloc(&rt->memory, most, 1);
  if (!rt->scratch)
    return rt_refuse(rt, STEPRT_NO_MEMORY, "out of memory: %zu bytes for products", most);
  rt_memory_touch(rt->team, rt->scratch, most);
  return STEPRT_OK;
}

static steprt_status make_everything(struct steprt *rt) {
  steprt_status s = STEPRT_OK;
  rt->base = rt_memory_alloc(&rt->memory, rt->program->n_buffers, sizeof *rt->base);
  if (!rt->base)
    return STEPRT_NO_MEMORY;
  if ((s = rt_make_schedules(rt)) || (s = rt_make_scalars(rt)) ||
      (s = rt_make_host_states(rt)) || (s = rt_make_buffers(rt, RT_BUF_TEMP)) ||
      (s = open_products(rt)))
    return s;
  return STEPRT_OK;
}

static steprt_status open_handle(struct steprt *rt, const struct steprt_program *program,
                                 const struct steprt_options *options) {
  struct steprt_options o = {.size = sizeof o};
  if (!program)
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "open: no program");
  if (options && !rt_read_versioned(&o, sizeof o, options))
    return rt_refuse(
        rt, STEPRT_BAD_ARGUMENT,
        "open: options of a size or with a field that this library does not know");
  rt->log = o.log;
  rt->log_ctx = o.log_ctx;
  steprt_status s = rt_check_program(rt, program);
  if (s)
    return s;
  rt->program = program;
  if ((s = open_team(rt, o.threads)) || (s = make_everything(rt))) {
    if (s == STEPRT_NO_MEMORY && !*rt->error)
      rt_refuse(rt, s, "out of memory");
    return s;
  }
  rt->phase = RT_PHASE_OPEN;
  return STEPRT_OK;
}

steprt_status steprt_open(const struct steprt_program *program,
                          const struct steprt_options *options, struct steprt **out) {
  if (!out)
    return STEPRT_BAD_ARGUMENT;
  *out = calloc(1, sizeof **out);
  return *out ? open_handle(*out, program, options) : STEPRT_NO_MEMORY;
}

void steprt_destroy(struct steprt *rt) {
  if (!rt)
    return;
  rt_team_free(rt->team);
  rt_blas_close(rt->blas);
  rt_memory_free(&rt->memory);
  free(rt);
}

static steprt_status check_pointers(struct steprt *rt, void *const *params) {
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    const struct rt_param *v = &rt->program->param[i];
    if (!v->active || v->numel == 0)
      continue;
    if (!params[i])
      return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameter '%s' has no address",
                       rt_show(v->name).text);
    if ((uintptr_t)params[i] % rt_storage_bytes(v->storage))
      return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                       "parameter '%s': its address %p is not aligned to its elements",
                       rt_show(v->name).text, params[i]);
  }
  return STEPRT_OK;
}

steprt_status steprt_bind(struct steprt *rt, void *const *params) {
  steprt_status s = rt_expect(rt, RT_PHASE_OPEN, RT_PHASE_OPEN, "bind");
  if (s)
    return s;
  if (!params && rt->program->n_params > 0)
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "bind: no parameters");
  if ((s = check_pointers(rt, params)) || (s = rt_make_buffers(rt, RT_BUF_STATE)))
    return s;
  for (uint32_t i = 0; i < rt->program->n_params; i++)
    if (rt->program->param[i].active)
      rt->base[rt->program->param[i].param_buffer] = params[i];
  for (uint32_t i = 0; i < rt->program->n_params; i++)
    rt->takes_part[i] = true;
  rt_run_schedule(rt, &rt->init);
  rt->report = (struct steprt_report){.size = sizeof rt->report, .clip_factor = 1};
  rt->phase = RT_PHASE_BOUND;
  return STEPRT_OK;
}
