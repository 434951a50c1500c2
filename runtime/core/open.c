// open and destroy: everything that a step needs is made here, so that the step is silent (L2).
#include "core/check.h"
#include "core/tables.h"
#include "file/escape.h"
#include "plan/bundle.h"
#include "plan/plan_json.h"

#include <stdlib.h>
#include <string.h>

static steprt_status check_plan(struct steprt *rt, const struct steprt_program *program) {
  char why[480] = "";
  steprt_status s = rt_plan_check(program->plan, program, why, sizeof why);
  return s ? rt_refuse(rt, s, "%s", *why ? why : "out of memory") : STEPRT_OK;
}

static steprt_status find_class(struct steprt *rt, const struct steprt_program *p) {
  rt->class = rt->class ? rt->class : p->target ? rt_device_class(p->target) : NULL;
  return rt->class ? STEPRT_OK
                   : rt_refuse(rt, STEPRT_BAD_PROGRAM, "no device runs target '%s'",
                               rt_show(p->target ? p->target : "").text);
}

static steprt_status make_everything(struct steprt *rt,
                                     const struct steprt_options *options) {
  RT_TRY(rt_make_scalars(rt));
  RT_TRY(rt_make_host_states(rt));
  RT_TRY(rt_make_units(rt));
  return rt->class->open(rt, options, &rt->device);
}

static steprt_status read_options(struct steprt *rt, const struct steprt_options *from,
                                  struct steprt_options *o) {
  *o = (struct steprt_options){.size = sizeof *o};
  if (from && !rt_read_versioned(o, sizeof *o, from)) {
    return rt_refuse(
        rt, STEPRT_BAD_ARGUMENT,
        "open: options of a size or with a field that this library does not know");
  }
  rt->log = o->log;
  rt->log_ctx = o->log_ctx;
  return STEPRT_OK;
}

// What the planner had to say. Notes are data, maybe of a file.
static void hand_on_notes(const struct steprt *rt) {
  for (uint32_t i = 0; i < rt->plan->n_notes; i++) {
    const char *note = rt->plan->note[i];
    char shown[600];
    rt_note(rt, "%s", rt_escape(shown, sizeof shown, note, strlen(note)));
  }
}

static steprt_status open_handle(struct steprt *rt, const struct steprt_program *program,
                                 const struct steprt_options *options) {
  struct steprt_options o;
  if (!program) {
    return rt_refuse(rt, STEPRT_BAD_ARGUMENT, "open: no program");
  }
  RT_TRY(read_options(rt, options, &o));
  RT_TRY(rt_check_program(rt, program));
  if (!program->plan) {
    return rt_refuse(rt, STEPRT_BAD_PROGRAM, "the program has no plan");
  }
  RT_TRY(check_plan(rt, program));
  RT_TRY(find_class(rt, program));
  rt->program = program;
  rt->plan = program->plan;
  hand_on_notes(rt);
  steprt_status s = make_everything(rt, &o);
  if (s == STEPRT_NO_MEMORY && !*rt->error) {
    rt_refuse(rt, s, "out of memory");
  }
  if (s) {
    rt_memory_free(&rt->memory);
    return s;
  }
  rt->mode = RT_MODE_OPEN;
  return STEPRT_OK;
}

steprt_status rt_open_with_class(const struct steprt_program *program,
                                 const struct steprt_options *options,
                                 const struct rt_device_class *class,
                                 struct steprt **out) {
  if (!out) {
    return STEPRT_BAD_ARGUMENT;
  }
  *out = calloc(1, sizeof **out);
  if (!*out) {
    return STEPRT_NO_MEMORY;
  }
  (*out)->class = class;
  (*out)->counters.size = sizeof(*out)->counters;
  return open_handle(*out, program, options);
}

steprt_status steprt_open(const struct steprt_program *program,
                          const struct steprt_options *options, struct steprt **out) {
  return rt_open_with_class(program, options, NULL, out);
}

void steprt_destroy(struct steprt *rt) {
  if (!rt) {
    return;
  }
  if (rt->device) {
    rt->class->close(rt->device);
  }
  rt_memory_free(&rt->memory);
  rt_bundle_free(rt->bundle);
  free(rt);
}
