// The checks that any plan must pass before it is run: the order, the head, the memory.
#include "plan/plan_check.h"

#include "plan/names.h"

#include <stdarg.h>
#include <stdio.h>

steprt_status rt_plan_bad(const struct plan_check *c, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  (void)vsnprintf(c->why, c->n_why, format, ap);
  va_end(ap);
  return STEPRT_BAD_PROGRAM;
}

steprt_status rt_op_bad(const struct plan_check *c, const struct rt_op *op,
                        const char *format, ...) {
  const struct rt_plan *p = c->plan;
  bool is_init = rt_is_init(p, op);
  char text[400];
  va_list ap;
  va_start(ap, format);
  (void)vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  return rt_plan_bad(c, "%s %u (%s): %s", is_init ? "init" : "op",
                     (unsigned)(op - (is_init ? p->init : p->op)),
                     op->kind < RT_N_OP_KINDS ? rt_op_names[op->kind] : "unknown", text);
}

steprt_status rt_plan_check_no_memory(const struct plan_check *c) {
  (void)rt_plan_bad(c, "out of memory");
  return STEPRT_NO_MEMORY;
}

static steprt_status check_tables(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  const struct {
    const char *name;
    const void *table;
    uint32_t n;
  } rows[] = {
      {"params", p->param, p->n_params},
      {"kernels", p->kernel, p->n_kernels},
      {"states", p->state, p->n_states},
      {"units", p->unit, p->n_units},
      {"chunks", p->chunk, p->n_chunks},
      {"ops", p->op, p->n_ops},
      {"init", p->init, p->n_init},
      {"events", p->event, p->n_events},
      {"waits", p->wait, p->n_waits},
      {"rows", p->row, p->n_rows},
      {"addresses", p->at, p->n_at},
      {"copies", p->copy, p->n_copies},
      {"notes", p->note, p->n_notes},
      {"params of units", p->unit_param, p->n_unit_params},
  };
  if (p->version != RT_PLAN_VERSION) {
    return rt_plan_bad(c, "the plan is of version %u; this libsteprt runs version %d",
                       p->version, RT_PLAN_VERSION);
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].n > 0 && rows[i].table == NULL) {
      return rt_plan_bad(c, "the table of %s has %u entries and no address", rows[i].name,
                         rows[i].n);
    }
  }
  return STEPRT_OK;
}

static steprt_status check_configuration(struct plan_check *c) {
  const struct rt_configuration *k = &c->plan->configuration;
  if (k->target == NULL || k->offload == NULL) {
    return rt_plan_bad(c, "the configuration has no %s",
                       k->target == NULL ? "target" : "offload");
  }
  if (k->rank >= k->world) {
    return rt_plan_bad(c, "rank %u of a world of %u", k->rank, k->world);
  }
  if (k->chunk_bytes > RT_MAX_SIZE || k->gpu_memory > RT_MAX_SIZE ||
      k->host_memory > RT_MAX_SIZE) {
    return rt_plan_bad(c, "the configuration has a size beyond 2^%d", RT_MAX_SIZE_BITS);
  }
  return STEPRT_OK;
}

static steprt_status check_memory(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  const struct {
    const char *name;
    uint64_t bytes;
  } sizes[] = {{"slot_bytes", p->slot_bytes},
               {"arena_bytes", p->arena_bytes},
               {"state_bytes", p->state_bytes},
               {"host_bytes", p->host_bytes},
               {"step_bytes", p->step_bytes}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (sizes[i].bytes > RT_MAX_SIZE) {
      return rt_plan_bad(c, "%s is beyond 2^%d", sizes[i].name, RT_MAX_SIZE_BITS);
    }
  }
  if (p->n_slots > RT_MAX_SLOTS) {
    return rt_plan_bad(c, "%u slots, at most %d", p->n_slots, RT_MAX_SLOTS);
  }
  if (p->slot_bytes % RT_SLOT_ALIGN != 0) {
    return rt_plan_bad(c, "slot_bytes %llu is no multiple of %d",
                       (unsigned long long)p->slot_bytes, RT_SLOT_ALIGN);
  }
  // slot_bytes is at most 2^53 and n_slots 2^16: compared without multiplying.
  if (p->n_slots > 0 && p->slot_bytes > p->arena_bytes / p->n_slots) {
    return rt_plan_bad(c, "%u slots of %llu bytes do not fit into an arena of %llu",
                       p->n_slots, (unsigned long long)p->slot_bytes,
                       (unsigned long long)p->arena_bytes);
  }
  if (p->step_bytes < RT_STEP_GATHERED) {
    return rt_plan_bad(c, "step_bytes is %llu, at least %d",
                       (unsigned long long)p->step_bytes, RT_STEP_GATHERED);
  }
  return STEPRT_OK;
}

static steprt_status check_notes(struct plan_check *c) {
  for (uint32_t i = 0; i < c->plan->n_notes; i++) {
    if (c->plan->note[i] == NULL) {
      return rt_plan_bad(c, "note %u has no text", i);
    }
  }
  return STEPRT_OK;
}

steprt_status rt_plan_check(const struct rt_plan *plan,
                            const struct steprt_program *program, char *why,
                            size_t n_why) {
  static steprt_status (*const checks[])(struct plan_check *) = {
      check_tables,          check_configuration,  check_memory,
      check_notes,           rt_plan_check_params, rt_plan_check_units,
      rt_plan_check_kernels, rt_plan_check_ops,    rt_plan_check_events,
      rt_plan_check_rows,    rt_plan_check_copies, rt_plan_check_program,
      rt_plan_check_phases};
  struct plan_check c = {.plan = plan, .program = program, .why = why, .n_why = n_why};
  steprt_status s = STEPRT_OK;
  for (size_t i = 0; i < sizeof checks / sizeof *checks && s == STEPRT_OK; i++) {
    s = checks[i](&c);
  }
  rt_pool_free(&c.pool);
  return s;
}
