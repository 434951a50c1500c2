// Launches: the device-side table of emit/cuda.h, a row for each tensor.
#include "mirror_int.h"

#include <string.h>

struct table {
  struct arena *arena;
  struct buf row;
  VEC(float) scalar;
  uint32_t *scalar_at; // by parameter
  uint64_t *grad;
  struct mirror_launch *launch;
};

static uint32_t tiles(const struct cuda_kernel *k, uint64_t numel) {
  return (uint32_t)((numel + k->tile - 1) / k->tile);
}

// `struct row` of emit/cuda.h for a whole parameter.
static void put_row(struct table *t, const uint64_t *ptr, uint32_t param,
                    uint64_t numel) {
  struct mirror_launch *l = t->launch;
  uint64_t range[2] = {0, numel};
  uint32_t rest[4] = {l->n_tiles, param, 0, 0};
  buf_put(&t->row, (const char *)ptr, l->kernel->n_ptrs * sizeof *ptr);
  buf_put(&t->row, (const char *)range, sizeof range);
  buf_put(&t->row, (const char *)rest, sizeof rest);
  l->n_tiles += tiles(l->kernel, numel);
  l->elements += t->grad[param] != 0 ? numel : 0;
  l->n_rows++;
}

static uint64_t upload(struct mirror *m, const void *bytes, size_t n) {
  uint64_t at = gpu_new(m->gpu, n);
  if (n != 0) {
    GPU(m->gpu, to_device(at, bytes, n));
  }
  return at;
}

static struct table begin(struct mirror *m, const struct cuda_kernel *k,
                          struct mirror_launch *l) {
  uint32_t n = m->program->n_params;
  struct table t = {.arena = m->arena,
                    .row = buf_new(m->arena),
                    .scalar_at = ARENA_ARRAY(m->arena, uint32_t, n),
                    .grad = ARENA_ARRAY(m->arena, uint64_t, n),
                    .launch = l};
  *l = (struct mirror_launch){.kernel = k, .function = m->function[k - m->text->kernel]};
  for (uint32_t i = 0; i < n; i++) {
    const struct rt_param *p = &m->program->param[i];
    t.grad[i] = p->active && m->session->rt->takes_part[i] ? m->base[p->grad_buffer] : 0;
  }
  return t;
}

static void finish(struct mirror *m, struct table *t) {
  struct mirror_launch *l = t->launch;
  uint32_t n = m->program->n_params;
  if (l->n_tiles != 0) {
    l->n_blocks =
        l->n_tiles; // best, as the kernels' heads say; of squares what is resident at once
    if (l->kernel->kind == CUDA_SQUARES) {
      unsigned full = gpu_full_grid(m->gpu, l->function, l->kernel->block);
      l->n_blocks = l->n_tiles < full ? l->n_tiles : full;
    }
    l->table = upload(m, t->row.p, t->row.n);
    l->scalars = upload(m, t->scalar.v, t->scalar.n * sizeof *t->scalar.v);
    l->scalar_at = upload(m, t->scalar_at, n * sizeof *t->scalar_at);
    l->grads = upload(m, t->grad, n * sizeof *t->grad);
  }
}

// The address of each tensor but the gradient, and the numbers; a clip's place holds 1.
static void put_op(struct mirror *m, struct table *t, const struct rt_wave_op *op) {
  const struct rt_kernel *k = &m->program->kernel[op->kernel];
  uint64_t ptr[RT_MAX_PTRS];
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->n_ptrs; i++) {
    if (m->program->buffer[op->buffer[i]].kind != RT_BUF_GRAD) {
      ptr[n++] = m->base[op->buffer[i]];
    }
  }
  put_row(t, ptr, op->param, op->numel);
  t->scalar_at[op->param] = t->scalar.n;
  for (uint32_t i = 0; i < k->n_scalars; i++) {
    float x = op->scalar[i] == RT_SCALAR_CLIP
                  ? 1
                  : m->session->rt->old.scalars[op->param][op->scalar[i]];
    VEC_PUSH(m->arena, t->scalar, x);
  }
}

struct mirror_launch mirror_prepare(struct mirror *m, const struct cuda_kernel *k,
                                    uint32_t wave) {
  const struct steprt *rt = m->session->rt;
  const struct rt_wave *w = &rt->old.step.wave[wave];
  struct mirror_launch l;
  struct table t = begin(m, k, &l);
  for (uint32_t i = w->first_op; i < w->first_op + w->n_ops; i++) {
    const struct rt_wave_op *op = &m->program->op[i];
    if (op->kind == RT_WAVE_MAP && m->of[i] == k && op->numel != 0) {
      put_op(m, &t, op);
    }
  }
  finish(m, &t);
  return l;
}

struct mirror_launch mirror_prepare_squares(struct mirror *m,
                                            const struct cuda_kernel *k) {
  struct mirror_launch l;
  struct table t = begin(m, k, &l);
  for (uint32_t i = 0; i < m->program->n_params; i++) {
    const struct rt_param *p = &m->program->param[i];
    if (!p->active || p->numel == 0) {
      continue;
    }
    if (rt_storage_bytes(m->program->buffer[p->grad_buffer].storage) == k->bytes_read) {
      put_row(&t, NULL, i, p->numel);
    }
  }
  finish(m, &t);
  l.parts = m->parts;
  return l;
}

void mirror_launch(struct mirror *m, struct mirror_launch *l) {
  uint64_t verdict = m->verdict;
  void *map[] = {&l->table,     &l->n_rows, &l->n_tiles, &l->scalars,
                 &l->scalar_at, &l->grads,  &verdict};
  void *squares[] = {&l->table, &l->n_rows, &l->n_tiles, &l->grads, &l->parts};
  if (l->n_tiles != 0) {
    gpu_launch(m->gpu, l->function, l->n_blocks, l->kernel->block,
               l->kernel->kind == CUDA_MAP ? map : squares);
  }
}

void mirror_launch_free(struct mirror *m, struct mirror_launch *l) {
  if (l->n_tiles != 0) {
    GPU(m->gpu, mem_free(l->table));
    GPU(m->gpu, mem_free(l->scalars));
    GPU(m->gpu, mem_free(l->scalar_at));
    GPU(m->gpu, mem_free(l->grads));
  }
}
