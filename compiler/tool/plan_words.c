// The parts of a plan in words.
#include "tool/plan_words.h"

#include "tool/table.h"

#include "plan/names.h" // runtime/

struct str plan_event_words(struct arena *a, const struct rt_event *e) {
  char text[RT_EVENT_TEXT];
  return str_copy(a, str_of(rt_event_text(e, text)));
}

static struct str arena_words(struct arena *a, const struct rt_plan *p, uint64_t offset) {
  uint64_t slots = p->n_slots * p->slot_bytes;
  return offset < slots
             ? str_fmt(a, "slot %llu + %llu",
                       (unsigned long long)(offset / p->slot_bytes),
                       (unsigned long long)(offset % p->slot_bytes))
             : str_fmt(a, "work area + %llu", (unsigned long long)(offset - slots));
}

struct str plan_at_words(struct arena *a, const struct rt_plan *p, struct rt_at at) {
  unsigned long long offset = at.offset;
  switch ((enum rt_space)at.space) {
  case RT_AT_PARAM: return str_fmt(a, "parameter + %llu", offset);
  case RT_AT_GRAD: return str_fmt(a, "gradient + %llu", offset);
  case RT_AT_STATE: return str_fmt(a, "device + %llu", offset);
  case RT_AT_HOST: return str_fmt(a, "host slab + %llu", offset);
  case RT_AT_ARENA: return arena_words(a, p, at.offset);
  case RT_AT_STEP: return str_fmt(a, "step + %llu", offset);
  case RT_N_SPACES: break;
  }
  return STR("");
}

struct str plan_shape_words(struct arena *a, const struct rt_plan_param *p) {
  struct buf b = buf_new(a);
  for (uint32_t d = 0; d < p->rank; d++) {
    buf_printf(&b, "%s%llu", d != 0 ? " x " : "", (unsigned long long)p->dim[d]);
  }
  return p->rank == 0 ? STR("scalar") : buf_done(&b);
}

const char *plan_plural(uint64_t n) {
  return n == 1 ? "" : "s";
}

static uint64_t copied(const struct rt_plan *p, const struct rt_op *op) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < op->n; i++) {
    bytes += p->copy[op->first + i].bytes;
  }
  return bytes;
}

struct str plan_op_words(struct arena *a, const struct rt_plan *p,
                         const struct rt_op *op) {
  const char *word = rt_op_names[op->kind], *s = plan_plural(op->n);
  switch ((enum rt_op_kind)op->kind) {
  case RT_OP_UPLOAD: return STR("upload scalars and addresses of gradients");
  case RT_OP_MERGE: return STR("merge partial sums");
  case RT_OP_EXCHANGE: return STR("exchange sums of squares");
  case RT_OP_VERDICT: return STR("clip factor and verdict");
  case RT_OP_LOAD:
  case RT_OP_STORE:
    return str_fmt(a, "%s %s in %u cop%s", word, text_binary(a, (double)copied(p, op)).p,
                   op->n, op->n == 1 ? "y" : "ies");
  case RT_OP_REDUCE: return str_fmt(a, "squares of %u piece%s of gradients", op->n, s);
  case RT_OP_MAP:
    return str_fmt(a, "%s over %u piece%s",
                   str_escape(a, str_of(p->kernel[op->kernel].name)).p, op->n, s);
  case RT_OP_ORTHO:
    return str_fmt(a, "orthogonalize %llu x %llu of %u piece%s",
                   (unsigned long long)op->rows, (unsigned long long)op->cols, op->n, s);
  case RT_N_OP_KINDS: break;
  }
  return STR("");
}
