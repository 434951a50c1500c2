// Tables of rows: what a kernel updates, one table per operation, on the device from bind to the end. Their layout is
// struct row of compiler/emit/cuda.h.
#include "device/cuda/cuda.h"

#include "plan/names.h"
#include "plan/work.h"

#include <stdlib.h>
#include <string.h>

struct row_tail {
  uint64_t first, numel;
  uint32_t first_tile, param, scalars, unused;
};
_Static_assert(sizeof(struct row_tail) == 32, "as the kernels lay it out");

static bool has_table(const struct rt_op *op) {
  return op->kind == RT_OP_MAP || op->kind == RT_OP_REDUCE;
}

// ---- at open: sizes and tiles

static steprt_status lay_out(struct rt_device *d, const struct rt_op *op,
                             struct cu_table *t) {
  if (op->kernel >= d->program->n_kernels) { // REDUCE on the CPU has none
    return rt_refuse(d->rt, STEPRT_BAD_PROGRAM, "%s has no kernel",
                     rt_op_names[op->kind]);
  }
  const struct rt_kernel *k = &d->program->kernel[op->kernel];
  uint32_t *tile = rt_memory_alloc(&d->rt->memory, (uint64_t)op->n + 1, sizeof *tile);
  uint64_t n = 0;
  if (!tile) {
    return STEPRT_NO_MEMORY;
  }
  if (k->tile == 0) {
    return rt_refuse(d->rt, STEPRT_BAD_PROGRAM, "kernel '%s' takes no tiles",
                     rt_show(k->name).text);
  }
  for (uint32_t i = 0; i < op->n && n <= INT32_MAX; i++) {
    tile[i] = (uint32_t)n;
    n += (d->plan->row[op->first + i].numel + k->tile - 1) / k->tile;
  }
  if (n > INT32_MAX) { // a block counts past the end before it stops
    return rt_refuse(
        d->rt, STEPRT_BAD_PROGRAM,
        "an operation of kernel '%s' has more than 2^31 tiles of %u elements",
        rt_show(k->name).text, k->tile);
  }
  tile[op->n] = (uint32_t)n;
  t->first_tile = tile;
  t->at = d->table_bytes; // from the start of the block, until that is there
  // A kernel reads the first row before it counts them.
  d->table_bytes +=
      rt_round_up((op->n + (uint64_t)(op->n == 0)) * d->kernel[op->kernel].row_size, 256);
  return STEPRT_OK;
}

static steprt_status lay_out_list(struct rt_device *d, const struct rt_op *op, uint32_t n,
                                  struct cu_table **out) {
  struct cu_table *t = rt_memory_alloc(&d->rt->memory, n, sizeof *t);
  if (!t) {
    return STEPRT_NO_MEMORY;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (has_table(&op[i])) {
      RT_TRY(lay_out(d, &op[i], &t[i]));
    }
  }
  *out = t;
  return STEPRT_OK;
}

steprt_status cu_tables_open(struct rt_device *d) {
  RT_TRY(lay_out_list(d, d->plan->op, d->plan->n_ops, &d->op_table));
  return lay_out_list(d, d->plan->init, d->plan->n_init, &d->init_table);
}

void cu_tables_place(struct rt_device *d) {
  for (uint32_t i = 0; i < d->plan->n_ops; i++) {
    d->op_table[i].at += d->at.tables;
  }
  for (uint32_t i = 0; i < d->plan->n_init; i++) {
    d->init_table[i].at += d->at.tables;
  }
}

// ---- at bind: rows

static void write_rows(struct rt_device *d, const struct rt_op *op, bool is_init,
                       const struct cu_table *t, unsigned char *block) {
  const struct rt_plan *p = d->plan;
  const struct cu_kernel *k = &d->kernel[op->kernel];
  uint32_t n_at = p->kernel[op->kernel].n_ptrs;
  for (uint32_t i = 0; i < op->n; i++) {
    const struct rt_row *row = &p->row[op->first + i];
    unsigned char *to = block + (t->at - d->at.tables) + (uint64_t)i * k->row_size;
    for (uint32_t a = 0; a < n_at; a++) {
      struct rt_at at = p->at[row->at + a];
      uint64_t address = cu_address(d, at);
      if (at.space != RT_AT_GRAD) {
        memcpy(to, &address, sizeof address);
        to += sizeof address;
      }
    }
    struct row_tail tail = {row->first, row->numel, t->first_tile[i], row->param, 0, 0};
    if (op->kind == RT_OP_MAP && !is_init) {
      tail.scalars =
          rt_phase_scalars(d->program, d->program->param[row->param].rule, row->phase);
    }
    memcpy(to, &tail, sizeof tail);
  }
}

static void write_list(struct rt_device *d, const struct rt_op *op, uint32_t n,
                       bool is_init, const struct cu_table *t, unsigned char *block) {
  for (uint32_t i = 0; i < n; i++) {
    if (has_table(&op[i])) {
      write_rows(d, &op[i], is_init, &t[i], block);
    }
  }
}

steprt_status cu_tables_bind(struct rt_device *d) {
  if (d->table_bytes == 0) {
    return STEPRT_OK;
  }
  unsigned char *block = calloc(d->table_bytes, 1);
  if (!block) {
    return rt_refuse(d->rt, STEPRT_NO_MEMORY, "out of memory: %llu bytes of tables",
                     (unsigned long long)d->table_bytes);
  }
  write_list(d, d->plan->op, d->plan->n_ops, false, d->op_table, block);
  write_list(d, d->plan->init, d->plan->n_init, true, d->init_table, block);
  steprt_status s = cu_put(d, d->at.tables, block, d->table_bytes);
  free(block);
  return s;
}
