// The lists of a plan, added up.
#include "tool/plan_totals.h"

#include <string.h>

static uint32_t line_find(struct plan_totals *t, const struct rt_plan_param *p,
                          uint32_t guess) {
  if (guess < t->line.n && strcmp(t->line.v[guess].label, p->label) == 0) {
    return guess; // neighbours mostly share their line
  }
  for (uint32_t i = 0; i < t->line.n; i++) {
    if (strcmp(t->line.v[i].label, p->label) == 0) {
      return i;
    }
  }
  struct plan_line fresh = {.label = p->label, .rule = p->rule, .reason = p->reason};
  VEC_PUSH(t->arena, t->line, fresh);
  return t->line.n - 1;
}

static void add_params(struct plan_totals *t) {
  const struct rt_plan *plan = t->plan;
  uint32_t guess = 0;
  t->line_of = ARENA_ARRAY(t->arena, uint32_t, plan->n_params);
  for (uint32_t i = 0; i < plan->n_params; i++) {
    const struct rt_plan_param *p = &plan->param[i];
    t->line_of[i] = RT_NO_ID;
    if (p->unit == RT_NO_ID) {
      t->without_rule++;
      continue;
    }
    t->line_of[i] = guess = line_find(t, p, guess);
    struct plan_line *line = &t->line.v[guess];
    line->params++;
    line->elements += p->numel;
    t->elements += p->numel;
    t->absent += p->numel == 0;
    for (uint32_t s = 0; s < p->n_states; s++) {
      const struct rt_state_home *home = &plan->state[p->first_state + s];
      line->state_bytes += home->bytes;
      line->host_bytes += home->at.space == RT_AT_HOST ? home->bytes : 0;
    }
  }
}

static void add_units(struct plan_totals *t) {
  for (uint32_t u = 0; u < t->plan->n_units; u++) {
    const struct rt_unit *unit = &t->plan->unit[u];
    if (unit->n != 0) {
      t->line.v[t->line_of[t->plan->unit_param[unit->first]]].units++;
    }
  }
}

static void add_chunks(struct plan_totals *t) {
  for (uint32_t c = 0; c < t->plan->n_chunks; c++) {
    const struct rt_chunk *chunk = &t->plan->chunk[c];
    if (chunk->slot == RT_NO_ID) {
      continue;
    }
    bool first = t->streamed++ == 0;
    t->largest = first || chunk->bytes > t->largest ? chunk->bytes : t->largest;
    t->smallest = first || chunk->bytes < t->smallest ? chunk->bytes : t->smallest;
  }
}

static void add_copies(struct plan_totals *t, const struct rt_op *op) {
  uint64_t *sum = op->kind == RT_OP_LOAD ? &t->loaded : &t->stored;
  for (uint32_t i = 0; i < op->n; i++) {
    *sum += t->plan->copy[op->first + i].bytes;
  }
}

static void add_launch(struct plan_totals *t, const struct rt_op *op) {
  struct plan_launches *k = &t->kernel[op->kernel];
  k->ops++;
  k->pieces += op->n;
  k->bytes += op->bytes_read + op->bytes_written;
  for (uint32_t i = 0; i < op->n; i++) {
    const struct rt_row *row = &t->plan->row[op->first + i];
    k->elements += row->numel;
    if (t->line_of[row->param] != RT_NO_ID) {
      k->by_line[t->line_of[row->param]] = true;
    }
  }
}

static void kind_add(struct plan_kind *k, const struct rt_op *op) {
  k->ops++;
  k->pieces += op->n;
  k->bytes_read += op->bytes_read;
  k->bytes_written += op->bytes_written;
  k->flops += op->flops;
}

static void add_ops(struct plan_totals *t) {
  t->kernel = ARENA_ARRAY(t->arena, struct plan_launches, t->plan->n_kernels);
  for (uint32_t k = 0; k < t->plan->n_kernels; k++) {
    t->kernel[k].by_line = ARENA_ARRAY(t->arena, bool, t->line.n);
  }
  for (uint32_t i = 0; i < t->plan->n_ops; i++) {
    const struct rt_op *op = &t->plan->op[i];
    kind_add(&t->kind[op->kind], op);
    kind_add(&t->all, op);
    if (op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE) {
      add_copies(t, op);
    } else if (op->kind == RT_OP_MAP) {
      add_launch(t, op);
    }
  }
}

struct plan_totals *plan_total(struct arena *a, const struct rt_plan *plan) {
  struct plan_totals *t = ARENA_NEW(a, struct plan_totals);
  t->arena = a;
  t->plan = plan;
  add_params(t);
  add_units(t);
  add_chunks(t);
  add_ops(t);
  return t;
}
