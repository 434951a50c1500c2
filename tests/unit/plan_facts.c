#include "plan_facts.h"

#include "plan/prove.h"

#include <criterion/criterion.h>
#include <string.h>

struct facts {
  const struct plan_job *job;
  const struct rt_plan *p;
  const struct steprt_program *program;
  const char *what;
  struct arena *arena;
};

// ---- elements: each is in exactly one row of every phase

static void check_elements(const struct facts *f, uint32_t param) {
  const struct rt_plan *p = f->p;
  const struct rt_param *v = &f->program->param[param];
  const struct rt_rule *rule = v->active ? &f->program->rule[v->rule] : NULL;
  uint32_t n_phases = rule != NULL ? rule->n_phases : 0;
  uint8_t *seen = ARENA_ARRAY(f->arena, uint8_t, p->param[param].numel *(n_phases + 1));
  for (uint32_t i = p->n_begin; i < p->n_ops; i++) {
    const struct rt_op *op = &p->op[i];
    bool has_rows = op->kind == RT_OP_MAP || op->kind == RT_OP_ORTHO;
    for (uint32_t r = op->first; has_rows && r < op->first + op->n; r++) {
      const struct rt_row *row = &p->row[r];
      if (row->param != param) {
        continue;
      }
      cr_assert(row->numel != 0 && row->phase < n_phases &&
                    row->first + row->numel <= p->param[param].numel,
                "%s: row %u", f->what, r);
      for (uint64_t e = row->first; e < row->first + row->numel; e++) {
        uint8_t *phases = &seen[e * (n_phases + 1)];
        cr_assert_eq(phases[0]++, row->phase, "%s: `%s` out of order, or twice", f->what,
                     p->param[param].name);
      }
    }
  }
  for (uint64_t e = 0; e < p->param[param].numel; e++) {
    cr_assert_eq(seen[e * (n_phases + 1)], n_phases, "%s: `%s` element %llu", f->what,
                 p->param[param].name, (unsigned long long)e);
  }
}

// ---- bytes: a chunk's copies hold its states, both ways alike

static void check_copies(const struct facts *f) {
  const struct rt_plan *p = f->p;
  uint8_t *moved = ARENA_ARRAY(f->arena, uint8_t, p->host_bytes);
  for (uint32_t c = 0; c < p->n_chunks; c++) {
    const struct rt_chunk *k = &p->chunk[c];
    if (k->slot == RT_NO_ID) {
      cr_expect_eq(k->bytes, 0);
      continue;
    }
    const struct rt_op *load = &p->op[k->first_op], *store = load + k->n_ops - 1;
    cr_assert(load->kind == RT_OP_LOAD && store->kind == RT_OP_STORE, "%s", f->what);
    cr_expect(load->first == store->first && load->n == store->n, "%s", f->what);
    uint64_t bytes = 0;
    for (uint32_t i = load->first; i < load->first + load->n; i++) {
      bytes += p->copy[i].bytes;
      for (uint64_t b = 0; b < p->copy[i].bytes; b++) {
        cr_assert_eq(moved[p->copy[i].host + b]++, 0, "%s: moved twice", f->what);
      }
    }
    cr_expect_eq(bytes, k->bytes, "%s", f->what);
  }
  for (uint32_t i = 0; i < p->n_states; i++) {
    const struct rt_state_home *s = &p->state[i];
    cr_expect_eq(s->at.offset % 256, 0, "%s", f->what);
    for (uint64_t b = 0; s->at.space == RT_AT_HOST && b < s->bytes; b++) {
      cr_assert_eq(moved[s->at.offset + b], 1, "%s: a state does not move", f->what);
    }
  }
}

// ---- waits: these and no others

static void check_wait(const struct facts *f, uint32_t op, uint32_t kind, uint32_t slot) {
  const struct rt_op *o = &f->p->op[op];
  cr_assert_eq(o->n_waits, kind != RT_N_EVENT_KINDS, "%s: op %u", f->what, op);
  if (o->n_waits != 0) {
    const struct rt_event *e = &f->p->event[f->p->wait[o->first_wait]];
    cr_expect(e->kind == kind && e->slot == slot, "%s: op %u", f->what, op);
  }
}

