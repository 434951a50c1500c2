// Errors, notes, versioned structs and the small looks inside.
#include "core/handle.h"

#include "file/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

struct rt_shown rt_show(const char *name) {
  struct rt_shown s;
  rt_escape(s.text, sizeof s.text, name, strlen(name));
  return s;
}

steprt_status rt_refuse(struct steprt *rt, steprt_status s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(rt->error, sizeof rt->error, format, args);
  va_end(args);
  return s;
}

steprt_status rt_fail(struct steprt *rt, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(rt->error, sizeof rt->error, format, args);
  va_end(args);
  rt->failed = true;
  return STEPRT_FAILED;
}

void rt_note(const struct steprt *rt, const char *format, ...) {
  char text[640];
  va_list args;
  if (!rt->log) {
    return;
  }
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  rt->log(rt->log_ctx, STEPRT_NOTE, text);
}

static const char *phase_text(enum rt_mode phase) {
  switch (phase) {
  case RT_MODE_BROKEN: return "open failed";
  case RT_MODE_OPEN: return "no parameters are bound yet";
  case RT_MODE_BOUND: return "parameters are bound and no step is open";
  case RT_MODE_BEGUN: return "a step has begun and not run";
  case RT_MODE_RUN: return "a step has run and not ended";
  }
  return "";
}

steprt_status rt_expect(struct steprt *rt, enum rt_mode lo, enum rt_mode hi,
                        const char *call) {
  if (!rt) {
    return STEPRT_BAD_ARGUMENT;
  }
  if (rt->failed) {
    return STEPRT_FAILED;
  }
  if (rt->phase < lo || rt->phase > hi) {
    return rt->phase == RT_MODE_BROKEN // its text must stay
               ? STEPRT_BAD_STATE
               : rt_refuse(rt, STEPRT_BAD_STATE, "%s: %s", call, phase_text(rt->phase));
  }
  return STEPRT_OK;
}

bool rt_read_versioned(void *ours, size_t known, const void *theirs) {
  size_t size;
  memcpy(&size, theirs, sizeof size);
  if (size < sizeof size) {
    return false;
  }
  for (size_t i = known; i < size; i++) {
    if (((const char *)theirs)[i]) {
      return false;
    }
  }
  memset(ours, 0, known);
  memcpy(ours, theirs, size < known ? size : known);
  return true;
}

double rt_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *steprt_error(const struct steprt *rt) {
  return rt ? rt->error : "";
}

static bool has_param(const struct steprt *rt, uint32_t param) {
  return rt && rt->phase >= RT_MODE_OPEN && param < rt->program->n_params;
}

static bool has_slot(const struct steprt *rt, uint32_t param, uint32_t slot) {
  if (!has_param(rt, param) || !rt->program->param[param].active) {
    return false;
  }
  return slot < rt->program->rule[rt->program->param[param].rule].n_host_states;
}

void *steprt_buffer(const struct steprt *rt, uint32_t buffer) {
  if (!rt || rt->phase < RT_MODE_OPEN || buffer >= rt->program->n_buffers) {
    return NULL;
  }
  return rt->base[buffer];
}

void *steprt_state(struct steprt *rt, uint32_t param, const char *name, uint64_t *bytes) {
  if (!rt || rt->phase < RT_MODE_OPEN || !name || param >= rt->program->n_params) {
    return NULL;
  }
  const struct rt_param *p = &rt->program->param[param];
  for (uint32_t i = 0; p->active && i < p->n_states; i++) {
    const struct rt_buffer *b = &rt->program->buffer[p->first_state + i];
    if (strcmp(b->name, name) == 0) {
      if (bytes) {
        *bytes = b->numel * rt_storage_bytes(b->storage);
      }
      return rt->base[p->first_state + i];
    }
  }
  return NULL;
}

double steprt_host_state(const struct steprt *rt, uint32_t param, uint32_t slot) {
  return has_slot(rt, param, slot)
             ? rt->host[rt->host_index[rt->first_host[param] + slot]]
             : 0;
}

uint64_t steprt_count(const struct steprt *rt, uint32_t param) {
  return has_param(rt, param) ? rt->count[param] : 0;
}

steprt_status steprt_set_host_state(struct steprt *rt, uint32_t param, uint32_t slot,
                                    double value) {
  RT_TRY(rt_expect(rt, RT_MODE_OPEN, RT_MODE_BOUND, "set_host_state"));
  if (!has_slot(rt, param, slot)) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameter %u has no host state %u", param,
                     slot);
  }
  uint64_t i = rt->host_index[rt->first_host[param] + slot];
  rt->host[i] = rt->host_next[i] = value;
  return STEPRT_OK;
}

steprt_status steprt_set_count(struct steprt *rt, uint32_t param, uint64_t count) {
  RT_TRY(rt_expect(rt, RT_MODE_OPEN, RT_MODE_BOUND, "set_count"));
  if (!has_param(rt, param) || !rt->program->param[param].active) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "parameter %u has no rule", param);
  }
  rt->count[param] = count;
  return STEPRT_OK;
}
