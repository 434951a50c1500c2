// Inside the reader of plan.json.
#ifndef STEPRT_PLAN_PLAN_READ_H
#define STEPRT_PLAN_PLAN_READ_H

#include "plan/reader.h"

struct plan_reader {
  struct rt_reader r;
  struct rt_plan *plan;
  uint32_t *event_of; // by kind and slot: 1 + its id; 0: there is none
};

// Where the id of an event stands in event_of.
static inline uint32_t *rt_plan_event_of(struct plan_reader *p,
                                         const struct rt_event *e) {
  return &p->event_of[e->slot * RT_N_EVENT_KINDS + e->kind];
}

// plan_read_tables.c
bool rt_plan_read_params(struct plan_reader *p, const struct json *root);
bool rt_plan_read_kernels(struct plan_reader *p, const struct json *root);
bool rt_plan_read_units(struct plan_reader *p, const struct json *root);
bool rt_plan_read_chunks(struct plan_reader *p, const struct json *root);
// plan_read_ops.c: "init" and "ops", with all rows, addresses, copies and waits.
bool rt_plan_read_ops(struct plan_reader *p, const struct json *root);
// "host 4096"
bool rt_plan_read_at(struct rt_reader *r, const struct json *v, const char *name,
                     struct rt_at *out);
// "slot 2 free", "summed"; whether the plan has it is not asked.
bool rt_plan_read_event(struct plan_reader *p, const struct json *v,
                        struct rt_event *out);
// All items' lists of that name, added up.
uint32_t rt_plan_count(const struct json *items, const char *key);

#endif
