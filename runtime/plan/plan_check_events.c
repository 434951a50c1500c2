// Events: each is signalled on one lane, and what is waited for within a chunk was signalled before.
#include "plan/plan_check.h"

#include "plan/names.h"

enum { NO_LANE = RT_N_LANES };

struct signals {
  uint8_t *lane; // by event: of the operations that signal it
  uint32_t *
      chunk; // by event: 1 + the chunk that signalled it last in this list; UINT32_MAX: none yet
};

static steprt_status check_table(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  bool *seen = rt_pool_alloc(&c->pool, (uint64_t)(p->n_slots + 1) * RT_N_EVENT_KINDS,
                             sizeof *seen);
  if (seen == NULL) {
    return rt_plan_check_no_memory(c);
  }
  for (uint32_t i = 0; i < p->n_events; i++) {
    const struct rt_event *e = &p->event[i];
    if (e->kind >= RT_N_EVENT_KINDS ||
        e->slot >= (rt_event_of_slot[e->kind] ? p->n_slots : 1)) {
      return rt_plan_bad(c, "event %u: unknown kind %u or slot %u", i, e->kind, e->slot);
    }
    bool *mine = &seen[e->slot * RT_N_EVENT_KINDS + e->kind];
    if (*mine) {
      return rt_plan_bad(c, "event %u: it stands twice", i);
    }
    *mine = true;
  }
  return STEPRT_OK;
}

// Which events an operation may name: those of its chunk's slot, and in begin those of sums.
static bool may_name(const struct rt_plan *p, const struct rt_op *op, uint32_t event) {
  const struct rt_event *e = &p->event[event];
  if (!rt_event_of_slot[e->kind]) {
    return op->chunk == RT_NO_ID;
  }
  return op->chunk != RT_NO_ID && p->chunk[op->chunk].slot == e->slot;
}

static steprt_status check_signal(struct plan_check *c, const struct rt_op *op,
                                  struct signals *s) {
  const struct rt_plan *p = c->plan;
  char buf[RT_EVENT_TEXT];
  if (op->signal == RT_NO_ID) {
    return STEPRT_OK;
  }
  if (op->signal >= p->n_events || !may_name(p, op, op->signal)) {
    return rt_op_bad(c, op, "it signals event %u, which is not its own", op->signal);
  }
  uint8_t *lane = &s->lane[op->signal];
  if (*lane != NO_LANE && *lane != op->lane) {
    return rt_op_bad(c, op, "it signals `%s` on lane %s, others on %s",
                     rt_event_text(&p->event[op->signal], buf), rt_lane_names[op->lane],
                     rt_lane_names[*lane]);
  }
  *lane = (uint8_t)op->lane;
  s->chunk[op->signal] = op->chunk + 1; // begin: 0
  return STEPRT_OK;
}

static steprt_status check_waits(struct plan_check *c, const struct rt_op *op,
                                 const struct signals *s) {
  const struct rt_plan *p = c->plan;
  char buf[RT_EVENT_TEXT];
  if ((uint64_t)op->first_wait + op->n_waits > p->n_waits && op->n_waits > 0) {
    return rt_op_bad(c, op, "its waits lie beyond the table");
  }
  for (uint32_t i = op->first_wait; i < op->first_wait + op->n_waits; i++) {
    uint32_t id = p->wait[i];
    if (id >= p->n_events || !may_name(p, op, id)) {
      return rt_op_bad(c, op, "it waits for event %u, which is not its own", id);
    }
    const struct rt_event *e = &p->event[id];
    // Only a slot's being free is left from the chunk before; all else comes from this one.
    bool signalled = s->chunk[id] == op->chunk + 1;
    if (e->kind != RT_EVENT_FREE && !signalled) {
      return rt_op_bad(c, op,
                       "it waits for `%s`, which no op before it in its chunk signals: "
                       "a cycle, or an order of another chunk",
                       rt_event_text(e, buf));
    }
  }
  return STEPRT_OK;
}

static steprt_status check_waited(struct plan_check *c, const struct signals *s,
                                  const struct rt_op *op, uint32_t n) {
  const struct rt_plan *p = c->plan;
  char buf[RT_EVENT_TEXT];
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = op[i].first_wait; k < op[i].first_wait + op[i].n_waits; k++) {
      if (s->chunk[p->wait[k]] == UINT32_MAX) {
        return rt_op_bad(c, &op[i], "it waits for `%s`, which nothing signals",
                         rt_event_text(&p->event[p->wait[k]], buf));
      }
    }
  }
  return STEPRT_OK;
}

static steprt_status check_list(struct plan_check *c, struct signals *s,
                                const struct rt_op *op, uint32_t n) {
  memset(s->chunk, 0xff, c->plan->n_events * sizeof *s->chunk);
  for (uint32_t i = 0; i < n; i++) {
    RT_TRY(check_waits(c, &op[i], s));
    RT_TRY(check_signal(c, &op[i], s));
  }
  return check_waited(c, s, op, n);
}

steprt_status rt_plan_check_events(struct plan_check *c) {
  const struct rt_plan *p = c->plan;
  RT_TRY(check_table(c));
  struct signals s = {rt_pool_alloc(&c->pool, p->n_events, sizeof *s.lane),
                      rt_pool_alloc(&c->pool, p->n_events, sizeof *s.chunk)};
  if (s.lane == NULL || s.chunk == NULL) {
    return rt_plan_check_no_memory(c);
  }
  memset(s.lane, NO_LANE, p->n_events);
  RT_TRY(check_list(c, &s, p->init, p->n_init));
  return check_list(c, &s, p->op, p->n_ops);
}
