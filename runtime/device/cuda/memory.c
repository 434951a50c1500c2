// Memory of the device: what the plan asks for, each block allocated once, after need and free were compared; and the
// host slab, pinned.
#include "device/cuda/cuda.h"

#include "device/cuda/probe.h"
#include "plan/work.h"
#include "tier/limits.h"

// ---- on the device

static steprt_status refuse_memory(struct rt_device *d, uint64_t need, const char *whose,
                                   uint64_t has) {
  return rt_refuse(d->rt, STEPRT_NO_MEMORY,
                   "CUDA device %d (%s) has not enough memory: this plan needs %s (%s "
                   "resident states, "
                   "%s staging and workspaces), %s is %s; %s are missing",
                   d->context.ordinal, d->context.bus, rt_size_text(need).text,
                   rt_size_text(d->plan->state_bytes).text,
                   rt_size_text(d->plan->arena_bytes).text, whose, rt_size_text(has).text,
                   rt_size_text(need - has).text);
}

static steprt_status check_free(struct rt_device *d, uint64_t need, uint64_t limit) {
  size_t left = 0, total = 0;
  if (limit != 0 && need > limit) {
    return refuse_memory(d, need, "the limit given", limit);
  }
  CU_TRY(d, memory_info, &left, &total);
  return need > left ? refuse_memory(d, need, "what is free", left) : STEPRT_OK;
}

static steprt_status allocate(struct rt_device *d, uint64_t bytes, uint64_t *at) {
  if (bytes != 0) {
    CU_TRY(d, memory_alloc, at, bytes);
  }
  return STEPRT_OK;
}

static steprt_status open_device(struct rt_device *d, uint64_t limit) {
  const struct rt_plan *p = d->plan;
  uint64_t need = 0;
  const uint64_t bytes[] = {p->arena_bytes, p->state_bytes, p->step_bytes,
                            d->stages.bytes, d->table_bytes};
  uint64_t *const at[] = {&d->at.arena, &d->at.state, &d->at.step, &d->at.upload,
                          &d->at.tables};
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
    need += rt_round_up(bytes[i], 512); // the granularity of cuMemAlloc
  }
  RT_TRY(check_free(d, need, limit));
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
    RT_TRY(allocate(d, bytes[i], at[i]));
  }
  return STEPRT_OK;
}

// ---- the slab

static void slab_note(void *ctx, const char *text) {
  rt_note(ctx, "%s", text);
}

static steprt_status open_slab(struct rt_device *d, const struct steprt_options *o) {
  char why[480];
  struct rt_slab_request r = {.bytes = d->plan->host_bytes,
                              .limit = o->host_memory,
                              .node = rt_gpu_node("", d->context.bus),
                              .not_for_children = true,
                              .note = slab_note,
                              .note_ctx = d->rt};
  steprt_status s = rt_slab_open(&r, &d->slab, why, sizeof why);
  if (s != STEPRT_OK) {
    return rt_refuse(d->rt, s, "%s", why);
  }
  for (uint64_t at = 0; at < d->slab.mapped; at += CU_PINNED_PIECE) {
    uint64_t left = d->slab.mapped - at;
    uint64_t n = left < CU_PINNED_PIECE ? left : CU_PINNED_PIECE;
    CU_TRY(d, host_register, (char *)d->slab.at + at, n, CU_HOST_PORTABLE);
    d->registered = at + n;
  }
  return STEPRT_OK;
}

// ---- all of it

steprt_status cu_memory_open(struct rt_device *d, const struct steprt_options *o) {
  void *verdict = NULL;
  RT_TRY(open_device(d, o->gpu_memory));
  CU_TRY(d, host_alloc, &verdict, sizeof *d->verdict, CU_HOST_PORTABLE);
  d->verdict = verdict;
  *d->verdict = (struct rt_verdict){.clip = 1};
  double start = rt_now();
  RT_TRY(d->plan->host_bytes != 0 ? open_slab(d, o) : STEPRT_OK);
  d->rt->slab_seconds = rt_now() - start;
  return STEPRT_OK;
}

void cu_memory_close(struct rt_device *d) {
  const uint64_t at[] = {d->at.arena, d->at.state, d->at.step, d->at.upload,
                         d->at.tables};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    if (at[i] != 0) {
      (void)d->driver.memory_free(at[i]);
    }
  }
  if (d->verdict != NULL) {
    (void)d->driver.host_free(d->verdict);
  }
  for (uint64_t i = 0; i < d->registered; i += CU_PINNED_PIECE) {
    (void)d->driver.host_unregister((char *)d->slab.at + i);
  }
}

// cuMemcpyHtoD returns once the driver has the bytes; the copy itself may still be under way on the default stream, which
// our streams do not wait for (cuda-driver-api, API synchronization behavior).
steprt_status cu_put(struct rt_device *d, uint64_t to, const void *from, uint64_t bytes) {
  CU_TRY(d, to_device, to, from, bytes);
  CU_TRY(d, stream_synchronize, NULL);
  return STEPRT_OK;
}

uint64_t cu_address(const struct rt_device *d, struct rt_at at) {
  switch ((enum rt_space)at.space) {
  case RT_AT_PARAM: return d->param[at.index] + at.offset;
  case RT_AT_STATE: return d->at.state + at.offset;
  case RT_AT_HOST: return (uint64_t)(uintptr_t)d->slab.at + at.offset;
  case RT_AT_ARENA: return d->at.arena + at.offset;
  case RT_AT_STEP: return d->at.step + at.offset;
  case RT_AT_GRAD:
  case RT_N_SPACES: break;
  }
  return 0;
}
