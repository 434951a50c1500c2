// Every element of every parameter that has a rule goes through the phases of its rule once and in order, all within
// one chunk, and is written once. Where gradients are summed, each that counts here is summed once.
#include "plan/prove_int.h"

#include <stdlib.h>

// A row in the order of the list.
struct use {
  uint32_t row, op;
  bool writes; // the parameter
};
// Elements from `at` to the next span's.
struct span {
  uint64_t at;
  uint32_t phases, writes, sums, block;
};
struct cover {
  struct prover *p;
  struct use *use; // by parameter
  uint32_t *first; // n_params + 1
  struct span *span;
  uint32_t n_spans;
};

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool takes_rows(const struct rt_op *o) {
  return o->kind == RT_OP_MAP || o->kind == RT_OP_ORTHO || o->kind == RT_OP_REDUCE;
}

// ---- rows by parameter

static void count_uses(struct cover *c) {
  const struct prover *p = c->p;
  uint32_t *n = c->first = ARENA_ARRAY(p->arena, uint32_t, (size_t)p->plan->n_params + 1);
  uint32_t total = 0;
  for (uint32_t i = 0; i < p->n_ops; i++) {
    for (uint32_t k = 0; takes_rows(&p->op[i]) && k < p->op[i].n; k++) {
      n[p->plan->row[p->op[i].first + k].param]++;
    }
  }
  for (uint32_t i = 0; i <= p->plan->n_params; i++) {
    uint32_t here = n[i];
    n[i] = total;
    total += here;
  }
  c->use = ARENA_ARRAY(p->arena, struct use, total);
}

static void sort_uses(struct cover *c) {
  const struct prover *p = c->p;
  count_uses(c);
  uint32_t *n = ARENA_ARRAY(p->arena, uint32_t, p->plan->n_params);
  for (uint32_t i = 0; i < p->n_ops; i++) {
    uint32_t at = p->access_of[i];
    for (uint32_t k = 0; takes_rows(&p->op[i]) && k < p->op[i].n; k++) {
      uint32_t row = p->op[i].first + k, param = p->plan->row[row].param;
      struct use *u = &c->use[c->first[param] + n[param]++];
      *u = (struct use){.row = row, .op = i};
      while (at < p->access_of[i + 1] && p->access.v[at].item == RT_NO_ID) {
        at++;
      }
      for (; at < p->access_of[i + 1] && p->access.v[at].item == row; at++) {
        u->writes |= p->access.v[at].write && p->access.v[at].space == RT_AT_PARAM;
      }
    }
  }
}

// ---- one parameter

static void cut_spans(struct cover *c, uint32_t param) {
  const struct prover *p = c->p;
  uint32_t from = c->first[param], to = c->first[param + 1], n = 0;
  uint64_t *cut = ARENA_ARRAY(p->arena, uint64_t, 2 * (size_t)(to - from) + 2);
  n = 2; // 0 and the end
  cut[1] = p->plan->param[param].numel;
  for (uint32_t i = from; i < to; i++) {
    const struct rt_row *r = &p->plan->row[c->use[i].row];
    cut[n++] = r->first;
    cut[n++] = r->first + r->numel;
  }
  qsort(cut, n, sizeof *cut, by_value);
  c->span = ARENA_ARRAY(p->arena, struct span, n);
  c->n_spans = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || cut[i] != cut[i - 1]) {
      c->span[c->n_spans++] = (struct span){.at = cut[i], .block = RT_NO_ID};
    }
  }
}

static bool fault(const struct cover *c, enum proof_kind kind, uint32_t param,
                  const struct span *s, uint32_t op, const char *what) {
  struct prover *p = c->p;
  return PROVE_FAULT(p, kind, op, RT_NO_ID, "elements [%llu, %llu) of %s %s%s%s",
                     (unsigned long long)s->at, (unsigned long long)s[1].at,
                     prove_param_text(p, param), what, op == RT_NO_ID ? "" : ": ",
                     op == RT_NO_ID ? "" : prove_op_text(p, op));
}

static bool take(const struct cover *c, const struct use *u, struct span *s) {
  const struct rt_row *row = &c->p->plan->row[u->row];
  if (c->p->op[u->op].kind == RT_OP_REDUCE) {
    return s->sums++ == 0 ||
           fault(c, PROOF_TWICE, row->param, s, u->op, "are summed twice");
  }
  if (row->phase != s->phases) {
    return fault(c, row->phase < s->phases ? PROOF_TWICE : PROOF_UNCOVERED, row->param, s,
                 u->op,
                 row->phase < s->phases ? "go through a phase again"
                                        : "miss the phase before this one");
  }
  uint32_t block = c->p->block_of[u->op];
  if (s->block != RT_NO_ID && s->block != block) {
    return fault(c, PROOF_UNORDERED, row->param, s, u->op,
                 "have phases in another chunk too");
  }
  s->block = block;
  s->phases++;
  s->writes += u->writes ? 1 : 0;
  return s->writes < 2 ||
         fault(c, PROOF_TWICE, row->param, s, u->op, "are written twice");
}

static void take_row(const struct cover *c, const struct use *u) {
  const struct rt_row *row = &c->p->plan->row[u->row];
  uint32_t lo = 0, hi = c->n_spans;
  while (lo < hi) { // the first span at or behind `first`
    uint32_t mid = lo + (hi - lo) / 2;
    if (c->span[mid].at < row->first) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  for (; c->span[lo].at < row->first + row->numel; lo++) {
    if (!take(c, u, &c->span[lo])) {
      return;
    }
  }
}

static void test_spans(const struct cover *c, uint32_t param) {
  const struct prover *p = c->p;
  const struct rt_plan_param *q = &p->plan->param[param];
  bool is_summed = rt_plan_judges(p->plan) && q->counted && q->unit != RT_NO_ID;
  for (uint32_t i = 0; i + 1 < c->n_spans; i++) {
    const struct span *s = &c->span[i];
    if (s->at >= q->numel) {
      fault(c, PROOF_MISPLACED, param, s, RT_NO_ID, "do not exist on this rank");
    } else if (q->unit != RT_NO_ID && s->writes == 0) {
      fault(c, PROOF_UNCOVERED, param, s, RT_NO_ID, "are not updated");
    } else if (q->unit != RT_NO_ID && s->phases != c->span[0].phases) {
      fault(c, PROOF_UNCOVERED, param, s, RT_NO_ID,
            "go through fewer or more phases than the first do");
    } else if ((s->sums != 0) != is_summed) {
      fault(c, s->sums != 0 ? PROOF_TWICE : PROOF_UNCOVERED, param, s, RT_NO_ID,
            s->sums != 0 ? "are summed, though another rank counts them"
                         : "are not summed for the norm");
    }
  }
}

void prove_cover(struct prover *p) {
  struct cover c = {.p = p};
  if (p->is_init) {
    return;
  }
  sort_uses(&c);
  for (uint32_t i = 0; i < p->plan->n_params && !prove_full(p->proof); i++) {
    struct arena_mark mark = arena_mark(p->arena);
    cut_spans(&c, i);
    for (uint32_t k = c.first[i]; k < c.first[i + 1] && !prove_full(p->proof); k++) {
      take_row(&c, &c.use[k]);
    }
    test_spans(&c, i);
    arena_rewind(p->arena, mark);
  }
}
