// What a plan's enums are called in texts (names.def), and the lane of each kind of operation.
#ifndef STEPRT_PLAN_NAMES_H
#define STEPRT_PLAN_NAMES_H

#include "plan/program.h"

enum { RT_N_STORAGES = RT_Q8U + 1 };
extern const char *const rt_space_names[RT_N_SPACES];
extern const char *const rt_lane_names[RT_N_LANES];
extern const char *const rt_event_names[RT_N_EVENT_KINDS];
extern const char *const rt_op_names[RT_N_OP_KINDS];
extern const char *const rt_storage_names[RT_N_STORAGES];
extern const enum rt_lane rt_op_lanes[RT_N_OP_KINDS];
extern const bool rt_event_of_slot[RT_N_EVENT_KINDS];

// Index of `name` in a table; `n` where it is not there.
uint32_t rt_name_find(const char *const *table, uint32_t n, const char *name);
// "slot 2 free", "summed"; an event of no known kind is "event".
enum { RT_EVENT_TEXT = 32 };
const char *rt_event_text(const struct rt_event *e, char buf[RT_EVENT_TEXT]);

#endif
