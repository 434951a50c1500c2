// Units partition the parameters that have a rule; chunks walk the units in order, and have their operations together.
#include "plan/plan_check.h"

static steprt_status check_unit(struct plan_check *c, uint32_t u, uint32_t first,
                                bool *seen) {
  const struct rt_plan *p = c->plan;
  const struct rt_unit *unit = &p->unit[u];
  if (unit->first != first || unit->n == 0 || unit->n > p->n_unit_params - first) {
    return rt_plan_bad(
        c, "unit %u: its parameters do not follow those of the unit before", u);
  }
  if (unit->bytes > RT_MAX_SIZE) {
    return rt_plan_bad(c, "unit %u: its bytes are beyond 2^53", u);
  }
  for (uint32_t k = unit->first; k < unit->first + unit->n; k++) {
    uint32_t i = p->unit_param[k];
    if (i >= p->n_params) {
      return rt_plan_bad(c, "unit %u: param %u does not exist", u, i);
    }
    if (p->param[i].unit != u || seen[i]) {
      return rt_plan_bad(
          c, "unit %u: param %u '%s' %s", u, i, rt_show(p->param[i].name).text,
          p->param[i].unit == u ? "stands in it twice" : "says that it is not in it");
    }
    seen[i] = true;
  }
  return STEPRT_OK;
}

static steprt_status check_partition(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  bool *seen = rt_pool_alloc(&c->pool, p->n_params, sizeof *seen);
  uint32_t first = 0;
  if (seen == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t u = 0; u < p->n_units; u++) {
    RT_TRY(check_unit(c, u, first, seen));
    first += p->unit[u].n;
  }
  if (first != p->n_unit_params) {
    return rt_plan_bad(c, "%u params stand in no unit's list", p->n_unit_params - first);
  }
  for (uint32_t i = 0; i < p->n_params; i++) {
    if (p->param[i].unit != RT_NO_ID && !seen[i]) {
      return rt_plan_bad(c, "param %u '%s': its unit %u does not list it", i,
                         rt_show(p->param[i].name).text, p->param[i].unit);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_chunk(struct plan_check *c, uint32_t i, uint32_t *unit_end,
                                 uint32_t *op_end) {
  const struct rt_plan *p = c->plan;
  const struct rt_chunk *k = &p->chunk[i];
  bool follows = k->first_unit == *unit_end || (i > 0 && k->first_unit + 1 == *unit_end);
  if (!follows || k->n_units == 0 || k->n_units > p->n_units - k->first_unit) {
    return rt_plan_bad(c, "chunk %u: its units do not follow those of the chunk before",
                       i);
  }
  if (k->first_op != *op_end || k->n_ops > p->n_ops - *op_end) {
    return rt_plan_bad(c, "chunk %u: its ops do not follow those of the chunk before", i);
  }
  if (k->slot != RT_NO_ID && k->slot >= p->n_slots) {
    return rt_plan_bad(c, "chunk %u: slot %u does not exist", i, k->slot);
  }
  if (k->bytes > p->slot_bytes && k->slot != RT_NO_ID) {
    return rt_plan_bad(c, "chunk %u: its %llu bytes do not fit into a slot of %llu", i,
                       (unsigned long long)k->bytes, (unsigned long long)p->slot_bytes);
  }
  if (k->slot == RT_NO_ID && k->bytes > 0) {
    return rt_plan_bad(c, "chunk %u: it streams bytes and has no slot", i);
  }
  *unit_end = k->first_unit + k->n_units;
  *op_end = k->first_op + k->n_ops;
  return STEPRT_OK;
}

// By unit: the least order of its parameters.
static uint64_t *orders_of_units(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  uint64_t *order = rt_pool_alloc(&c->pool, p->n_units, sizeof *order);
  for (uint32_t u = 0; order != NULL && u < p->n_units; u++) {
    order[u] = UINT64_MAX;
    for (uint32_t m = p->unit[u].first; m < p->unit[u].first + p->unit[u].n; m++) {
      uint64_t mine = p->param[p->unit_param[m]].order;
      order[u] = mine < order[u] ? mine : order[u];
    }
  }
  return order;
}

// Parameters are waited for by the order of their chunk.
static steprt_status check_order(struct plan_check *c, uint32_t i,
                                 const uint64_t *order) {
  const struct rt_chunk *k = &c->plan->chunk[i];
  uint64_t least = UINT64_MAX;
  for (uint32_t u = k->first_unit; u < k->first_unit + k->n_units; u++) {
    least = order[u] < least ? order[u] : least;
  }
  return k->order == least
             ? STEPRT_OK
             : rt_plan_bad(c, "chunk %u: its order is %llu, that of its parameters %llu",
                           i, (unsigned long long)k->order, (unsigned long long)least);
}

// The chunks that hold a unit are those that it says.
static steprt_status check_chunks_of_units(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  uint32_t *n = rt_pool_alloc(&c->pool, p->n_units, sizeof *n);
  if (n == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t i = 0; i < p->n_chunks; i++) {
    const struct rt_chunk *k = &p->chunk[i];
    for (uint32_t u = k->first_unit; u < k->first_unit + k->n_units; u++) {
      if (i < p->unit[u].first_chunk || i - p->unit[u].first_chunk != n[u]) {
        return rt_plan_bad(c, "unit %u: chunk %u holds it; it says others", u, i);
      }
      n[u]++;
    }
  }
  for (uint32_t u = 0; u < p->n_units; u++) {
    if (n[u] != p->unit[u].n_chunks) {
      return rt_plan_bad(c, "unit %u: %u chunks hold it, not %u", u, n[u],
                         p->unit[u].n_chunks);
    }
  }
  return STEPRT_OK;
}

steprt_status rt_plan_check_units(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  uint32_t unit_end = 0, op_end = p->n_begin;
  RT_TRY(check_partition(c));
  if (p->n_begin > p->n_ops) {
    return rt_plan_bad(c, "%u ops of begin among %u", p->n_begin, p->n_ops);
  }
  uint64_t *order = orders_of_units(c);
  if (order == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t i = 0; i < p->n_chunks; i++) {
    RT_TRY(check_chunk(c, i, &unit_end, &op_end));
    RT_TRY(check_order(c, i, order));
  }
  if (unit_end != p->n_units || op_end != p->n_ops) {
    return rt_plan_bad(c, "the chunks end at unit %u and op %u, the plan at %u and %u",
                       unit_end, op_end, p->n_units, p->n_ops);
  }
  return check_chunks_of_units(c);
}
