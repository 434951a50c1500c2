// The entry points for streams, events, memory and copies.
#include "fake_cuda_int.h"

#include <stdlib.h>
#include <string.h>

// ---- streams and events

int fake_stream_create(void **stream, unsigned flags, int priority) {
  (void)priority;
  ENTER_CONTEXT("cuStreamCreateWithPriority");
  if (flags != 1) {
    return 1;
  }
  *stream = fake_new_stream(fake_current());
  return 0;
}

int fake_stream_destroy(void *stream) {
  fake_drop_stream(stream);
  ENTER_CONTEXT("cuStreamDestroy");
  return 0;
}

int fake_stream_synchronize(void *stream) {
  ENTER_CONTEXT("cuStreamSynchronize");
  fake_run_stream(fake_stream_of(stream, fake_current()));
  return fake.sticky;
}

int fake_stream_wait(void *stream, void *event, unsigned flags) {
  const struct fake_event *e = event;
  (void)flags;
  ENTER_CONTEXT("cuStreamWaitEvent");
  if (e->recorded != e->done) {
    struct fake_task t = {.kind = FAKE_WAIT, .event = event, .count = e->recorded};
    fake_enqueue(fake_stream_of(stream, fake_current()), &t);
  }
  return 0;
}

int fake_stream_context(void *stream, void **context) {
  ENTER("cuStreamGetCtx");
  *context = &fake.context[((struct fake_stream *)stream)->device];
  return 0;
}

int fake_event_create(void **event, unsigned flags) {
  ENTER_CONTEXT("cuEventCreate");
  struct fake_event *e = calloc(1, sizeof *e);
  e->timed = flags == 0;
  fake.live.events++;
  *event = e;
  return 0;
}

int fake_event_destroy(void *event) {
  struct fake_event *e = event;
  fake.live.events--;
  if (fake.sticky == 0 && e->recorded != e->done) {
    abort(); // legal, but ours waits for its lanes first
  }
  free(e);
  ENTER_CONTEXT("cuEventDestroy");
  return 0;
}

int fake_event_record(void *event, void *stream) {
  struct fake_event *e = event;
  ENTER_CONTEXT("cuEventRecord");
  struct fake_task t = {.kind = FAKE_RECORD, .event = e, .count = ++e->recorded};
  fake_enqueue(fake_stream_of(stream, fake_current()), &t);
  return 0;
}

int fake_event_query(void *event) {
  const struct fake_event *e = event;
  ENTER_CONTEXT("cuEventQuery");
  return e->recorded == e->done ? 0 : 600;
}

int fake_event_synchronize(void *event) {
  ENTER_CONTEXT("cuEventSynchronize");
  fake_run_event(event);
  return fake.sticky;
}

int fake_event_elapsed(float *ms, void *start, void *end) {
  const struct fake_event *a = start, *b = end;
  ENTER("cuEventElapsedTime");
  if (!a->timed || !b->timed || a->recorded == 0 || b->recorded == 0) {
    return 400;
  }
  if (a->recorded != a->done || b->recorded != b->done) {
    return 600;
  }
  *ms = (float)((double)b->time - (double)a->time);
  return 0;
}

// ---- memory

int fake_memory_info(size_t *left, size_t *total) {
  ENTER_CONTEXT("cuMemGetInfo");
  *left = fake.free;
  *total = (size_t)1 << 40;
  return 0;
}

int fake_memory_alloc(uint64_t *at, size_t bytes) {
  ENTER_CONTEXT("cuMemAlloc");
  if (bytes == 0) {
    return 1;
  }
  void *p = NULL;
  if (posix_memalign(&p, 512, bytes) != 0) {
    return 2;
  }
  memset(p, 0xff, bytes); // NaNs: memory of a device is not zeroed
  fake_add_range(p, bytes, FAKE_DEVICE, fake_current());
  fake.live.allocations++;
  *at = (uint64_t)(uintptr_t)p;
  return 0;
}

int fake_memory_free(uint64_t at) {
  void *p = (void *)(uintptr_t)at;
  fake_drop_range(p);
  free(p);
  fake.live.allocations--;
  ENTER_CONTEXT("cuMemFree");
  return 0;
}

