// Matrix rules of a chunk: MAP, ORTHO, MAP over sub-batches, which bound the temporaries and the workspace.
//
// All matrices of one form in the chunk are one sequence, whatever unit or parameter they belong to; a sub-batch takes
// the next of them, also a part of a parameter's. COMPUTE runs one operation after the other, so that all sub-batches
// use the same bytes behind the slots.
#include "plan/plan_int.h"

// A run of matrices of one parameter in a sub-batch.
struct run {
  uint32_t want;
  uint64_t first, n,
      before; // matrices: of the parameter, of the run, of the sub-batch before it
};
struct batcher {
  struct plan_builder *b;
  uint32_t chunk;
  const struct form *form;
  VEC(struct run) run;
  uint64_t n; // matrices so far
};

static void want_matrices(struct plan_builder *b, uint32_t chunk) {
  const struct chunk *c = &b->chunk.v[chunk];
  for (uint32_t i = c->first; i < c->first + c->n; i++) {
    const struct unit *u = &b->ordered.v[b->piece.v[i].unit];
    for (uint32_t k = 0; k < u->n && u->is_matrix; k++) {
      uint32_t param = b->unit_param[u->first + k];
      if (b->shard[param].numel != 0) {
        want_add(b, u->form, (struct want){.param = param, .piece = i});
      }
    }
  }
}

// ---- one sub-batch

static void put_rows(struct batcher *t, uint32_t phase) {
  struct plan_builder *b = t->b;
  uint64_t size = t->form->rule->rows * t->form->rule->cols;
  for (uint32_t i = 0; i < t->run.n; i++) {
    const struct run *r = &t->run.v[i];
    const struct want *w = &b->want.v[r->want];
    struct row_place place = {.param = w->param,
                              .piece = w->piece,
                              .slot = b->chunk.v[t->chunk].slot,
                              .phase = phase,
                              .first = r->first * size,
                              .numel = r->n * size,
                              .temp_n = t->n * size,
                              .temp_first = r->before * size};
    put_row(b, &rule_of(b, w->param)->phase[phase], &place);
  }
}

static void set_ortho(struct batcher *t, const struct rt_phase *p, struct rt_op *op) {
  const struct rt_rule *r = t->form->rule;
  struct plan_builder *b = t->b;
  uint64_t elements = t->n * r->rows * r->cols;
  op->kind = RT_OP_ORTHO;
  op->rows = r->rows;
  op->cols = r->cols;
  op->in_bytes = rt_storage_bytes(p->tensor[0].storage);
  op->out_bytes = rt_storage_bytes(p->tensor[1].storage);
  op->work_bytes = ortho_bytes(b, r, p, t->n);
  if (op->work_bytes != 0) {
    op->work =
        at_space(RT_AT_ARENA, 0, temps_end(r, r->n_temps, plan_slots_bytes(b), elements));
  }
  op->bytes_read = elements * op->in_bytes;
  op->bytes_written = elements * op->out_bytes;
  double flops = (double)t->n * (double)t->form->matrix_flops;
  op->flops = flops < 0x1p53 ? (uint64_t)flops : UINT64_C(1) << 53;
}

static void put_batch(struct batcher *t) {
  struct plan_builder *b = t->b;
  const struct rt_rule *r = t->form->rule;
  uint64_t elements = t->n * r->rows * r->cols, bytes = batch_bytes(b, r, t->n);
  for (uint32_t i = 0; i < r->n_phases; i++) {
    const struct rt_phase *p = &r->phase[i];
    struct rt_op op = op_new(RT_OP_MAP, RT_LANE_COMPUTE, t->chunk);
    op.kernel = p->kernel;
    op.first = b->row.n;
    op.n = t->run.n;
    put_rows(t, i);
    if (p->kind == RT_PHASE_ORTHO) {
      set_ortho(t, p, &op);
    } else {
      op.bytes_read = elements * b->program->kernel[p->kernel].bytes_read;
      op.bytes_written = elements * b->program->kernel[p->kernel].bytes_written;
    }
    put_op(b, false, op);
  }
  b->work_bytes = bytes > b->work_bytes ? bytes : b->work_bytes;
  t->run.n = 0;
  t->n = 0;
}

// ---- the sequence

static void put_param(struct batcher *t, uint32_t want) {
  struct plan_builder *b = t->b;
  const struct rt_rule *r = t->form->rule;
  uint64_t n = b->shard[b->want.v[want].param].numel / (r->rows * r->cols);
  for (uint64_t first = 0; first < n;) {
    uint64_t room = t->form->batch - t->n;
    struct run run = {want, first, n - first < room ? n - first : room, t->n};
    VEC_PUSH(b->arena, t->run, run);
    t->n += run.n;
    first += run.n;
    if (t->n == t->form->batch) {
      put_batch(t);
    }
  }
}

void plan_matrix_ops(struct plan_builder *b, uint32_t chunk) {
  struct batcher t = {.b = b, .chunk = chunk};
  want_matrices(b, chunk);
  wants_sort(b);
  for (uint32_t i = 0; i < b->want.n; i++) {
    t.form = &b->form.v[b->group_key.v[b->want.v[i].group]];
    put_param(&t, i);
    bool is_last = i + 1 == b->want.n || b->want.v[i + 1].group != b->want.v[i].group;
    if (is_last && t.n != 0) {
      put_batch(&t);
    }
  }
  wants_end(b);
}
