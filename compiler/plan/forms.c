// Forms: which rules may share launches, and how many matrices a sub-batch of them takes.
#include "plan/plan_int.h"

#include <stdlib.h>

// ---- what a rule is made of

static const struct rt_phase *ortho_of(const struct rt_rule *r) {
  for (uint32_t i = 0; i < r->n_phases; i++) {
    if (r->phase[i].kind == RT_PHASE_ORTHO) {
      return &r->phase[i];
    }
  }
  return NULL;
}

static void put_u64(struct buf *b, uint64_t x) {
  buf_put(b, (const char *)&x, sizeof x);
}

// Equal texts, equal launches. The kernels of matrix rules see temporaries of the sub-batch, so their storages and
// places count too; element-wise rules share whatever has their kernel.
static struct str form_key(struct arena *a, const struct rt_rule *r) {
  struct buf b = buf_new(a);
  for (uint32_t i = 0; i < r->n_phases; i++) {
    const struct rt_phase *p = &r->phase[i];
    put_u64(&b, (uint64_t)p->kind << 32 | p->kernel);
    for (uint32_t t = 0; t < p->n_tensors && ortho_of(r) != NULL; t++) {
      put_u64(&b, (uint64_t)p->tensor[t].kind << 32 | p->tensor[t].storage);
      put_u64(&b, p->tensor[t].index);
    }
  }
  if (ortho_of(r) != NULL) {
    put_u64(&b, r->rows);
    put_u64(&b, r->cols);
    for (uint32_t i = 0; i < r->n_temps; i++) {
      put_u64(&b, r->temp[i]);
    }
  }
  for (uint32_t i = 0; i < r->n_states; i++) {
    put_u64(&b, r->state[i].storage);
  }
  return buf_done(&b);
}

// ---- sub-batches

static bool temp_is_used(const struct rt_rule *r, uint32_t temp) {
  for (uint32_t i = 0; i < r->n_phases; i++) {
    for (uint32_t t = 0; t < r->phase[i].n_tensors; t++) {
      const struct rt_tensor *x = &r->phase[i].tensor[t];
      if (x->kind == RT_TENSOR_TEMP && x->index == temp) {
        return true;
      }
    }
  }
  return false;
}

uint64_t temps_end(const struct rt_rule *r, uint32_t n_temps, uint64_t base, uint64_t n) {
  for (uint32_t i = 0; i < n_temps; i++) {
    if (temp_is_used(r, i)) {
      base += rt_round_up(n * rt_storage_bytes(r->temp[i]), PLAN_ALIGN);
    }
  }
  return base;
}

uint64_t ortho_bytes(const struct plan_builder *b, const struct rt_rule *r,
                     const struct rt_phase *p, uint64_t n) {
  return rt_ortho_work(b->target.on_gpu, &b->program->iteration[p->kernel], r->rows,
                       r->cols, n);
}

uint64_t batch_bytes(const struct plan_builder *b, const struct rt_rule *r, uint64_t n) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < r->n_phases; i++) {
    if (r->phase[i].kind == RT_PHASE_ORTHO) {
      uint64_t bytes = ortho_bytes(b, r, &r->phase[i], n);
      most = bytes > most ? bytes : most;
    }
  }
  return temps_end(r, r->n_temps, 0, n * r->rows * r->cols) + most;
}

// The most matrices that stay within the target's bounds; one at least.
static uint64_t batch_of(const struct plan_builder *b, const struct rt_rule *r) {
  uint64_t one = batch_bytes(b, r, 1);
  uint64_t lo = 1, hi = b->target.bytes / (one != 0 ? one : 1) * 2 + PLAN_ALIGN;
  hi = hi < b->target.matrices ? hi : b->target.matrices;
  while (lo < hi) {
    uint64_t mid = lo + (hi - lo + 1) / 2;
    if (batch_bytes(b, r, mid) <= b->target.bytes) {
      lo = mid;
    } else {
      hi = mid - 1;
    }
  }
  return lo;
}

// Multiply-add counts two: every step m x m x k twice and m x m x m once, m <= k (Jordan et al. 2024). At most 2^53.
static uint64_t flops_of(const struct plan_builder *b, const struct rt_rule *r) {
  double m = (double)(r->rows < r->cols ? r->rows : r->cols);
  double k = (double)(r->rows < r->cols ? r->cols : r->rows), flops = 0;
  for (uint32_t i = 0; i < r->n_phases; i++) {
    if (r->phase[i].kind == RT_PHASE_ORTHO) {
      const struct rt_iteration *it = &b->program->iteration[r->phase[i].kernel];
      flops += it->n_steps * (4 * m * m * k + 2 * m * m * m);
    }
  }
  return flops < 0x1p53 ? (uint64_t)flops : UINT64_C(1) << 53;
}

static struct form form_of(const struct plan_builder *b, const struct rt_rule *r) {
  struct form f = {.rule = r, .is_matrix = ortho_of(r) != NULL};
  for (uint32_t i = 0; i < r->n_states; i++) {
    f.state_bytes += rt_storage_bytes(r->state[i].storage);
  }
  if (f.is_matrix && r->rows != 0 && r->cols != 0) {
    f.batch = batch_of(b, r);
    f.matrix_flops = flops_of(b, r);
  }
  return f;
}

// ---- sorting

struct form_key {
  struct str text;
  uint64_t hash;
  uint32_t rule;
};

static int compare_keys(const void *a, const void *b) {
  const struct form_key *x = a, *y = b;
  if (x->hash != y->hash) {
    return x->hash < y->hash ? -1 : 1;
  }
  int c = str_cmp(x->text, y->text);
  return c != 0 ? c : (x->rule > y->rule) - (x->rule < y->rule);
}

// Element-wise rules have one phase: what else there could be, no back end makes.
static bool check_rule(struct plan_builder *b, const struct rt_rule *r) {
  if (ortho_of(r) == NULL && (r->n_phases > 1 || temps_end(r, r->n_temps, 0, 1) != 0)) {
    *b->ice = str_fmt(b->arena, "rule `%s` has temporaries and no matrices", r->name);
    return false;
  }
  return true;
}

bool plan_forms(struct plan_builder *b) {
  const struct steprt_program *p = b->program;
  struct form_key *key = ARENA_ARRAY(b->arena, struct form_key, p->n_rules);
  b->form_of = ARENA_ARRAY(b->arena, uint32_t, p->n_rules);
  for (uint32_t i = 0; i < p->n_rules; i++) {
    if (!check_rule(b, &p->rule[i])) {
      return false;
    }
    struct str text = form_key(b->arena, &p->rule[i]);
    key[i] = (struct form_key){text, str_hash(text), i};
  }
  qsort(key, p->n_rules, sizeof *key, compare_keys);
  for (uint32_t i = 0; i < p->n_rules; i++) { // the first rule of each names it
    bool same = i != 0 && str_eq(key[i].text, key[i - 1].text);
    b->form_of[key[i].rule] = same ? b->form_of[key[i - 1].rule] : key[i].rule;
  }
  for (uint32_t i = 0; i < p->n_rules; i++) { // forms count in order of their first rules
    if (b->form_of[i] == i) {
      VEC_PUSH(b->arena, b->form, form_of(b, &p->rule[i]));
      b->form_of[i] = b->form.n - 1;
    } else {
      b->form_of[i] = b->form_of[b->form_of[i]];
    }
  }
  return true;
}
