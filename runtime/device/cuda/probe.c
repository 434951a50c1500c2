// How fast devices copy: pinned memory to the device and back, by size of the copies, each way alone and both at once.
// Streams and events are those of a step; the numbers are what a plan's forecast is made of.
#include "device/cuda/probe.h"

#include "core/handle.h"
#include "device/cuda/probe_products.h"

enum { ROUNDS = 5 };
static const uint64_t MIB = 1 << 20;

struct probed {
  struct rt_link *link;
  // The round: which ways, in copies of how much, and what came of it.
  bool ways[LINK_WAYS];
  uint64_t piece;
  double rate; // bytes per second
};

// Calls `fn` with the device's context pushed for as long.
typedef steprt_status (*inside_fn)(struct probed *p, struct why why);
static steprt_status inside(struct probed *p, inside_fn fn, struct why why) {
  void *popped;
  LINK_TRY(p->link, context_push, p->link->context);
  steprt_status s = fn(p, why);
  (void)p->link->cu.context_pop(&popped);
  return s;
}

// ---- one round

// Once through the buffers.
static steprt_status enqueue_way(struct probed *p, int way, struct why why) {
  const struct cu_way *w = &p->link->way[way];
  LINK_TRY(p->link, event_record, w->begun, w->stream);
  for (uint64_t at = 0; at + p->piece <= p->link->room; at += p->piece) {
    RT_TRY(link_enqueue(p->link, way, at, p->piece, why));
  }
  LINK_TRY(p->link, event_record, w->ended, w->stream);
  return STEPRT_OK;
}

static steprt_status enqueue(struct probed *p, struct why why) {
  for (int way = 0; way < LINK_WAYS; way++) {
    if (p->ways[way]) {
      RT_TRY(enqueue_way(p, way, why));
    }
  }
  return STEPRT_OK;
}

static steprt_status seconds(struct probed *p, void *begun, void *ended, double *longest,
                             struct why why) {
  float ms = 0;
  LINK_TRY(p->link, event_elapsed, &ms, begun, ended);
  *longest = ms * 1e-3 > *longest ? ms * 1e-3 : *longest;
  return STEPRT_OK;
}

// From the first begin to the last end.
static steprt_status read_rate(struct probed *p, struct why why) {
  double longest = 0;
  uint64_t bytes = 0;
  for (int i = 0; i < LINK_WAYS; i++) {
    if (p->ways[i]) {
      LINK_TRY(p->link, stream_synchronize, p->link->way[i].stream);
      bytes += p->link->room / p->piece * p->piece;
    }
  }
  for (int i = 0; i < LINK_WAYS * LINK_WAYS; i++) {
    const struct cu_way *from = &p->link->way[i / LINK_WAYS],
                        *to = &p->link->way[i % LINK_WAYS];
    if (p->ways[i / LINK_WAYS] && p->ways[i % LINK_WAYS]) {
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
    p[i].ways[LINK_UP] = up;
    p[i].ways[LINK_DOWN] = down;
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
  const struct cu_way *w = &p->link->way[LINK_UP];
  double x[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    double t = 0;
    LINK_TRY(p->link, event_record, w->begun, w->stream);
    for (int k = 0; k < COPIES; k++) {
      LINK_TRY(p->link, copy, w->at, p->link->way[LINK_DOWN].at, p->link->room,
               w->stream);
    }
    LINK_TRY(p->link, event_record, w->ended, w->stream);
    LINK_TRY(p->link, stream_synchronize, w->stream);
    RT_TRY(seconds(p, w->begun, w->ended, &t, why));
    x[i] = t > 0 ? 2.0 * COPIES * (double)p->link->room / t : 0;
  }
  p->rate = median(x);
  return STEPRT_OK;
}

// Where there is no cuBLASLt the probe goes on without, and says so.
static steprt_status products(struct probed *p, struct rt_probe *out, struct why why) {
  void *popped;
  LINK_TRY(p->link, context_push, p->link->context);
  (void)probe_products(p->link, &out->products,
                       (struct why){out->products_why, sizeof out->products_why});
  (void)p->link->cu.context_pop(&popped);
  return STEPRT_OK;
}

// ---- the probe

static steprt_status probe_one(int32_t ordinal, uint64_t most, struct rt_probe *out,
                               struct why why) {
  static const uint64_t sizes[] = {2, 4, 16, 64, 256, 1024}; // MiB
  struct probed p = {0};
  steprt_status s = rt_link_open(ordinal, most, &p.link, why.text, why.n);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && s == STEPRT_OK; i++) {
    if (sizes[i] * MIB <= most) {
      s = measure_all(&p, 1, sizes[i] * MIB, &out->rate[out->n_rates++], why);
    }
  }
  s = s != STEPRT_OK ? s : inside(&p, device_copy, why);
  out->device_copy = p.rate;
  s = s != STEPRT_OK ? s : products(&p, out, why);
  rt_link_close(p.link);
  return s;
}

static steprt_status probe_all(uint32_t n, uint64_t most, struct rt_probe *out,
                               struct why why) {
  const uint64_t bytes = 512 * MIB < most ? 512 * MIB : most;
  const uint64_t piece = 64 * MIB < most ? 64 * MIB : most;
  struct probed p[RT_MAX_GPUS] = {0};
  steprt_status s = STEPRT_OK;
  uint32_t opened = 0;
  while (opened < n && s == STEPRT_OK) {
    s = rt_link_open((int32_t)opened, bytes, &p[opened].link, why.text, why.n);
    opened++;
  }
  s = s != STEPRT_OK ? s : measure_all(p, n, piece, &out->all, why);
  for (uint32_t i = 0; i < opened; i++) {
    rt_link_close(p[i].link);
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
  RT_TRY(probe_one(ordinal, most, out, to));
  count = count < RT_MAX_GPUS ? count : RT_MAX_GPUS;
  return count < 2 ? STEPRT_OK : probe_all((uint32_t)count, most, out, to);
}
