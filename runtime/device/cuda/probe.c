// How fast devices copy: pinned memory to the device and back, by size of the copies, each way alone and both at once.
// Streams and events are those of a step; the numbers are what a plan's forecast is made of.
#include "device/cuda/probe.h"

#include "core/handle.h"
#include "device/cuda/driver.h"
#include "tier/host.h"

enum { UP, DOWN, WAYS };
enum { ROUNDS = 5 };
static const uint64_t MIB = 1 << 20;

struct way {
  void *stream, *begun, *ended; // timed events
  uint64_t device;
};
struct probed {
  const struct cu_driver *cu;
  int device;
  void *context;
  struct way way[WAYS];
  struct rt_slab slab; // one half per way
  bool pinned;
  uint64_t bytes; // of one way's buffers
  // The round: which ways, in copies of how much, and what came of it.
  bool ways[WAYS];
  uint64_t piece;
  double rate; // bytes per second
};

struct why {
  char *text;
  size_t n;
};
static steprt_status fail(const struct cu_driver *cu, int error, const char *call,
                          struct why why) {
  rt_append(why.text, why.n, "%s: ", call);
  cu_append_error(cu, error, why.text, why.n);
  return error == CU_OUT_OF_MEMORY ? STEPRT_NO_MEMORY : STEPRT_NO_LIBRARY;
}
#define TRY(p, field, ...)                                                               \
  do {                                                                                   \
    int try_error = (p)->cu->field(__VA_ARGS__);                                         \
    if (try_error != CU_SUCCESS) {                                                       \
      return fail((p)->cu, try_error, cu_symbol(CU_CALL_##field), why);                  \
    }                                                                                    \
  } while (0)

// ---- a device's buffers

static steprt_status open_ways(struct probed *p, struct why why) {
  for (int i = 0; i < WAYS; i++) {
    struct way *w = &p->way[i];
    TRY(p, stream_create, &w->stream, CU_NON_BLOCKING, 0);
    TRY(p, event_create, &w->begun, 0);
    TRY(p, event_create, &w->ended, 0);
    TRY(p, memory_alloc, &w->device, p->bytes);
  }
  return STEPRT_OK;
}

static steprt_status open_here(struct probed *p, struct why why) {
  TRY(p, host_register, p->slab.at, p->slab.mapped, CU_HOST_PORTABLE);
  p->pinned = true;
  return open_ways(p, why);
}

// Calls `fn` with the device's context pushed for as long.
typedef steprt_status (*inside_fn)(struct probed *p, struct why why);
static steprt_status inside(struct probed *p, inside_fn fn, struct why why) {
  void *popped;
  TRY(p, context_push, p->context);
  steprt_status s = fn(p, why);
  (void)p->cu->context_pop(&popped);
  return s;
}

static steprt_status open_probed(struct probed *p, const struct cu_driver *cu,
                                 int ordinal, uint64_t bytes, struct why why) {
  char bus[24] = "";
  *p = (struct probed){.cu = cu, .bytes = bytes};
  TRY(p, device_get, &p->device, ordinal);
  TRY(p, device_bus, bus, (int)sizeof bus, p->device);
  struct rt_slab_request r = {
      .bytes = WAYS * bytes, .node = rt_gpu_node("", bus), .not_for_children = true};
  RT_TRY(rt_slab_open(&r, &p->slab, why.text, why.n));
  TRY(p, context_retain, &p->context, p->device);
  return inside(p, open_here, why);
}

static void close_probed(struct probed *p) {
  void *popped;
  if (p->context != NULL && p->cu->context_push(p->context) == CU_SUCCESS) {
    for (int i = 0; i < WAYS; i++) {
      const struct way *w = &p->way[i];
      (void)(w->stream != NULL && p->cu->stream_synchronize(w->stream));
      (void)(w->device != 0 && p->cu->memory_free(w->device));
      (void)(w->begun != NULL && p->cu->event_destroy(w->begun));
      (void)(w->ended != NULL && p->cu->event_destroy(w->ended));
      (void)(w->stream != NULL && p->cu->stream_destroy(w->stream));
    }
    if (p->pinned) {
      (void)p->cu->host_unregister(p->slab.at);
    }
    (void)p->cu->context_pop(&popped);
  }
  if (p->context != NULL) {
    (void)p->cu->context_release(p->device);
  }
  rt_slab_close(&p->slab);
}

// ---- one round

// Once through the buffers.
static steprt_status enqueue_way(struct probed *p, int way, struct why why) {
  const struct way *w = &p->way[way];
  char *host = (char *)p->slab.at + (uint64_t)way * p->bytes;
  TRY(p, event_record, w->begun, w->stream);
  for (uint64_t at = 0; at + p->piece <= p->bytes; at += p->piece) {
    if (way == UP) {
      TRY(p, load, w->device + at, host + at, p->piece, w->stream);
    } else {
      TRY(p, store, host + at, w->device + at, p->piece, w->stream);
    }
  }
  TRY(p, event_record, w->ended, w->stream);
  return STEPRT_OK;
}

static steprt_status enqueue(struct probed *p, struct why why) {
  for (int way = 0; way < WAYS; way++) {
    if (p->ways[way]) {
      RT_TRY(enqueue_way(p, way, why));
    }
  }
  return STEPRT_OK;
}

static steprt_status seconds(struct probed *p, void *begun, void *ended, double *longest,
                             struct why why) {
  float ms = 0;
  TRY(p, event_elapsed, &ms, begun, ended);
  *longest = ms * 1e-3 > *longest ? ms * 1e-3 : *longest;
  return STEPRT_OK;
}

// From the first begin to the last end.
static steprt_status read_rate(struct probed *p, struct why why) {
  double longest = 0;
  uint64_t bytes = 0;
  for (int i = 0; i < WAYS; i++) {
    if (p->ways[i]) {
      TRY(p, stream_synchronize, p->way[i].stream);
      bytes += p->bytes / p->piece * p->piece;
    }
  }
  for (int i = 0; i < WAYS * WAYS; i++) {
    const struct way *from = &p->way[i / WAYS], *to = &p->way[i % WAYS];
    if (p->ways[i / WAYS] && p->ways[i % WAYS]) {
      RT_TRY(seconds(p, from->begun, to->ended, &longest, why));
    }
  }
  p->rate = longest > 0 ? (double)bytes / longest : 0;
  return STEPRT_OK;
}

// All of them copy at once; the mean of their rates.
static steprt_status round_of(struct probed *p, uint32_t n, double *rate,
                              struct why why) {
  *rate = 0;
  for (uint32_t i = 0; i < n; i++) {
    RT_TRY(inside(&p[i], enqueue, why));
  }
  for (uint32_t i = 0; i < n; i++) {
    RT_TRY(inside(&p[i], read_rate, why));
    *rate += p[i].rate / n;
  }
  return STEPRT_OK;
}

static double median(double *x) {
  for (int i = 1; i < ROUNDS; i++) {
    for (int k = i; k > 0 && x[k] < x[k - 1]; k--) {
      double t = x[k];
      x[k] = x[k - 1];
      x[k - 1] = t;
    }
  }
  return x[ROUNDS / 2];
}

// A round more, not counted, comes first.
static steprt_status measure(struct probed *p, uint32_t n, bool up, bool down,
                             uint64_t piece, double *rate, struct why why) {
  double x[ROUNDS];
  for (uint32_t i = 0; i < n; i++) {
    p[i].ways[UP] = up;
    p[i].ways[DOWN] = down;
    p[i].piece = piece;
  }
  RT_TRY(round_of(p, n, &x[0], why));
  for (int i = 0; i < ROUNDS; i++) {
    RT_TRY(round_of(p, n, &x[i], why));
  }
  *rate = median(x);
  return STEPRT_OK;
}

static steprt_status measure_all(struct probed *p, uint32_t n, uint64_t piece,
                                 struct rt_rates *r, struct why why) {
  r->bytes = piece;
  RT_TRY(measure(p, n, true, false, piece, &r->load, why));
  RT_TRY(measure(p, n, false, true, piece, &r->store, why));
  return measure(p, n, true, true, piece, &r->both, why);
}

static steprt_status device_copy(struct probed *p, struct why why) {
  enum { COPIES = 8 };
  const struct way *w = &p->way[UP];
  double x[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    double t = 0;
    TRY(p, event_record, w->begun, w->stream);
    for (int k = 0; k < COPIES; k++) {
      TRY(p, copy, w->device, p->way[DOWN].device, p->bytes, w->stream);
    }
    TRY(p, event_record, w->ended, w->stream);
    TRY(p, stream_synchronize, w->stream);
    RT_TRY(seconds(p, w->begun, w->ended, &t, why));
    x[i] = t > 0 ? 2.0 * COPIES * (double)p->bytes / t : 0;
  }
  p->rate = median(x);
  return STEPRT_OK;
}

// ---- the probe

static steprt_status probe_one(const struct cu_driver *cu, int32_t ordinal, uint64_t most,
                               struct rt_probe *out, struct why why) {
  static const uint64_t sizes[] = {2, 4, 16, 64, 256, 1024}; // MiB
  struct probed p;
  steprt_status s = open_probed(&p, cu, ordinal, most, why);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && s == STEPRT_OK; i++) {
    if (sizes[i] * MIB <= most) {
      s = measure_all(&p, 1, sizes[i] * MIB, &out->rate[out->n_rates++], why);
    }
  }
  s = s != STEPRT_OK ? s : inside(&p, device_copy, why);
  out->device_copy = p.rate;
  close_probed(&p);
  return s;
}

static steprt_status probe_all(const struct cu_driver *cu, uint32_t n, uint64_t most,
                               struct rt_probe *out, struct why why) {
  const uint64_t bytes = 512 * MIB < most ? 512 * MIB : most;
  const uint64_t piece = 64 * MIB < most ? 64 * MIB : most;
  struct probed p[RT_MAX_GPUS];
  steprt_status s = STEPRT_OK;
  uint32_t opened = 0;
  while (opened < n && s == STEPRT_OK) {
    s = open_probed(&p[opened], cu, (int)opened, bytes, why);
    opened++;
  }
  s = s != STEPRT_OK ? s : measure_all(p, n, piece, &out->all, why);
  for (uint32_t i = 0; i < opened; i++) {
    close_probed(&p[i]);
  }
  out->n_all = n;
  return s;
}

steprt_status rt_probe(int32_t ordinal, uint64_t most, struct rt_probe *out, char *why,
                       size_t n) {
  const struct why to = {why, n};
  struct cu_driver cu;
  int count = 0;
  *out = (struct rt_probe){0};
  RT_TRY(cu_driver_open(&cu, why, n));
  if (cu.device_count(&count) != CU_SUCCESS || ordinal < 0 || ordinal >= count) {
    rt_append(why, n, "there is no CUDA device %d: the driver shows %d", ordinal, count);
    return STEPRT_BAD_ARGUMENT;
  }
  most = most < 2 * MIB ? 2 * MIB : most / MIB * MIB;
  RT_TRY(probe_one(&cu, ordinal, most, out, to));
  count = count < RT_MAX_GPUS ? count : RT_MAX_GPUS;
  return count < 2 ? STEPRT_OK : probe_all(&cu, (uint32_t)count, most, out, to);
}
