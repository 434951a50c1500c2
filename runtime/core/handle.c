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

static const char *mode_text(enum rt_mode mode) {
  switch (mode) {
  case RT_MODE_BROKEN: return "open failed";
  case RT_MODE_OPEN: return "no parameters are bound yet";
  case RT_MODE_BOUND: return "parameters are bound and no step is open";
  case RT_MODE_BEGUN: return "a step has begun and not ended";
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
  if (rt->mode < lo || rt->mode > hi) {
    return rt->mode == RT_MODE_BROKEN // its text must stay
               ? STEPRT_BAD_STATE
               : rt_refuse(rt, STEPRT_BAD_STATE, "%s: %s", call, mode_text(rt->mode));
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

bool rt_write_versioned(void *theirs, size_t known, const void *ours) {
  size_t size;
  memcpy(&size, theirs, sizeof size);
  if (size < sizeof size) {
    return false;
  }
  memset(theirs, 0, size);
  memcpy(theirs, ours, size < known ? size : known);
  memcpy(theirs, &size, sizeof size);
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
