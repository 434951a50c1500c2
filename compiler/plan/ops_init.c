// What bind runs once after the states were zeroed: initial values other than zeros. Chunk by chunk like a step, where
// the states of a chunk stream.
#include "plan/plan_int.h"

static void want_initials(struct plan_builder *b, uint32_t piece) {
  const struct piece *p = &b->piece.v[piece];
  const struct unit *u = &b->ordered.v[p->unit];
  for (uint32_t i = 0; i < u->n; i++) {
    uint32_t param = b->unit_param[u->first + i];
    const struct rt_rule *r = rule_of(b, param);
    uint64_t first, numel;
    piece_range(b, p, param, &first, &numel);
    for (uint32_t k = 0; k < r->n_init && numel != 0; k++) {
      want_add(b, r->init[k].kernel,
               (struct want){.param = param, .piece = piece, .phase = k});
    }
  }
}

// The chunk's own LOAD or STORE once more, with its waits and its signal.
static void put_move(struct plan_builder *b, uint32_t op) {
  put_op(b, true, b->op.v[op]);
}

static void put_chunk(struct plan_builder *b, uint32_t chunk) {
  const struct chunk *c = &b->chunk.v[chunk];
  const struct rt_chunk *out = &b->out_chunk.v[chunk];
  for (uint32_t i = 0; i < c->n; i++) {
    want_initials(b, c->first + i);
  }
  if (b->want.n == 0) {
    return;
  }
  bool streams = c->slot != RT_NO_ID;
  if (streams) {
    put_move(b, out->first_op);
  }
  uint32_t first = b->init.n;
  put_maps(b, chunk, true);
  if (streams) {
    op_wait(b, &b->init.v[first], event_of(RT_EVENT_LOADED, c->slot));
    b->init.v[b->init.n - 1].signal = event_of(RT_EVENT_COMPUTED, c->slot);
    put_move(b, out->first_op + out->n_ops - 1);
  }
}

void plan_init_ops(struct plan_builder *b) {
  for (uint32_t c = 0; c < b->chunk.n; c++) {
    put_chunk(b, c);
  }
}
