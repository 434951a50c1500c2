#include "support/tiny_plan.h"

#include <string.h>

enum { ALIGN = 256, MOST_TEMPS = 4, MOST_STATES = 4 };

// Elements of a parameter that a chunk updates, and where its states and temporaries lie then.
struct piece {
  uint32_t param, unit;
  uint64_t first, numel;
  struct rt_at state[MOST_STATES], temp[MOST_TEMPS];
};

struct build {
  struct tiny_plan *t;
  struct rt_plan *p;
  const struct steprt_program *program;
  struct tiny_plan_options o;
  struct piece piece[TINY_MOST_PARAMS];
  uint32_t n_pieces, chunk, slot;
  uint64_t temp_bytes; // of the largest chunk
  struct rt_op *list;  // plan->op or plan->init
  uint32_t n_list;
};

static uint64_t round_up(uint64_t n) {
  return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static const struct rt_rule *rule_of(const struct build *b, uint32_t param) {
  return &b->program->rule[b->program->param[param].rule];
}

// ---- parameters, units, states

static void add_param(struct build *b, uint32_t i) {
  const struct rt_param *v = &b->program->param[i];
  struct rt_plan *p = b->p;
  struct rt_plan_param *out = &b->t->param[i];
  *out = (struct rt_plan_param){.name = v->name,
                                .label = v->active ? "tiny" : "",
                                .reason = "",
                                .rule = v->active ? rule_of(b, i)->name : "",
                                .rank = v->rank,
                                .numel = v->numel,
                                .storage = v->storage,
                                .grad = v->grad,
                                .unit = RT_NO_ID,
                                .first_state = p->n_states,
                                .counted = v->active,
                                .order = i};
  memcpy(out->dim, v->dim, sizeof out->dim);
  for (uint32_t s = 0; v->active && s < rule_of(b, i)->n_states; s++) {
    const struct rt_state *state = &rule_of(b, i)->state[s];
    uint64_t *block = b->o.host ? &p->host_bytes : &p->state_bytes;
    uint64_t bytes = v->numel * rt_storage_bytes(state->storage);
    b->t->state[p->n_states++] =
        (struct rt_state_home){.at = {b->o.host ? RT_AT_HOST : RT_AT_STATE, 0, *block},
                               .bytes = bytes,
                               .name = state->name,
                               .storage = state->storage};
    out->n_states++;
    *block += round_up(bytes);
  }
}

static uint64_t state_bytes(const struct build *b, uint32_t param) {
  const struct rt_plan_param *v = &b->t->param[param];
  uint64_t bytes = 0;
  for (uint32_t s = 0; s < v->n_states; s++) {
    bytes += b->t->state[v->first_state + s].bytes;
  }
  return bytes;
}

static void add_units(struct build *b) {
  uint32_t n = 0, left = 0;
  for (uint32_t i = 0; i < b->p->n_params; i++) {
    left += b->program->param[i].active;
  }
  for (uint32_t i = 0; i < b->p->n_params; i++) {
    if (!b->program->param[i].active) {
      continue;
    }
    bool joins = b->o.pair && left == 1 && b->p->n_units > 0;
    struct rt_unit *u = &b->t->unit[joins ? b->p->n_units - 1 : b->p->n_units++];
    u->first = joins ? u->first : n;
    u->n++;
    u->bytes += state_bytes(b, i);
    b->t->unit_param[n++] = i;
    b->t->param[i].unit = (uint32_t)(u - b->t->unit);
    left--;
  }
  b->p->n_unit_params = n;
}

// ---- operations

static uint32_t event_of(const struct build *b, enum rt_event_kind kind) {
  return b->slot * 3 + (uint32_t)kind;
}

static struct rt_op *add_op(struct build *b, enum rt_op_kind kind, enum rt_lane lane) {
  struct rt_op *op = &b->list[b->n_list++];
  *op = (struct rt_op){.kind = kind,
                       .lane = lane,
                       .chunk = b->chunk,
                       .first = b->p->n_rows,
                       .kernel = RT_NO_ID,
                       .first_wait = b->p->n_waits,
                       .signal = RT_NO_ID};
  return op;
}

static void wait_for(struct build *b, struct rt_op *op, uint32_t event) {
  b->t->wait[b->p->n_waits++] = event;
  op->n_waits++;
}

static struct rt_at address(const struct build *b, const struct piece *x,
                            const struct rt_tensor *t) {
  uint64_t offset = x->first * rt_storage_bytes(t->storage);
  switch ((enum rt_tensor_kind)t->kind) {
  case RT_TENSOR_PARAM: return (struct rt_at){RT_AT_PARAM, x->param, offset};
  case RT_TENSOR_GRAD: return (struct rt_at){RT_AT_GRAD, x->param, offset};
  case RT_TENSOR_STATE: return x->state[t->index];
  case RT_TENSOR_TEMP: break;
  }
  (void)b;
  return x->temp[t->index];
}

static void add_row(struct build *b, const struct piece *x, uint32_t phase,
                    const struct rt_tensor *t, uint32_t n) {
  b->t->row[b->p->n_rows++] =
      (struct rt_row){x->param, x->unit, x->first, x->numel, phase, b->p->n_at};
  for (uint32_t i = 0; i < n; i++) {
    b->t->at[b->p->n_at++] = address(b, x, &t[i]);
  }
}

static const struct rt_phase *phase_of(const struct build *b, const struct piece *x,
                                       uint32_t phase) {
  const struct rt_rule *r = rule_of(b, x->param);
  if (b->list == b->t->op) {
    return phase < r->n_phases ? &r->phase[phase] : NULL;
  }
  return phase < r->n_init ? &r->init[phase] : NULL;
}

// One operation for all pieces of the chunk whose phase is like that of the first; the others' are marked off.
static void add_phase_op(struct build *b, uint32_t phase, uint32_t first, bool *done) {
  const struct rt_phase *ph = phase_of(b, &b->piece[first], phase);
  bool is_map = ph->kind == RT_PHASE_MAP;
  struct rt_op *op = add_op(b, is_map ? RT_OP_MAP : RT_OP_ORTHO, RT_LANE_COMPUTE);
  const struct rt_rule *r = rule_of(b, b->piece[first].param);
  op->kernel = ph->kernel;
  if (!is_map) {
    op->rows = r->rows;
    op->cols = r->cols;
    op->in_bytes = rt_storage_bytes(ph->tensor[0].storage);
    op->out_bytes = rt_storage_bytes(ph->tensor[1].storage);
  }
  for (uint32_t i = first; i < b->n_pieces; i++) {
    const struct rt_phase *other = phase_of(b, &b->piece[i], phase);
    bool same = other && other->kind == ph->kind && other->kernel == ph->kernel &&
                (is_map || rule_of(b, b->piece[i].param)->rows == r->rows);
    if (same && !done[i]) {
      add_row(b, &b->piece[i], phase, other->tensor, other->n_tensors);
      op->n++;
      done[i] = true;
    }
  }
}

static void add_phases(struct build *b) {
  for (uint32_t phase = 0; phase < 8; phase++) {
    bool done[TINY_MOST_PARAMS] = {false};
    for (uint32_t i = 0; i < b->n_pieces; i++) {
      if (!done[i] && phase_of(b, &b->piece[i], phase)) {
        add_phase_op(b, phase, i, done);
      }
    }
  }
}

static void add_copies(struct build *b, struct rt_op *op) {
  op->first = b->p->n_copies;
  for (uint32_t i = 0; i < b->n_pieces; i++) {
    const struct piece *x = &b->piece[i];
    const struct rt_plan_param *v = &b->t->param[x->param];
    for (uint32_t s = 0; s < v->n_states; s++) {
      const struct rt_state_home *home = &b->t->state[v->first_state + s];
      uint64_t size = rt_storage_bytes(home->storage);
      if (x->numel == 0) {
        continue;
      }
      if (op->kind == RT_OP_LOAD && b->list == b->t->op) {
        b->t->chunk[b->chunk].bytes += x->numel * size;
      }
      b->t->copy[b->p->n_copies++] =
          (struct rt_copy){home->at.offset + x->first * size, x->state[s].offset,
                           x->numel * size, x->unit};
      op->n++;
    }
  }
}

// The operations of the chunk whose pieces are in `b`, in b->list.
static void add_chunk_ops(struct build *b) {
  if (b->o.host) {
    struct rt_op *load = add_op(b, RT_OP_LOAD, RT_LANE_LOAD);
    wait_for(b, load, event_of(b, RT_EVENT_FREE));
    load->signal = event_of(b, RT_EVENT_LOADED);
    add_copies(b, load);
  }
  uint32_t first = b->n_list;
  add_phases(b);
  if (b->o.host) {
    wait_for(b, &b->list[first], event_of(b, RT_EVENT_LOADED));
    b->list[first].first_wait = b->p->n_waits - 1;
    b->list[b->n_list - 1].signal = event_of(b, RT_EVENT_COMPUTED);
    struct rt_op *store = add_op(b, RT_OP_STORE, RT_LANE_STORE);
    wait_for(b, store, event_of(b, RT_EVENT_COMPUTED));
    store->signal = event_of(b, RT_EVENT_FREE);
    add_copies(b, store);
  }
}

// ---- chunks

static void place_piece(struct build *b, struct piece *x, uint64_t *slot,
                        uint64_t *temp) {
  const struct rt_plan_param *v = &b->t->param[x->param];
  const struct rt_rule *r = rule_of(b, x->param);
  for (uint32_t s = 0; s < v->n_states; s++) {
    x->state[s] = b->t->state[v->first_state + s].at;
    if (b->o.host) {
      x->state[s] = (struct rt_at){RT_AT_ARENA, 0, b->slot * b->p->slot_bytes + *slot};
      *slot += round_up(x->numel * rt_storage_bytes(r->state[s].storage));
    }
  }
  for (uint32_t i = 0; i < r->n_temps; i++) {
    x->temp[i] = (struct rt_at){RT_AT_ARENA, 0, b->p->n_slots * b->p->slot_bytes + *temp};
    *temp += round_up(x->numel * rt_storage_bytes(r->temp[i]));
  }
}

// Lays the pieces out, in the slot and behind all slots; returns what they take of the slot.
static uint64_t place_pieces(struct build *b) {
  uint64_t slot = 0, temp = 0;
  b->slot = b->p->n_slots > 0 ? b->chunk % b->p->n_slots : 0;
  for (uint32_t i = 0; i < b->n_pieces; i++) {
    place_piece(b, &b->piece[i], &slot, &temp);
  }
  b->temp_bytes = temp > b->temp_bytes ? temp : b->temp_bytes;
  return slot;
}

static void close_chunk(struct build *b, bool measure, uint32_t first_unit,
                        uint32_t n_units) {
  uint64_t slot = place_pieces(b);
  struct rt_chunk *c = &b->t->chunk[b->chunk];
  if (measure) {
    b->p->slot_bytes = slot > b->p->slot_bytes ? slot : b->p->slot_bytes;
  } else if (b->list == b->t->op) {
    *c = (struct rt_chunk){.first_unit = first_unit,
                           .n_units = n_units,
                           .first_op = b->n_list,
                           .slot = b->o.host ? b->slot : RT_NO_ID,
                           .order = UINT64_MAX};
    for (uint32_t i = 0; i < b->n_pieces; i++) {
      uint64_t order = b->t->param[b->piece[i].param].order;
      c->order = order < c->order ? order : c->order;
    }
  }
  if (!measure) {
    add_chunk_ops(b);
    c->n_ops = b->list == b->t->op ? b->n_list - c->first_op : c->n_ops;
  }
  b->chunk++;
  b->n_pieces = 0;
}

static void add_piece(struct build *b, uint32_t param, uint64_t first, uint64_t numel) {
  b->piece[b->n_pieces++] = (struct piece){
      .param = param, .unit = b->t->param[param].unit, .first = first, .numel = numel};
}

// A unit of one parameter in chunks of its own.
static void cut_unit(struct build *b, uint32_t unit, bool measure) {
  struct rt_unit *u = &b->t->unit[unit];
  uint32_t param = b->t->unit_param[u->first];
  uint64_t numel = b->t->param[param].numel;
  u->first_chunk = b->chunk;
  for (uint64_t at = 0; at < numel; at += b->o.piece) {
    add_piece(b, param, at, numel - at < b->o.piece ? numel - at : b->o.piece);
    close_chunk(b, measure, unit, 1);
  }
  u->n_chunks = b->chunk - u->first_chunk;
}

static bool is_cut(const struct build *b, uint32_t unit) {
  const struct rt_unit *u = &b->t->unit[unit];
  uint64_t numel = b->t->param[b->t->unit_param[u->first]].numel;
  return b->o.piece > 0 && u->n == 1 && numel > b->o.piece;
}

static void walk_units(struct build *b, bool measure) {
  uint32_t most = b->o.host ? b->o.together : b->p->n_units;
  b->chunk = b->n_pieces = 0;
  for (uint32_t u = 0, first = 0; u < b->p->n_units; u++) {
    if (is_cut(b, u)) {
      cut_unit(b, u, measure);
      first = u + 1;
      continue;
    }
    struct rt_unit *unit = &b->t->unit[u];
    unit->first_chunk = b->chunk;
    unit->n_chunks = 1;
    for (uint32_t i = unit->first; i < unit->first + unit->n; i++) {
      add_piece(b, b->t->unit_param[i], 0, b->t->param[b->t->unit_param[i]].numel);
    }
    bool last = u + 1 == b->p->n_units || is_cut(b, u + 1);
    if (last || u + 1 - first == most) {
      close_chunk(b, measure, first, u + 1 - first);
      first = u + 1;
    }
  }
  b->p->n_chunks = b->chunk;
}

// ---- begin

static void add_reduce(struct build *b, uint32_t storage, uint64_t work) {
  const struct rt_tensor grad = {RT_TENSOR_GRAD, 0, storage, true, false};
  struct rt_op *op = add_op(b, RT_OP_REDUCE, RT_LANE_COMPUTE);
  op->work = (struct rt_at){RT_AT_STEP, 0, work};
  op->work_bytes = RT_BINS_BYTES;
  for (uint32_t i = 0; i < b->p->n_params; i++) {
    const struct rt_plan_param *v = &b->t->param[i];
    if (v->unit != RT_NO_ID && v->grad == storage) {
      const struct piece x = {.param = i, .unit = v->unit, .numel = v->numel};
      add_row(b, &x, 0, &grad, 1);
      op->n++;
    }
  }
}

static void add_begin(struct build *b) {
  enum { SUMS = 128 };
  b->chunk = RT_NO_ID;
  add_op(b, RT_OP_UPLOAD, RT_LANE_COMPUTE)->first = 0;
  b->p->step_bytes = SUMS;
  if (b->program->clips || b->program->skips_nonfinite) {
    add_reduce(b, RT_F32, SUMS);
    add_reduce(b, RT_BF16, SUMS + RT_BINS_BYTES);
    struct rt_op *op = add_op(b, RT_OP_VERDICT, RT_LANE_COMPUTE);
    op->first = 0;
    op->work = (struct rt_at){RT_AT_STEP, 0, SUMS};
    op->work_bytes = 2 * RT_BINS_BYTES;
    b->p->step_bytes += 2 * RT_BINS_BYTES;
  }
  b->p->n_begin = b->n_list;
}

static void set_tables(struct build *b) {
  struct tiny_plan *t = b->t;
  struct rt_plan *p = b->p;
  *p = (struct rt_plan){.version = RT_PLAN_VERSION,
                        .configuration = {.target = b->program->target,
                                          .offload = b->o.host ? "host" : "none",
                                          .slots = b->o.slots,
                                          .overlap = b->o.overlap,
                                          .world = 1},
                        .param = t->param,
                        .n_params = b->program->n_params,
                        .kernel = t->kernel,
                        .n_kernels = b->program->n_kernels,
                        .state = t->state,
                        .unit_param = t->unit_param,
                        .unit = t->unit,
                        .chunk = t->chunk,
                        .op = t->op,
                        .init = t->init,
                        .event = t->event,
                        .wait = t->wait,
                        .row = t->row,
                        .at = t->at,
                        .copy = t->copy,
                        .n_slots = b->o.host ? b->o.slots : 0,
                        .n_events = b->o.host ? 3 * b->o.slots : 0,
                        .first_ahead = b->o.first_ahead,
                        .ahead = b->o.ahead};
  memcpy(p->program_digest, b->program->digest, sizeof p->program_digest);
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    const struct rt_kernel *k = &b->program->kernel[i];
    t->kernel[i] = (struct rt_kernel_info){.name = k->name,
                                           .n_ptrs = k->n_ptrs,
                                           .n_scalars = k->n_scalars,
                                           .access = k->access,
                                           .bytes_read = k->bytes_read,
                                           .bytes_written = k->bytes_written};
  }
  for (uint32_t i = 0; i < p->n_events; i++) {
    t->event[i] = (struct rt_event){i % 3, i / 3};
  }
}

void tiny_plan_make(struct tiny_plan *t, const struct steprt_program *program,
                    const struct tiny_plan_options *o) {
  memset(t, 0, sizeof *t);
  struct build b = {.t = t, .p = &t->plan, .program = program, .o = *o};
  b.o.slots = o->slots > 0 ? o->slots : 3;
  b.o.together = o->together > 0 ? o->together : 1;
  b.o.piece = o->host ? o->piece : 0;
  set_tables(&b);
  for (uint32_t i = 0; i < t->plan.n_params; i++) {
    add_param(&b, i);
  }
  add_units(&b);
  walk_units(&b, true);
  b.list = t->op;
  add_begin(&b);
  walk_units(&b, false);
  t->plan.n_ops = b.n_list;
  b.list = t->init;
  b.n_list = 0;
  walk_units(&b, false);
  t->plan.n_init = b.n_list;
  t->plan.arena_bytes = t->plan.n_slots * t->plan.slot_bytes + b.temp_bytes;
}
