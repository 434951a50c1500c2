// The operations of every chunk.
//
//   LOAD (waits FREE, signals LOADED) - COMPUTE.. (the first waits LOADED, the last signals COMPUTED) - STORE (waits
//   COMPUTED, signals FREE)
//
// Those are all waits that a chunk needs: lanes are in order, so whatever else two chunks share (temporaries,
// parameters, a state in the next step) is ordered by COMPUTE or through the slot, which a chunk never changes.
#include "plan/plan_int.h"

// ---- element-wise

static const struct rt_phase *phase_of(const struct plan_builder *b, const struct want *w,
                                       bool is_init) {
  const struct rt_rule *r = rule_of(b, w->param);
  return is_init ? &r->init[w->phase] : &r->phase[w->phase];
}

void put_maps(struct plan_builder *b, uint32_t chunk, bool is_init) {
  wants_sort(b);
  for (uint32_t i = 0; i < b->want.n;) {
    uint32_t group = b->want.v[i].group, kernel = b->group_key.v[group];
    struct rt_op op = op_new(RT_OP_MAP, RT_LANE_COMPUTE, chunk);
    op.kernel = kernel;
    op.first = b->row.n;
    uint64_t elements = 0;
    for (; i < b->want.n && b->want.v[i].group == group; i++) {
      const struct want *w = &b->want.v[i];
      struct row_place place = {.param = w->param,
                                .piece = w->piece,
                                .slot = b->chunk.v[chunk].slot,
                                .phase = w->phase};
      piece_range(b, &b->piece.v[w->piece], w->param, &place.first, &place.numel);
      put_row(b, phase_of(b, w, is_init), &place);
      elements += place.numel;
    }
    op.n = b->row.n - op.first;
    op.bytes_read = elements * b->program->kernel[kernel].bytes_read;
    op.bytes_written = elements * b->program->kernel[kernel].bytes_written;
    put_op(b, is_init, op);
  }
  wants_end(b);
}

static void want_piece(struct plan_builder *b, uint32_t piece) {
  const struct piece *p = &b->piece.v[piece];
  const struct unit *u = &b->ordered.v[p->unit];
  for (uint32_t i = 0; i < u->n && !u->is_matrix; i++) {
    uint32_t param = b->unit_param[u->first + i];
    const struct rt_rule *r = rule_of(b, param);
    uint64_t first, numel;
    piece_range(b, p, param, &first, &numel);
    for (uint32_t k = 0; k < r->n_phases && numel != 0; k++) {
      want_add(b, r->phase[k].kernel,
               (struct want){.param = param, .piece = piece, .phase = k});
    }
  }
}

// ---- copies

static void put_copy(struct plan_builder *b, uint32_t unit, struct rt_at host,
                     struct rt_at arena, uint64_t bytes) {
  struct rt_copy c = {host.offset, arena.offset, bytes, unit};
  if (bytes != 0) {
    VEC_PUSH(b->arena, b->copy, c);
  }
}

// A whole unit is one range, padding included, so that neighbours make one; a cut one has a range per state.
static void put_copies(struct plan_builder *b, const struct piece *p, uint32_t slot) {
  const struct unit *u = &b->ordered.v[p->unit];
  uint32_t param = b->unit_param[u->first];
  if (!p->is_cut) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < u->n; i++) {
      uint32_t q = b->unit_param[u->first + i];
      bytes += states_room(rule_of(b, q), b->param[q].n_states, b->shard[q].numel);
    }
    if (bytes != 0) {
      put_copy(b, p->unit, b->home.v[b->param[param].first_state].at,
               at_space(RT_AT_ARENA, 0, slot * b->slot_bytes + b->slot_at[param]), bytes);
    }
    return;
  }
  for (uint32_t i = 0; i < b->param[param].n_states; i++) {
    struct rt_at host = b->home.v[b->param[param].first_state + i].at;
    uint64_t bytes = rt_storage_bytes(rule_of(b, param)->state[i].storage);
    host.offset += p->begin * bytes;
    put_copy(b, p->unit, host, state_at(b, p, slot, param, i, p->begin),
             p->numel * bytes);
  }
}