int fake_memory_set(uint64_t at, unsigned char value, size_t bytes, void *stream) {
  ENTER_CONTEXT("cuMemsetD8Async");
  struct fake_task t = {
      .kind = FAKE_SET, .to = (void *)(uintptr_t)at, .value = value, .bytes = bytes};
  fake_enqueue(fake_stream_of(stream, fake_current()), &t);
  return 0;
}

int fake_host_alloc(void **at, size_t bytes, unsigned flags) {
  (void)flags;
  ENTER_CONTEXT("cuMemHostAlloc");
  if (posix_memalign(at, 4096, bytes) != 0) {
    return 2;
  }
  fake_add_range(*at, bytes, FAKE_HOST, fake_current());
  fake.live.allocations++;
  return 0;
}

int fake_host_free(void *at) {
  fake_drop_range(at);
  free(at);
  fake.live.allocations--;
  ENTER_CONTEXT("cuMemFreeHost");
  return 0;
}

int fake_host_register(void *at, size_t bytes, unsigned flags) {
  (void)flags;
  ENTER_CONTEXT("cuMemHostRegister");
  if ((uintptr_t)at % 4096 != 0 || bytes % 4096 != 0) {
    return 1;
  }
  fake_add_range(at, bytes, FAKE_HOST, fake_current());
  fake.live.pinned++;
  return 0;
}

int fake_host_unregister(void *at) {
  fake_drop_range(at);
  fake.live.pinned--;
  ENTER_CONTEXT("cuMemHostUnregister");
  return 0;
}

// Returns when the bytes are taken, not when they are there: only the default stream knows.
int fake_to_device(uint64_t to, const void *from, size_t bytes) {
  ENTER_CONTEXT("cuMemcpyHtoD");
  void *taken = malloc(bytes);
  memcpy(taken, from, bytes);
  struct fake_task t = {.kind = FAKE_COPY,
                        .to = (void *)(uintptr_t)to,
                        .from = taken,
                        .owned = taken,
                        .bytes = bytes};
  fake_enqueue(fake_stream_of(NULL, fake_current()), &t);
  return 0;
}

int fake_to_host(void *to, uint64_t from, size_t bytes) {
  ENTER_CONTEXT("cuMemcpyDtoH");
  fake_run_stream(fake_stream_of(NULL, fake_current()));
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return 0;
}

static int copy(void *to, const void *from, size_t bytes, void *stream) {
  struct fake_task t = {.kind = FAKE_COPY, .to = to, .from = from, .bytes = bytes};
  fake_enqueue(fake_stream_of(stream, fake_current()), &t);
  return 0;
}

// Only pinned memory is copied without a wait: the test holds to that.
int fake_load(uint64_t to, const void *from, size_t bytes, void *stream) {
  ENTER_CONTEXT("cuMemcpyHtoDAsync");
  void *at = (void *)(uintptr_t)to;
  bool ok = fake_lies_in(from, bytes, FAKE_HOST) && fake_lies_in(at, bytes, FAKE_DEVICE);
  return ok ? copy(at, from, bytes, stream) : 1;
}

int fake_store(void *to, uint64_t from, size_t bytes, void *stream) {
  ENTER_CONTEXT("cuMemcpyDtoHAsync");
  const void *at = (const void *)(uintptr_t)from;
  bool ok = fake_lies_in(to, bytes, FAKE_HOST) && fake_lies_in(at, bytes, FAKE_DEVICE);
  return ok ? copy(to, at, bytes, stream) : 1;
}

int fake_copy(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  ENTER_CONTEXT("cuMemcpyDtoDAsync");
  return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, stream);
}

int fake_pointer_attributes(unsigned n, int *attribute, void **value, uint64_t at) {
  ENTER_CONTEXT("cuPointerGetAttributes");
  const struct fake_range unknown = {(char *)(uintptr_t)at, 1, FAKE_DEVICE, 0};
  const struct fake_range *r = fake_range_of((const void *)(uintptr_t)at);
  r = r == NULL && fake.trusts ? &unknown : r;
  for (unsigned i = 0; i < n; i++) {
    switch (attribute[i]) {
    case 2: *(unsigned *)value[i] = r != NULL ? r->type : 0; break;
    case 9: *(int *)value[i] = r != NULL ? r->device : -2; break;
    case 11: *(uint64_t *)value[i] = r != NULL ? (uint64_t)(uintptr_t)r->at : 0; break;
    case 12: *(size_t *)value[i] = r != NULL ? r->bytes : 0; break;
    default: return 1;
    }
  }
  return 0;
}
