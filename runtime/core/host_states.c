// Host states: which double belongs to which parameter's slot.
#include "core/tables.h"

// The first rule of the same use line: its parameters keep the line's group states.
static uint32_t line_of(const struct steprt_program *p, uint32_t rule) {
  for (uint32_t i = 0; i < rule; i++) {
    if (p->rule[i].use == p->rule[rule].use) {
      return i;
    }
  }
  return rule;
}

// The k-th group state of a rule; UINT32_MAX when it has fewer.
static uint32_t group_slot(const struct rt_rule *r, uint32_t k) {
  for (uint32_t s = 0; s < r->n_host_states; s++) {
    if (r->host_is_group[s] && k-- == 0) {
      return s;
    }
  }
  return UINT32_MAX;
}

static uint32_t n_group_states(const struct rt_rule *r) {
  uint32_t n = 0;
  for (uint32_t s = 0; s < r->n_host_states; s++) {
    n += r->host_is_group[s] != 0;
  }
  return n;
}

// Rules of one use line (it has one per shape) share their group states in order: they must have the same ones.
static steprt_status check_groups(struct steprt *rt) {
  const struct steprt_program *p = rt->program;
  for (uint32_t i = 0; i < p->n_rules; i++) {
    uint32_t n = n_group_states(&p->rule[i]);
    const struct rt_rule *r = &p->rule[i];
    const struct rt_rule *line = n > 0 ? &p->rule[line_of(p, i)] : r;
    bool same = n_group_states(line) == n;
    for (uint32_t k = 0; k < n && same; k++) {
      same = rt_same_double(line->host_init[group_slot(line, k)],
                            r->host_init[group_slot(r, k)]);
    }
    if (!same) {
      return rt_refuse(rt, STEPRT_BAD_PROGRAM,
                       "rules '%s' and '%s' of one use line differ in group states",
                       rt_show(line->name).text, rt_show(r->name).text);
    }
  }
  return STEPRT_OK;
}

// Where each rule's group states start, and the length of the part of `host` that they take.
static uint64_t place_groups(const struct steprt_program *p, uint64_t *first_group) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < p->n_rules; i++) {
    uint32_t groups = n_group_states(&p->rule[i]);
    uint32_t line = groups > 0 ? line_of(p, i) : i;
    first_group[i] = line < i ? first_group[line] : n;
    n += line < i ? 0 : groups;
  }
  return n;
}

// Where each parameter's slots start; returns how many there are.
static uint64_t place_slots(const struct steprt_program *p, uint64_t *first) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < p->n_params; i++) {
    first[i] = n;
    n += p->param[i].active ? p->rule[p->param[i].rule].n_host_states : 0;
  }
  return n;
}

// Gives every slot its index, groups first, and the state its initial value.
static void place_states(struct steprt *rt, const uint64_t *first_group, uint64_t n) {
  const struct steprt_program *p = rt->program;
  for (uint32_t i = 0; i < p->n_params; i++) {
    if (!p->param[i].active) {
      continue;
    }
    const struct rt_rule *r = &p->rule[p->param[i].rule];
    uint64_t group = first_group[p->param[i].rule];
    for (uint32_t s = 0; s < r->n_host_states; s++) {
      uint64_t at = r->host_is_group[s] ? group++ : n++;
      rt->host_index[rt->first_host[i] + s] = at;
      rt->host[at] = rt->host_next[at] = r->host_init[s];
    }
  }
  rt->n_host = n;
}

steprt_status rt_make_host_states(struct steprt *rt) {
  const struct steprt_program *p = rt->program;
  struct rt_memory *m = &rt->memory;
  steprt_status status = check_groups(rt);
  if (status) {
    return status;
  }
  uint64_t *first_group = rt_memory_alloc(m, p->n_rules, sizeof *first_group);
  rt->first_host = rt_memory_alloc(m, p->n_params, sizeof *rt->first_host);
  if (!first_group || !rt->first_host) {
    return STEPRT_NO_MEMORY;
  }
  uint64_t n_groups = place_groups(p, first_group);
  uint64_t n_slots = place_slots(p, rt->first_host), most = 0;
  for (uint32_t i = 0; i < p->n_rules; i++) {
    most = p->rule[i].n_host_states > most ? p->rule[i].n_host_states : most;
  }
  rt->host_index = rt_memory_alloc(m, n_slots, sizeof *rt->host_index);
  rt->host = rt_memory_alloc(m, n_groups + n_slots, sizeof *rt->host);
  rt->host_next = rt_memory_alloc(m, n_groups + n_slots, sizeof *rt->host_next);
  rt->slot = rt_memory_alloc(m, most, sizeof *rt->slot);
  rt->slot_next = rt_memory_alloc(m, most, sizeof *rt->slot_next);
  if (!rt->host_index || !rt->host || !rt->host_next || !rt->slot || !rt->slot_next) {
    return STEPRT_NO_MEMORY;
  }
  place_states(rt, first_group, n_groups);
  return STEPRT_OK;
}
