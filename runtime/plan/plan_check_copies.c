// Copies between the host slab and the slots: within both, none twice, and only states of their own chunk.
#include "plan/plan_check.h"

#include "plan/names.h"

#include <stdlib.h>

// A state on the host, or a copy of an operation, by its place in the slab.
struct host_range {
  uint64_t begin, end;
  uint32_t unit;          // of a state
  const struct rt_op *op; // of a copy
};
struct host_ranges {
  struct host_range *v;
  uint32_t n;
};

static const char *fault_of_copy(const struct rt_plan *p, const struct rt_op *op,
                                 const struct rt_copy *copy) {
  const struct rt_chunk *k = &p->chunk[op->chunk];
  uint64_t slot = k->slot * p->slot_bytes;
  if (copy->unit < k->first_unit || copy->unit - k->first_unit >= k->n_units) {
    return "its unit is not in the chunk";
  }
  if (copy->bytes == 0 || !rt_within(copy->host, copy->bytes, p->host_bytes)) {
    return "it has no bytes, or lies beyond the slab";
  }
  return copy->arena >= slot && rt_within(copy->arena - slot, copy->bytes, p->slot_bytes)
             ? NULL
             : "it lies outside of the chunk's slot";
}

// The copies of that kind among operations of one chunk. In a step they are all that the chunk streams.
static steprt_status check_chunk(struct plan_check *c, const struct rt_op *op, uint32_t n,
                                 uint32_t kind, struct host_ranges *copies) {
  const struct rt_plan *p = c->plan;
  uint64_t bytes = 0, streams = p->chunk[op->chunk].bytes;
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t r = op[i].first; op[i].kind == kind && r < op[i].first + op[i].n; r++) {
      const struct rt_copy *copy = &p->copy[r];
      const char *fault = fault_of_copy(p, &op[i], copy);
      if (fault != NULL) {
        return rt_op_bad(c, &op[i], "copy %u: %s", r - op[i].first, fault);
      }
      if (__builtin_add_overflow(bytes, copy->bytes, &bytes)) {
        return rt_op_bad(c, &op[i], "its copies overflow");
      }
      copies->v[copies->n++] =
          (struct host_range){copy->host, copy->host + copy->bytes, copy->unit, &op[i]};
    }
  }
  return bytes == streams || rt_is_init(p, op)
             ? STEPRT_OK
             : rt_plan_bad(
                   c, "chunk %u: it says that it streams %llu bytes; its %ss copy %llu",
                   op->chunk, (unsigned long long)streams, rt_op_names[kind],
                   (unsigned long long)bytes);
}

static int by_begin(const void *a, const void *b) {
  const struct host_range *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static steprt_status find_states(struct plan_check *c, struct host_ranges *states) {
  const struct rt_plan *p = c->plan;
  states->v = rt_pool_alloc(&c->pool, p->n_states, sizeof *states->v);
  if (states->v == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t i = 0; i < p->n_params; i++) {
    const struct rt_plan_param *v = &p->param[i];
    for (uint32_t s = v->first_state; s < v->first_state + v->n_states; s++) {
      const struct rt_state_home *h = &p->state[s];
      if (h->at.space == RT_AT_HOST && h->bytes > 0) {
        states->v[states->n++] =
            (struct host_range){h->at.offset, h->at.offset + h->bytes, v->unit, NULL};
      }
    }
  }
  qsort(states->v, states->n, sizeof *states->v, by_begin);
  return STEPRT_OK;
}

// Both lists are sorted and free of overlaps: one walk.
static steprt_status check_owners(struct plan_check *c, const struct host_ranges *copies,
                                  const struct host_ranges *states) {
  uint32_t s = 0;
  for (uint32_t i = 0; i < copies->n; i++) {
    const struct host_range *copy = &copies->v[i];
    const struct rt_chunk *k = &c->plan->chunk[copy->op->chunk];
    if (i > 0 && copy->begin < copies->v[i - 1].end) {
      return rt_op_bad(c, copy->op,
                       "bytes of the slab at %llu are copied twice in a step",
                       (unsigned long long)copy->begin);
    }
    while (s < states->n && states->v[s].end <= copy->begin) {
      s++;
    }
    for (uint32_t j = s; j < states->n && states->v[j].begin < copy->end; j++) {
      uint32_t unit = states->v[j].unit;
      if (unit < k->first_unit || unit - k->first_unit >= k->n_units) {
        return rt_op_bad(c, copy->op,
                         "a copy at %llu of the slab holds a state of unit %u",
                         (unsigned long long)copy->begin, unit);
      }
    }
  }
  return STEPRT_OK;
}

static steprt_status check_list(struct plan_check *c, const struct rt_op *op, uint32_t n,
                                uint32_t kind, const struct host_ranges *states) {
  struct host_ranges copies = {0};
  uint64_t most = 0;
  for (uint32_t i = 0; i < n; i++) {
    most += op[i].kind == kind ? op[i].n : 0;
  }
  copies.v = rt_pool_alloc(&c->pool, most, sizeof *copies.v);
  if (copies.v == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t i = 0, end; i < n; i = end) {
    end = rt_chunk_end(op, i, n);
    RT_TRY(check_chunk(c, &op[i], end - i, kind, &copies));
  }
  qsort(copies.v, copies.n, sizeof *copies.v, by_begin);
  return check_owners(c, &copies, states);
}

steprt_status rt_plan_check_copies(struct plan_check *c) {
  static const uint32_t kinds[] = {RT_OP_LOAD, RT_OP_STORE};
  const struct rt_plan *p = c->plan;
  struct host_ranges states = {0};
  RT_TRY(find_states(c, &states));
  for (int k = 0; k < 2; k++) {
    RT_TRY(check_list(c, p->init, p->n_init, kinds[k], &states));
    if (p->n_begin < p->n_ops) {
      RT_TRY(check_list(c, &p->op[p->n_begin], p->n_ops - p->n_begin, kinds[k], &states));
    }
  }
  return STEPRT_OK;
}