static void check_signal(const struct facts *f, uint32_t op, uint32_t kind,
                         uint32_t slot) {
  const struct rt_op *o = &f->p->op[op];
  cr_assert_eq(o->signal != RT_NO_ID, kind != RT_N_EVENT_KINDS, "%s: op %u", f->what, op);
  if (o->signal != RT_NO_ID) {
    const struct rt_event *e = &f->p->event[o->signal];
    cr_expect(e->kind == kind && e->slot == slot, "%s: op %u", f->what, op);
  }
}

static void check_chunk_events(const struct facts *f, uint32_t chunk) {
  const struct rt_chunk *k = &f->p->chunk[chunk];
  uint32_t first = k->first_op, last = k->first_op + k->n_ops - 1;
  bool streams = k->slot != RT_NO_ID;
  for (uint32_t i = first; i < first + k->n_ops; i++) {
    uint32_t wait = RT_N_EVENT_KINDS, signal = RT_N_EVENT_KINDS;
    if (streams) {
      wait = i == first       ? RT_EVENT_FREE
             : i == first + 1 ? RT_EVENT_LOADED
             : i == last      ? RT_EVENT_COMPUTED
                              : wait;
      signal = i == first      ? RT_EVENT_LOADED
               : i == last - 1 ? RT_EVENT_COMPUTED
               : i == last     ? RT_EVENT_FREE
                               : signal;
    }
    check_wait(f, i, wait, k->slot);
    check_signal(f, i, signal, k->slot);
  }
}

// ---- begin: squares of what this rank counts, once

static void check_begin(const struct facts *f) {
  const struct rt_plan *p = f->p;
  bool looks = f->program->clips || f->program->skips_nonfinite;
  uint32_t world = p->configuration.world, count[RT_N_OP_KINDS] = {0};
  uint8_t *summed = ARENA_ARRAY(f->arena, uint8_t, p->n_params);
  for (uint32_t i = 0; i < p->n_begin; i++) {
    const struct rt_op *op = &p->op[i];
    count[op->kind]++;
    for (uint32_t r = op->first; op->kind == RT_OP_REDUCE && r < op->first + op->n; r++) {
      const struct rt_row *row = &p->row[r];
      cr_expect(row->first == 0 && row->numel == p->param[row->param].numel &&
                    p->at[row->at].space == RT_AT_GRAD && p->at[row->at].offset == 0,
                "%s", f->what);
      summed[row->param]++;
    }
  }
  cr_expect_eq(count[RT_OP_UPLOAD], 1);
  cr_expect_eq(count[RT_OP_VERDICT], looks, "%s", f->what);
  cr_expect_eq(count[RT_OP_EXCHANGE], looks && world > 1, "%s", f->what);
  cr_expect_eq(count[RT_OP_MERGE], looks && world > 1, "%s", f->what);
  for (uint32_t i = 0; i < p->n_params; i++) {
    cr_expect_eq(summed[i], looks && p->param[i].counted && p->param[i].numel != 0,
                 "%s: `%s`", f->what, p->param[i].name);
  }
}

void plan_facts_check(const struct plan_job *j, const struct rt_plan *p,
                      const char *what) {
  char why[1000];
  struct facts f = {j, p, j->driver.step, what, arena_new(0)};
  cr_assert_eq(rt_plan_check(p, f.program, why, sizeof why), STEPRT_OK, "%s: %s", what,
               why);
  check_begin(&f);
  for (uint32_t i = 0; i < p->n_params; i++) {
    check_elements(&f, i);
  }
  check_copies(&f);
  for (uint32_t c = 0; c < p->n_chunks; c++) {
    check_chunk_events(&f, c);
  }
  const struct rt_plan *one[] = {p};
  struct proof *proof = plan_prove(f.arena, one, 1);
  cr_assert(proof->n_faults == 0 || p->configuration.world > 1, "%s: %.*s", what,
            STR_FMT(proof->fault[0].text));
  arena_free(f.arena);
}
