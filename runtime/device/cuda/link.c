// Copies over the link between pinned host memory and a GPU.
#include "device/cuda/link_int.h"

#include "core/handle.h"
#include "device/cuda/probe.h"

#include <stdlib.h>

steprt_status link_fail(const struct rt_link *l, int error, enum cu_call call,
                        struct why why) {
  rt_append(why.text, why.n, "%s: ", cu_symbol(call));
  cu_append_error(&l->cu, error, why.text, why.n);
  return error == CU_OUT_OF_MEMORY ? STEPRT_NO_MEMORY : STEPRT_FAILED;
}

// ---- open

static steprt_status open_inside(struct rt_link *l, struct why why) {
  LINK_TRY(l, host_register, l->slab.at, l->slab.mapped, CU_HOST_PORTABLE);
  l->pinned = true;
  for (int i = 0; i < LINK_WAYS; i++) {
    struct cu_way *w = &l->way[i];
    LINK_TRY(l, stream_create, &w->stream, CU_NON_BLOCKING, 0);
    LINK_TRY(l, event_create, &w->begun, 0);
    LINK_TRY(l, event_create, &w->ended, 0);
    LINK_TRY(l, memory_alloc, &w->at, l->room);
  }
  return STEPRT_OK;
}

static steprt_status open_link(struct rt_link *l, int32_t ordinal, struct why why) {
  int count = 0;
  char bus[24] = "";
  void *popped;
  RT_TRY(cu_driver_open(&l->cu, why.text, why.n));
  LINK_TRY(l, device_count, &count);
  if (ordinal < 0 || ordinal >= count) {
    rt_append(why.text, why.n, "there is no CUDA device %d: the driver shows %d", ordinal,
              count);
    return STEPRT_BAD_ARGUMENT;
  }
  LINK_TRY(l, device_get, &l->device, ordinal);
  LINK_TRY(l, device_bus, bus, (int)sizeof bus, l->device);
  struct rt_slab_request r = {.bytes = LINK_WAYS * l->room,
                              .node = rt_gpu_node("", bus),
                              .not_for_children = true};
  RT_TRY(rt_slab_open(&r, &l->slab, why.text, why.n));
  LINK_TRY(l, context_retain, &l->context, l->device);
  LINK_TRY(l, context_push, l->context);
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
    for (int i = 0; i < LINK_WAYS; i++) {
      const struct cu_way *w = &l->way[i];
      (void)(w->stream != NULL && l->cu.stream_synchronize(w->stream));
      (void)(w->at != 0 && l->cu.memory_free(w->at));
      (void)(w->begun != NULL && l->cu.event_destroy(w->begun));
      (void)(w->ended != NULL && l->cu.event_destroy(w->ended));
      (void)(w->stream != NULL && l->cu.stream_destroy(w->stream));
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

steprt_status link_enqueue(struct rt_link *l, int way, uint64_t at, uint64_t n,
                           struct why why) {
  const struct cu_way *w = &l->way[way];
  if (way == LINK_UP) {
    LINK_TRY(l, load, w->at + at, link_host(l, way) + at, n, w->stream);
  } else {
    LINK_TRY(l, store, link_host(l, way) + at, w->at + at, n, w->stream);
  }
  return STEPRT_OK;
}

// The two ways take turns, so that neither starts late.
static steprt_status copy_inside(struct rt_link *l, uint64_t *left, uint64_t piece,
                                 struct why why) {
  uint64_t at[LINK_WAYS] = {0};
  while (left[LINK_UP] != 0 || left[LINK_DOWN] != 0) {
    for (int way = 0; way < LINK_WAYS; way++) {
      uint64_t n = left[way] < piece ? left[way] : piece;
      at[way] = at[way] + n <= l->room ? at[way] : 0;
      RT_TRY(n != 0 ? link_enqueue(l, way, at[way], n, why) : STEPRT_OK);
      at[way] += n;
      left[way] -= n;
    }
  }
  LINK_TRY(l, stream_synchronize, l->way[LINK_UP].stream);
  LINK_TRY(l, stream_synchronize, l->way[LINK_DOWN].stream);
  return STEPRT_OK;
}

steprt_status rt_link_copy(struct rt_link *l, uint64_t up, uint64_t down, uint64_t piece,
                           char *text, size_t n) {
  struct why why = {text, n};
  uint64_t left[LINK_WAYS] = {up, down};
  void *popped;
  text[0] = '\0';
  LINK_TRY(l, context_push, l->context);
  steprt_status s =
      copy_inside(l, left, piece != 0 && piece < l->room ? piece : l->room, why);
  (void)l->cu.context_pop(&popped);
  return s;
}
