// Phases as text, and what they move.
#include "ir/phases.h"

static bool load_or_store_bytes(const struct ir_ins *ins, uint64_t *read,
                                uint64_t *written) {
  bool load = ins->op == IR_PARAM || ins->op == IR_GRAD || ins->op == IR_STATE ||
              ins->op == IR_INPUT;
  bool store = ins->op == IR_SET_STATE || ins->op == IR_SET_PARAM;
  if (ins->cls != CLS_ELEM || (!load && !store)) {
    return false;
  }
  *(load ? read : written) += storage_bytes(ins->storage);
  return true;
}

void phase_traffic(const struct phases *p, uint32_t phase, uint64_t *read,
                   uint64_t *written) {
  const struct phase *ph = &p->phase[phase];
  *read = *written = 0;
  for (uint32_t i = 0; i < ph->n_ins; i++) {
    (void)load_or_store_bytes(ir_at(p->ir, ph->ins[i]), read, written);
  }
  for (uint32_t i = 0; i < ph->n_temp_in; i++) {
    const struct phase_temp *t = &p->temp[ph->temp_in[i]];
    *read += t->cls == CLS_ELEM ? storage_bytes(t->storage) : 0;
  }
  for (uint32_t i = 0; i < ph->n_temp_out; i++) {
    const struct phase_temp *t = &p->temp[ph->temp_out[i]];
    *written += t->cls == CLS_ELEM ? storage_bytes(t->storage) : 0;
  }
}

static void print_temps(struct buf *b, const struct phases *p, const struct str *label,
                        const char *what, const uint32_t *temp, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const struct phase_temp *t = &p->temp[temp[i]];
    buf_printf(b, "  %s %%%.*s %s %s", what, STR_FMT(label[t->value.i]),
               storage_name(t->storage), ir_class_word(t->cls));
    if (!ir_is_none(t->home)) {
      buf_printf(b, " at %.*s", STR_FMT(ir_at(p->ir, t->home)->name));
    }
    buf_char(b, '\n');
  }
}

static void print_phase(struct buf *b, const struct phases *p, const struct str *label,
                        uint32_t i) {
  const struct phase *ph = &p->phase[i];
  static const char *const kind[] = {"host", "map", "matrix"};
  buf_printf(b, "phase %u %s", i, kind[ph->kind]);
  if (ph->kind == PHASE_MAP) {
    uint64_t read, written;
    phase_traffic(p, i, &read, &written);
    buf_printf(b, " %s", ir_class_word(ph->domain));
    if (ph->domain == CLS_ELEM) {
      buf_printf(b, "  # %llu + %llu bytes per element", (unsigned long long)read,
                 (unsigned long long)written);
    }
  }
  buf_char(b, '\n');
  for (uint32_t k = 0; k < ph->n_scalars; k++) {
    buf_printf(b, "  scalar %%%.*s\n", STR_FMT(label[ph->scalar[k].i]));
  }
  print_temps(b, p, label, "temp", ph->temp_in, ph->n_temp_in);
  for (uint32_t k = 0; k < ph->n_guards; k++) {
    const struct phase_guard *g = &ph->guard[k];
    buf_printf(b, "  guard %%%.*s by %s%%%.*s\n", STR_FMT(label[g->load.i]),
               g->taken ? "" : "not ", STR_FMT(label[g->cond.i]));
  }
  for (uint32_t k = 0; k < ph->n_ins; k++) {
    buf_puts(b, "    ");
    ir_print_ins(b, p->ir, label, ph->ins[k].i);
  }
  print_temps(b, p, label, "keep", ph->temp_out, ph->n_temp_out);
}

struct str phases_print(struct arena *a, const struct phases *p) {
  struct buf b = buf_new(a);
  struct str *label = ir_labels(a, p->ir);
  buf_printf(&b, "phases %.*s\n", STR_FMT(p->ir->name));
  for (uint32_t i = 0; i < p->n_phases; i++) {
    print_phase(&b, p, label, i);
  }
  return buf_done(&b);
}
