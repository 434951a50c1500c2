// Where this rank's states lie: in the device's resident block, or in the host slab and, while their chunk is in
// flight, in its slot.
//
// The states of a whole unit lie one behind the other, each aligned, alike in slab and slot, and whole units of a
// chunk follow each other in both: a chunk moves as one range. A unit that is cut keeps each state in one range of
// the slab, of which every chunk moves its part. Slots are taken in turn by the chunks that stream something here.
#include "plan/plan_int.h"

// ---- ranges

void piece_range(const struct plan_builder *b, const struct piece *p, uint32_t param,
                 uint64_t *first, uint64_t *numel) {
  *first = p->is_cut ? p->begin : 0;
  *numel = p->is_cut ? p->numel : b->shard[param].numel;
}

const struct rt_rule *rule_of(const struct plan_builder *b, uint32_t param) {
  return &b->program->rule[b->program->param[param].rule];
}

uint64_t states_room(const struct rt_rule *r, uint32_t n_states, uint64_t numel) {
  uint64_t room = 0;
  for (uint32_t i = 0; i < n_states; i++) {
    room += rt_round_up(numel * rt_storage_bytes(r->state[i].storage), PLAN_ALIGN);
  }
  return room;
}

uint64_t piece_room(const struct plan_builder *b, const struct piece *p) {
  const struct unit *u = &b->ordered.v[p->unit];
  if (!p->is_cut) {
    return u->room;
  }
  uint64_t padding = PLAN_ALIGN * (uint64_t)b->form.v[u->form].rule->n_states;
  return (p->to - p->from) * u->grain_bytes + padding;
}

struct rt_at state_at(const struct plan_builder *b, const struct piece *p, uint32_t slot,
                      uint32_t param, uint32_t state, uint64_t element) {
  const struct rt_rule *r = rule_of(b, param);
  uint64_t bytes = rt_storage_bytes(r->state[state].storage);
  if (slot == RT_NO_ID) {
    struct rt_at at = b->home.v[b->param[param].first_state + state].at;
    at.offset += element * bytes;
    return at;
  }
  uint64_t first, numel;
  piece_range(b, p, param, &first, &numel);
  uint64_t base = p->is_cut ? p->slot : b->slot_at[param];
  return at_space(RT_AT_ARENA, 0,
                  slot * b->slot_bytes + base + states_room(r, state, numel) +
                      (element - first) * bytes);
}

// ---- homes

// Gives a parameter's states their homes from *at of `space` on.
static void settle(struct plan_builder *b, uint32_t param, uint32_t space, uint64_t *at) {
  const struct rt_rule *r = rule_of(b, param);
  for (uint32_t i = 0; i < r->n_states; i++) {
    uint64_t bytes = b->shard[param].numel * rt_storage_bytes(r->state[i].storage);
    b->home.v[b->param[param].first_state + i].at = at_space(space, 0, *at);
    *at += rt_round_up(bytes, PLAN_ALIGN);
  }
}

static void list_homes(struct plan_builder *b) {
  for (uint32_t i = 0; i < b->program->n_params; i++) {
    b->param[i].first_state = b->home.n;
    for (uint32_t s = 0; s < b->param[i].n_states; s++) {
      const struct rt_state *state = &rule_of(b, i)->state[s];
      struct rt_state_home home = {.bytes = b->shard[i].numel *
                                            rt_storage_bytes(state->storage),
                                   .name = state->name,
                                   .storage = state->storage};
      VEC_PUSH(b->arena, b->home, home);
    }
  }
}

// ---- chunks

static void set_range(struct plan_builder *b, struct piece *p) {
  const struct shard *s = &b->shard[b->unit_param[b->ordered.v[p->unit].first]];
  p->begin = shard_grain_at(s, p->from);
  p->numel = shard_grain_at(s, p->to) - p->begin;
}

static void settle_resident(struct plan_builder *b, const struct piece *p) {
  const struct unit *u = &b->ordered.v[p->unit];
  for (uint32_t i = 0; i < u->n && p->from == 0; i++) {
    settle(b, b->unit_param[u->first + i], RT_AT_STATE, &b->state_bytes);
  }
}

// Returns the offset in the slot behind the piece.
static uint64_t settle_streamed(struct plan_builder *b, struct piece *p, uint64_t slot) {
  const struct unit *u = &b->ordered.v[p->unit];
  p->slot = slot;
  for (uint32_t i = 0; i < u->n; i++) {
    uint32_t param = b->unit_param[u->first + i];
    if (p->from == 0) {
      settle(b, param, RT_AT_HOST, &b->host_bytes);
    }
    uint64_t first, numel;
    piece_range(b, p, param, &first, &numel);
    b->slot_at[param] = slot;
    slot += states_room(rule_of(b, param), b->param[param].n_states, numel);
  }
  return slot;
}

static void place_chunk(struct plan_builder *b, struct chunk *c) {
  uint64_t slot = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    struct piece *p = &b->piece.v[c->first + i];
    if (p->is_cut) {
      set_range(b, p);
    }
    if (c->streams) {
      slot = settle_streamed(b, p, slot);
    } else {
      settle_resident(b, p);
    }
  }
  c->slot = RT_NO_ID;
  if (slot != 0) {
    c->slot = b->n_streams++;
    b->slot_bytes = slot > b->slot_bytes ? slot : b->slot_bytes;
  }
}

void plan_layout(struct plan_builder *b) {
  b->slot_at = ARENA_ARRAY(b->arena, uint64_t, b->program->n_params);
  list_homes(b);
  for (uint32_t c = 0; c < b->chunk.n; c++) {
    place_chunk(b, &b->chunk.v[c]);
  }
  b->n_slots = b->n_streams < b->o.slots ? b->n_streams : b->o.slots;
  for (uint32_t c = 0; c < b->chunk.n; c++) {
    struct chunk *k = &b->chunk.v[c];
    k->slot = k->slot == RT_NO_ID ? RT_NO_ID : k->slot % b->n_slots;
  }
}
