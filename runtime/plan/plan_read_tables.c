// plan.json, read: parameters with their states, kernels, units and chunks.
#include "plan/names.h"
#include "plan/plan_read.h"
#include "plan/program_code.h"

static bool read_u64s(struct rt_reader *r, const struct json *obj, const char *key,
                      uint64_t *out, uint32_t *n) {
  const struct json *list = rt_reader_get(r, obj, key, JSON_ARRAY);
  if (list == NULL) {
    return false;
  }
  *n = json_size(list);
  if (*n > 8) {
    return rt_reader_fail(r, list, "`%s` has more than 8 dimensions", key);
  }
  for (uint32_t i = 0; i < *n; i++) {
    if (!rt_reader_u64(r, json_item(list, i), key, UINT64_MAX, &out[i])) {
      return false;
    }
  }
  return true;
}

static bool read_state(struct rt_reader *r, const struct json *v,
                       struct rt_state_home *s) {
  return ((json_kind(v) == JSON_ARRAY && json_size(v) == 4) ||
          rt_reader_fail(r, v, "a state is [name, storage, address, bytes]")) &&
         rt_reader_string(r, json_item(v, 0), "state", &s->name) &&
         rt_reader_name(r, json_item(v, 1), "storage", rt_storage_names, RT_N_STORAGES,
                        &s->storage) &&
         rt_plan_read_at(r, json_item(v, 2), "address", &s->at) &&
         rt_reader_u64(r, json_item(v, 3), "bytes", UINT64_MAX, &s->bytes);
}

static bool read_param(struct plan_reader *p, const struct json *v,
                       struct rt_plan_param *out, struct rt_state_home *state) {
  struct rt_reader *r = &p->r;
  uint32_t n_start;
  if (!rt_fields_read(r, v, &rt_param_fields, "param shape start states", out) ||
      !read_u64s(r, v, "shape", out->dim, &out->rank) ||
      !read_u64s(r, v, "start", out->start, &n_start)) {
    return false;
  }
  if (n_start != out->rank) {
    return rt_reader_fail(r, v, "`start` has not as many dimensions as `shape`");
  }
  const struct json *states = rt_reader_get(r, v, "states", JSON_ARRAY);
  if (states == NULL) {
    return false;
  }
  out->n_states = json_size(states);
  for (uint32_t i = 0; i < out->n_states; i++) {
    if (!read_state(r, json_item(states, i), &state[i])) {
      return false;
    }
  }
  return true;
}

bool rt_plan_read_params(struct plan_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(&p->r, root, "params", sizeof *p->plan->param, &list, &items,
                      &p->plan->n_params)) {
    return false;
  }
  struct rt_plan_param *param = items;
  uint32_t n = rt_plan_count(list, "states"), at = 0;
  struct rt_state_home *state = rt_pool_alloc(p->r.pool, n, sizeof *state);
  if (state == NULL) {
    return rt_reader_no_memory(&p->r);
  }
  for (uint32_t i = 0; i < p->plan->n_params; i++) {
    param[i].first_state = at;
    if (!rt_reader_item(&p->r, json_item(list, i), "param", i) ||
        !read_param(p, json_item(list, i), &param[i], &state[at])) {
      return false;
    }
    at += param[i].n_states;
  }
  p->plan->param = param;
  p->plan->state = state;
  p->plan->n_states = n;
  return true;
}

bool rt_plan_read_kernels(struct plan_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  struct rt_reader *r = &p->r;
  if (!rt_reader_list(r, root, "kernels", sizeof *p->plan->kernel, &list, &items,
                      &p->plan->n_kernels)) {
    return false;
  }
  struct rt_kernel_info *k = items;
  for (uint32_t i = 0; i < p->plan->n_kernels; i++) {
    const struct json *v = json_item(list, i);
    if (!rt_reader_item(r, v, "kernel", i) ||
        !rt_fields_read(r, v, &rt_kernel_fields, "kernel pointers", &k[i]) ||
        !rt_pointers_read(r, v, &k[i].access, &k[i].n_ptrs)) {
      return false;
    }
  }
  p->plan->kernel = k;
  return true;
}

bool rt_plan_read_units(struct plan_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  struct rt_reader *r = &p->r;
  if (!rt_reader_list(r, root, "units", sizeof *p->plan->unit, &list, &items,
                      &p->plan->n_units)) {
    return false;
  }
  struct rt_unit *unit = items;
  uint32_t at = 0, n = rt_plan_count(list, "params");
  uint32_t *member = rt_pool_alloc(r->pool, n, sizeof *member);
  if (member == NULL) {
    return rt_reader_no_memory(r);
  }
  for (uint32_t i = 0; i < p->plan->n_units; i++) {
    const struct json *v = json_item(list, i), *params;
    if (!rt_reader_item(r, v, "unit", i) ||
        !rt_fields_read(r, v, &rt_unit_fields, "unit params", &unit[i]) ||
        (params = rt_reader_get(r, v, "params", JSON_ARRAY)) == NULL) {
      return false;
    }
    unit[i].first = at;
    unit[i].n = json_size(params);
    for (uint32_t k = 0; k < unit[i].n; k++, at++) {
      if (!rt_reader_u32(r, json_item(params, k), "params", &member[at])) {
        return false;
      }
    }
  }
  p->plan->unit = unit;
  p->plan->unit_param = member;
  p->plan->n_unit_params = n;
  return true;
}

bool rt_plan_read_chunks(struct plan_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  struct rt_reader *r = &p->r;
  if (!rt_reader_list(r, root, "chunks", sizeof *p->plan->chunk, &list, &items,
                      &p->plan->n_chunks)) {
    return false;
  }
  struct rt_chunk *chunk = items;
  for (uint32_t i = 0; i < p->plan->n_chunks; i++) {
    if (!rt_reader_item(r, json_item(list, i), "chunk", i) ||
        !rt_fields_read(r, json_item(list, i), &rt_chunk_fields, "chunk", &chunk[i])) {
      return false;
    }
  }
  p->plan->chunk = chunk;
  return true;
}
