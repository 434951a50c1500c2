// Copies over the link between pinned host memory and a GPU.
#include "device/cuda/link.h"

#include "core/handle.h"
#include "device/cuda/driver.h"
#include "device/cuda/probe.h"
#include "tier/host.h"

#include <stdlib.h>

enum { UP, DOWN, WAYS };

struct rt_link {
  struct cu_driver cu;
  int device;
  void *context; // NULL: not retained
  void *stream[WAYS];
  uint64_t at[WAYS]; // on the device
  uint64_t room;
  struct rt_slab slab; // one half per way
  bool pinned;
};

struct why {
  char *text;
  size_t n;
};
static steprt_status fail(const struct rt_link *l, int error, enum cu_call call,
                          struct why why) {
  rt_append(why.text, why.n, "%s: ", cu_symbol(call));
  cu_append_error(&l->cu, error, why.text, why.n);
  return error == CU_OUT_OF_MEMORY ? STEPRT_NO_MEMORY : STEPRT_FAILED;
}
#define TRY(l, field, ...)                                                               \
  do {                                                                                   \
    int try_error = (l)->cu.field(__VA_ARGS__);                                          \
    if (try_error != CU_SUCCESS) {                                                       \
      return fail((l), try_error, CU_CALL_##field, why);                                 \
    }                                                                                    \
  } while (0)

// ---- open

static steprt_status open_inside(struct rt_link *l, struct why why) {
  TRY(l, host_register, l->slab.at, l->slab.mapped, CU_HOST_PORTABLE);
  l->pinned = true;
  for (int i = 0; i < WAYS; i++) {
    TRY(l, stream_create, &l->stream[i], CU_NON_BLOCKING, 0);
    TRY(l, memory_alloc, &l->at[i], l->room);
  }
  return STEPRT_OK;
}

static steprt_status open_link(struct rt_link *l, int32_t ordinal, struct why why) {
  int count = 0;
  char bus[24] = "";
  void *popped;
  RT_TRY(cu_driver_open(&l->cu, why.text, why.n));
  TRY(l, device_count, &count);
  if (ordinal < 0 || ordinal >= count) {
    rt_append(why.text, why.n, "there is no CUDA device %d: the driver shows %d", ordinal,
              count);
    return STEPRT_BAD_ARGUMENT;
  }
  TRY(l, device_get, &l->device, ordinal);
  TRY(l, device_bus, bus, (int)sizeof bus, l->device);
  struct rt_slab_request r = {
      .bytes = WAYS * l->room, .node = rt_gpu_node("", bus), .not_for_children = true};
  RT_TRY(rt_slab_open(&r, &l->slab, why.text, why.n));
  TRY(l, context_retain, &l->context, l->device);
  TRY(l, context_push, l->context);
  steprt_status s = open_inside(l, why);
  (void)l->cu.context_pop(&popped);
  return s;
}

steprt_status rt_link_open(int32_t ordinal, uint64_t room, struct rt_link **out,
                           char *why, size_t n) {
  struct rt_link *l = calloc(1, sizeof *l);
  *out = NULL;
  why[0] = '\0';
  if (l == NULL) {
    rt_append(why, n, "out of memory");
    return STEPRT_NO_MEMORY;
  }
  l->room = room;
  steprt_status s = open_link(l, ordinal, (struct why){why, n});
  if (s != STEPRT_OK) {
    rt_link_close(l);
    return s;
  }
  *out = l;
  return STEPRT_OK;
}

void rt_link_close(struct rt_link *l) {
  void *popped;
  if (l == NULL) {
    return;
  }
  if (l->context != NULL && l->cu.context_push(l->context) == CU_SUCCESS) {
    for (int i = 0; i < WAYS; i++) {
      (void)(l->stream[i] != NULL && l->cu.stream_synchronize(l->stream[i]));
      (void)(l->at[i] != 0 && l->cu.memory_free(l->at[i]));
      (void)(l->stream[i] != NULL && l->cu.stream_destroy(l->stream[i]));
    }
    if (l->pinned) {
      (void)l->cu.host_unregister(l->slab.at);
    }
    (void)l->cu.context_pop(&popped);
  }
  if (l->context != NULL) {
    (void)l->cu.context_release(l->device);
  }
  rt_slab_close(&l->slab);
  free(l);
}

// ---- copies

// The two ways take turns, so that neither starts late.
static steprt_status copy_inside(struct rt_link *l, uint64_t *left, uint64_t piece,
                                 struct why why) {
  uint64_t at[WAYS] = {0};
  while (left[UP] != 0 || left[DOWN] != 0) {
    for (int way = 0; way < WAYS; way++) {
      uint64_t n = left[way] < piece ? left[way] : piece;
      at[way] = at[way] + n <= l->room ? at[way] : 0;
      char *host = (char *)l->slab.at + (uint64_t)way * l->room + at[way];
      if (n != 0 && way == UP) {
        TRY(l, load, l->at[UP] + at[UP], host, n, l->stream[UP]);
      } else if (n != 0) {
        TRY(l, store, host, l->at[DOWN] + at[DOWN], n, l->stream[DOWN]);
      }
      at[way] += n;
      left[way] -= n;
    }
  }
  TRY(l, stream_synchronize, l->stream[UP]);
  TRY(l, stream_synchronize, l->stream[DOWN]);
  return STEPRT_OK;
}

steprt_status rt_link_copy(struct rt_link *l, uint64_t up, uint64_t down, uint64_t piece,
                           char *text, size_t n) {
  struct why why = {text, n};
  uint64_t left[WAYS] = {up, down};
  void *popped;
  text[0] = '\0';
  TRY(l, context_push, l->context);
  steprt_status s =
      copy_inside(l, left, piece != 0 && piece < l->room ? piece : l->room, why);
  (void)l->cu.context_pop(&popped);
  return s;
}