// ---- chunks

static void put_load(struct plan_builder *b, uint32_t chunk, struct rt_chunk *out) {
  const struct chunk *c = &b->chunk.v[chunk];
  struct rt_op op = op_new(RT_OP_LOAD, RT_LANE_LOAD, chunk);
  op.first = b->copy.n;
  for (uint32_t i = 0; i < c->n; i++) {
    put_copies(b, &b->piece.v[c->first + i], c->slot);
  }
  op.n = b->copy.n - op.first;
  for (uint32_t i = op.first; i < b->copy.n; i++) {
    out->bytes += b->copy.v[i].bytes;
  }
  op.bytes_read = op.bytes_written = out->bytes;
  op_wait(b, &op, event_of(RT_EVENT_FREE, c->slot));
  op.signal = event_of(RT_EVENT_LOADED, c->slot);
  put_op(b, false, op);
}

static void put_store(struct plan_builder *b, uint32_t chunk, uint32_t load) {
  struct rt_op op = op_new(RT_OP_STORE, RT_LANE_STORE, chunk);
  op.first = b->op.v[load].first;
  op.n = b->op.v[load].n;
  op.bytes_read = op.bytes_written = b->op.v[load].bytes_read;
  op_wait(b, &op, event_of(RT_EVENT_COMPUTED, b->chunk.v[chunk].slot));
  op.signal = event_of(RT_EVENT_FREE, b->chunk.v[chunk].slot);
  put_op(b, false, op);
}

static void put_compute(struct plan_builder *b, uint32_t chunk) {
  const struct chunk *c = &b->chunk.v[chunk];
  for (uint32_t i = 0; i < c->n; i++) {
    want_piece(b, c->first + i);
  }
  put_maps(b, chunk, false);
  plan_matrix_ops(b, chunk);
}

static void put_chunk(struct plan_builder *b, uint32_t chunk) {
  const struct chunk *c = &b->chunk.v[chunk];
  const struct piece *last = &b->piece.v[c->first + c->n - 1];
  uint32_t load = b->op.n;
  struct rt_chunk out = {.first_unit = b->piece.v[c->first].unit,
                         .first_op = load,
                         .slot = c->slot,
                         .order = UINT64_MAX};
  out.n_units = last->unit - out.first_unit + 1;
  for (uint32_t u = out.first_unit; u <= last->unit; u++) {
    uint64_t order = b->ordered.v[u].order;
    out.order = order < out.order ? order : out.order;
  }
  if (c->slot == RT_NO_ID) {
    put_compute(b, chunk);
  } else {
    put_load(b, chunk, &out);
    put_compute(b, chunk);
    op_wait(b, &b->op.v[load + 1], event_of(RT_EVENT_LOADED, c->slot));
    b->op.v[b->op.n - 1].signal = event_of(RT_EVENT_COMPUTED, c->slot);
    put_store(b, chunk, load);
  }
  out.n_ops = b->op.n - out.first_op;
  VEC_PUSH(b->arena, b->out_chunk, out);
}

static void put_events(struct plan_builder *b) {
  for (uint32_t s = 0; s < b->n_slots; s++) {
    for (uint32_t k = RT_EVENT_LOADED; k <= RT_EVENT_FREE; k++) {
      VEC_PUSH(b->arena, b->event, ((struct rt_event){k, s}));
    }
  }
}

void plan_ops(struct plan_builder *b) {
  uint32_t n = b->program->n_kernels > b->form.n ? b->program->n_kernels : b->form.n;
  b->group_of = ARENA_ARRAY(b->arena, uint32_t, n);
  put_events(b);
  plan_begin_ops(b);
  b->n_begin = b->op.n;
  for (uint32_t c = 0; c < b->chunk.n; c++) {
    put_chunk(b, c);
  }
  plan_init_ops(b);
}
