// The ring of stages: what changes from step to step, filled by the core in pinned memory and brought to the device by
// one copy.
#include "device/cuda/cuda.h"

#include "plan/work.h"

// Sizes; the pinned ring and the events. The block on the device comes with its memory.
steprt_status cu_stages_open(struct rt_device *d) {
  struct cu_stages *s = &d->stages;
  uint64_t n = d->program->n_params;
  void *pinned = NULL;
  s->scalar_at = n * sizeof(void *);
  s->scalar = rt_round_up(s->scalar_at + n * sizeof(uint32_t), 16);
  s->bytes =
      rt_round_up(s->scalar + rt_stage_scalars(d->program) * sizeof(float) + 1, 256);
  CU_TRY(d, host_alloc, &pinned, s->bytes * RT_STAGES, CU_HOST_PORTABLE);
  s->pinned = pinned;
  for (uint32_t i = 0; i < RT_STAGES; i++) {
    unsigned char *block = s->pinned + i * s->bytes;
    s->stage[i] = (struct rt_stage){.scalar = (void *)(block + s->scalar),
                                    .scalar_at = (void *)(block + s->scalar_at),
                                    .grad = (void *)block};
    RT_TRY(cu_new_event(d, false, &s->done[i]));
  }
  return STEPRT_OK;
}

void cu_stages_close(struct rt_device *d) {
  for (uint32_t i = 0; i < RT_STAGES; i++) {
    if (d->stages.done[i] != NULL) {
      (void)d->driver.event_destroy(d->stages.done[i]);
    }
  }
  if (d->stages.pinned != NULL) {
    (void)d->driver.host_free(d->stages.pinned);
  }
}

steprt_status cu_stage_next(struct rt_device *d, struct rt_stage **out) {
  struct cu_stages *s = &d->stages;
  uint32_t i = s->next;
  if (s->used[i]) {
    int error = d->driver.event_query(s->done[i]);
    if (error == CU_NOT_READY) { // the caller is RT_STAGES steps ahead of the device
      d->rt->counters.waits++;
      error = d->driver.event_synchronize(s->done[i]);
    }
    if (error != CU_SUCCESS) {
      return cu_error(d, error, "the copy of an earlier step's scalars");
    }
  }
  s->next = (i + 1) % RT_STAGES;
  s->stage[i].n_scalars = 0;
  *out = &s->stage[i];
  return STEPRT_OK;
}

steprt_status cu_stage_upload(struct rt_device *d, const struct rt_stage *stage) {
  struct cu_stages *s = &d->stages;
  uint32_t i = (uint32_t)(stage - s->stage);
  void *compute = d->lane[RT_LANE_COMPUTE];
  uint64_t n = s->scalar + stage->n_scalars * sizeof(float);
  CU_TRY(d, load, d->at.upload, s->pinned + i * s->bytes, n, compute);
  CU_TRY(d, event_record, s->done[i], compute);
  s->used[i] = true;
  return STEPRT_OK;
}
