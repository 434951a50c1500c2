#include "core/handle.h"
#include "core/tables.h"

static steprt_status open_team(struct steprt *rt, uint32_t threads) {
  steprt_status s = rt_team_new(threads, &rt->old.team);
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
                                    rt_team_size(rt->old.team));
    most = bytes > most ? bytes : most;
  }
  if (!needed) {
    return STEPRT_OK;
  }
  char why[480];
  steprt_status s = rt_blas_open(&rt->old.blas, why, sizeof why);
  if (s) {
    return rt_refuse(rt, s, "no BLAS for matrix products: %s", why);
  }
  if (*why) {
    rt_note(rt, "%s", why);
  }
  rt_note(rt, "products by %s", rt_blas_name(rt->old.blas));
  rt->old.scratch = rt_memory_alloc(&rt->memory, most, 1);
  if (!rt->old.scratch) {
    return rt_refuse(rt, STEPRT_NO_MEMORY, "out of memory: %zu bytes for products", most);
  }
  rt_memory_touch(rt->old.team, rt->old.scratch, most);
  return STEPRT_OK;
}

steprt_status rt_old_open(struct steprt *rt, uint32_t threads) {
  RT_TRY(open_team(rt, threads));
  rt->old.base =
      rt_memory_alloc(&rt->memory, rt->program->n_buffers, sizeof *rt->old.base);
  if (!rt->old.base) {
    return STEPRT_NO_MEMORY;
  }
  RT_TRY(rt_make_schedules(rt));
  uint64_t n = 0;
  rt->old.own_scalar =
      rt_memory_alloc(&rt->memory, rt->program->n_params, sizeof *rt->old.own_scalar);
  if (!rt->old.own_scalar) {
    return STEPRT_NO_MEMORY;
  }
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    const struct rt_param *v = &rt->program->param[i];
    rt->old.own_scalar[i] = n;
    n += v->active ? rt->program->rule[v->rule].n_scalars : 0;
  }
  rt->old.scalar = rt_memory_alloc(&rt->memory, n, sizeof *rt->old.scalar);
  rt->old.scalars =
      rt_memory_alloc(&rt->memory, rt->program->n_params, sizeof *rt->old.scalars);
  if (!rt->old.scalar || !rt->old.scalars) {
    return STEPRT_NO_MEMORY;
  }
  RT_TRY(rt_make_buffers(rt, RT_BUF_TEMP));
  return open_products(rt);
}

void rt_old_close(struct steprt *rt) {

  rt_team_free(rt->old.team);
  rt_blas_close(rt->old.blas);
  rt->old.team = NULL;
  rt->old.blas = NULL;
}

steprt_status rt_old_bind(struct steprt *rt, void *const *params) {
  RT_TRY(rt_make_buffers(rt, RT_BUF_STATE));
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    rt->takes_part[i] = rt->program->param[i].active;
    if (rt->takes_part[i]) {
      rt->old.base[rt->program->param[i].param_buffer] = params[i];
    }
  }
  rt_run_schedule(rt, &rt->old.init);
  return STEPRT_OK;
}
