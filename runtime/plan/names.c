// Names of a plan's enums.
#include "plan/names.h"

#include <stdio.h>
#include <string.h>

#define SPACE(id, name) [RT_AT_##id] = name,
const char *const rt_space_names[RT_N_SPACES] = {
#include "plan/names.def"
};

#define LANE(id, name) [RT_LANE_##id] = name,
const char *const rt_lane_names[RT_N_LANES] = {
#include "plan/names.def"
};

#define EVENT(id, name, of_slot) [RT_EVENT_##id] = name,
const char *const rt_event_names[RT_N_EVENT_KINDS] = {
#include "plan/names.def"
};

#define EVENT(id, name, of_slot) [RT_EVENT_##id] = of_slot,
const bool rt_event_of_slot[RT_N_EVENT_KINDS] = {
#include "plan/names.def"
};

#define OP(id, name, lane) [RT_OP_##id] = name,
const char *const rt_op_names[RT_N_OP_KINDS] = {
#include "plan/names.def"
};

#define OP(id, name, lane) [RT_OP_##id] = RT_LANE_##lane,
const enum rt_lane rt_op_lanes[RT_N_OP_KINDS] = {
#include "plan/names.def"
};

#define STORAGE(id, name) [RT_##id] = name,
const char *const rt_storage_names[RT_N_STORAGES] = {
#include "plan/names.def"
};

uint32_t rt_name_find(const char *const *table, uint32_t n, const char *name) {
  uint32_t i = 0;
  while (i < n && strcmp(table[i], name) != 0) {
    i++;
  }
  return i;
}

const char *rt_event_text(const struct rt_event *e, char buf[RT_EVENT_TEXT]) {
  if (e->kind >= RT_N_EVENT_KINDS) {
    return "event";
  }
  if (!rt_event_of_slot[e->kind]) {
    return rt_event_names[e->kind];
  }
  (void)snprintf(buf, RT_EVENT_TEXT, "slot %u %s", e->slot, rt_event_names[e->kind]);
  return buf;
}
