// bind: the caller's parameters. All of them are checked before any state is made.
#include "core/handle.h"

#include <stdlib.h>

// Of this rank's shard; 0 where the parameter is not updated here.
static uint64_t bytes_of(const struct steprt *rt, uint32_t i) {
  const struct rt_param *v = &rt->program->param[i];
  return v->active ? rt->plan->param[i].numel * rt_storage_bytes(v->storage) : 0;
}

static steprt_status check_address(struct steprt *rt, uint32_t i, const void *at) {
  const struct rt_param *v = &rt->program->param[i];
  if (!at) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameter '%s' has no address",
                     rt_show(v->name).text);
  }
  if ((uintptr_t)at % rt_storage_bytes(v->storage)) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT,
                     "parameter '%s': its address %p is not aligned to its elements",
                     rt_show(v->name).text, at);
  }
  return STEPRT_OK;
}

static steprt_status check_size(struct steprt *rt, uint32_t i, const uint64_t *bytes) {
  const struct rt_param *v = &rt->program->param[i];
  if (bytes && v->active && bytes[i] != bytes_of(rt, i)) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameter '%s' has %llu bytes, not %llu",
                     rt_show(v->name).text, (unsigned long long)bytes[i],
                     (unsigned long long)bytes_of(rt, i));
  }
  return STEPRT_OK;
}

struct span {
  uintptr_t begin, end;
  uint32_t param;
};

static int by_address(const void *a, const void *b) {
  const struct span *x = a, *y = b;
  return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                              : (x->param > y->param) - (x->param < y->param);
}

// Two parameters in one place would be updated twice.
static steprt_status check_overlap(struct steprt *rt, struct span *span, uint32_t n) {
  qsort(span, n, sizeof *span, by_address);
  for (uint32_t i = 1; i < n; i++) {
    if (span[i].begin < span[i - 1].end) {
      const struct rt_param *param = rt->program->param;
      return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameters '%s' and '%s' share memory",
                       rt_show(param[span[i - 1].param].name).text,
                       rt_show(param[span[i].param].name).text);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_params(struct steprt *rt, void *const *params,
                                  const uint64_t *bytes) {
  uint32_t n = 0;
  steprt_status s = STEPRT_OK;
  struct span *span = calloc((size_t)rt->program->n_params + 1, sizeof *span);
  if (!span) {
    return rt_refuse(rt, STEPRT_NO_MEMORY, "out of memory");
  }
  for (uint32_t i = 0; i < rt->program->n_params && !s; i++) {
    uint64_t size = bytes_of(rt, i);
    s = check_size(rt, i, bytes);
    if (size > 0 && !s) {
      uintptr_t at = (uintptr_t)params[i];
      span[n++] = (struct span){at, at + size, i};
      s = check_address(rt, i, params[i]);
    }
  }
  s = s ? s : check_overlap(rt, span, n);
  free(span);
  return s;
}

static steprt_status bind(struct steprt *rt, void *const *params, const uint64_t *bytes) {
  RT_TRY(rt_expect(rt, RT_MODE_OPEN, RT_MODE_OPEN, "bind"));
  if (!params) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "bind: no parameters");
  }
  RT_TRY(check_params(rt, params, bytes));
  RT_TRY(rt->class->bind(rt->device, params));
  rt->report = (struct steprt_report){.size = sizeof rt->report, .clip_factor = 1};
  rt->measured = rt->waited = true;
  rt->mode = RT_MODE_BOUND;
  return STEPRT_OK;
}

steprt_status steprt_bind(struct steprt *rt, void *const *params) {
  return bind(rt, params, NULL);
}

steprt_status steprt_bind_sized(struct steprt *rt, void *const *params,
                                const uint64_t *bytes) {
  if (rt && !bytes) {
    RT_TRY(rt_expect(rt, RT_MODE_OPEN, RT_MODE_OPEN, "bind"));
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "bind: no sizes");
  }
  return bind(rt, params, bytes);
}
