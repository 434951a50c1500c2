// Whose memory is it, whose stream? A kernel that reads the host's or another device's memory fails long after the call
// that gave the pointer, and takes the context with it: so it is asked before.
#include "device/cuda/cuda.h"

// What the driver says about an address.
struct place {
  unsigned type; // CU_MEMORY_*; 0: not known to the driver
  int ordinal;
  uint64_t first, bytes; // of its allocation
};

static steprt_status ask(struct rt_device *d, uint64_t at, struct place *p) {
  int attribute[] = {CU_POINTER_MEMORY_TYPE, CU_POINTER_ORDINAL, CU_POINTER_RANGE_START,
                     CU_POINTER_RANGE_BYTES};
  void *value[] = {&p->type, &p->ordinal, &p->first, &p->bytes};
  *p = (struct place){.ordinal = -1};
  CU_TRY(d, pointer_attributes, sizeof value / sizeof *value, attribute, value, at);
  return STEPRT_OK;
}

// Parameters and gradients lie in few allocations: what was said about the last ones stands for their neighbours.
enum { KNOWN = 16 };
struct known {
  uint64_t first[KNOWN], bytes[KNOWN];
  uint32_t n, last;
};

static bool is_known(struct known *k, uint64_t at) {
  for (uint32_t i = 0; i < k->n; i++) {
    uint32_t j = (k->last + i) % k->n;
    if (at - k->first[j] < k->bytes[j]) {
      k->last = j;
      return true;
    }
  }
  return false;
}

static void remember(struct known *k, const struct place *p) {
  k->last = k->n < KNOWN ? k->n++ : (k->last + 1) % KNOWN;
  k->first[k->last] = p->first;
  k->bytes[k->last] = p->bytes;
}

static steprt_status check_memory(struct rt_device *d, struct known *k, const void *at,
                                  const char *what, uint32_t param) {
  struct place p;
  uint64_t address = (uint64_t)(uintptr_t)at;
  if (is_known(k, address)) {
    return STEPRT_OK;
  }
  RT_TRY(ask(d, address, &p));
  if (p.type == CU_MEMORY_DEVICE && p.ordinal == d->context.ordinal) {
    remember(k, &p);
    return STEPRT_OK;
  }
  const struct rt_shown name = rt_show(d->program->param[param].name);
  if (p.type == CU_MEMORY_DEVICE) {
    return rt_refuse(d->rt, STEPRT_BAD_ARGUMENT,
                     "the %s of '%s' (%p) lies on CUDA device %d; this handle runs on "
                     "device %d (%s)",
                     what, name.text, at, p.ordinal, d->context.ordinal, d->context.bus);
  }
  return rt_refuse(d->rt, STEPRT_BAD_ARGUMENT,
                   "the %s of '%s' (%p) is not memory of CUDA device %d (%s): %s", what,
                   name.text, at, d->context.ordinal, d->context.bus,
                   p.type == CU_MEMORY_HOST ? "it lies in pinned host memory"
                                            : "the driver does not know it");
}

static bool is_used(const struct rt_device *d, uint32_t param) {
  return d->program->param[param].active && d->program->param[param].numel != 0;
}

steprt_status cu_check_params(struct rt_device *d, void *const *params) {
  struct known k = {0};
  for (uint32_t i = 0; i < d->program->n_params; i++) {
    if (is_used(d, i)) {
      RT_TRY(check_memory(d, &k, params[i], "address", i));
    }
  }
  return STEPRT_OK;
}

steprt_status cu_check_grads(struct rt_device *d, const void *const *grads) {
  struct known k = {0};
  for (uint32_t i = 0; i < d->program->n_params; i++) {
    if (grads[i] == NULL || grads[i] == d->accepted[i] || !is_used(d, i)) {
      continue;
    }
    RT_TRY(check_memory(d, &k, grads[i], "gradient", i));
    d->accepted[i] = grads[i];
  }
  return STEPRT_OK;
}

// The default streams are those of whatever context is current: ours, inside a call.
steprt_status cu_check_stream(struct rt_device *d, void *stream) {
  void *context = NULL;
  if ((uintptr_t)stream <= CU_LAST_DEFAULT_STREAM) {
    return STEPRT_OK;
  }
  CU_TRY(d, stream_context, stream, &context);
  return context == d->context.context
             ? STEPRT_OK
             : rt_refuse(d->rt, STEPRT_BAD_ARGUMENT,
                         "the stream is not one of the primary context of CUDA device %d "
                         "(%s)",
                         d->context.ordinal, d->context.bus);
}
