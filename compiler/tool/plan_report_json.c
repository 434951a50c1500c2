// The report on a plan for machines.
#include "tool/plan_floor.h"
#include "tool/plan_report.h"
#include "tool/plan_words.h"

#include "plan/names.h" // runtime/

static void put_u64(struct buf *b, const char *name, uint64_t value, const char *after) {
  buf_printf(b, "\"%s\": %llu%s", name, (unsigned long long)value, after);
}

static void put_text(struct buf *b, const char *name, const char *text,
                     const char *after) {
  buf_printf(b, "\"%s\": ", name);
  buf_json(b, str_of(text));
  buf_puts(b, after);
}

static void put_configuration(struct buf *b, const struct plan_view *v) {
  const struct rt_configuration *c = &v->plan->configuration;
  put_text(b, "job", str_cstr(b->arena, v->title), ", ");
  put_text(b, "mesh", str_cstr(b->arena, v->mesh), ",\n  ");
  put_text(b, "target", c->target, ", ");
  put_text(b, "offload", c->offload, ", ");
  put_u64(b, "chunk_bytes", c->chunk_bytes, ", ");
  put_u64(b, "slots", v->plan->n_slots, ", ");
  buf_printf(b, "\"overlap\": %s, ", c->overlap ? "true" : "false");
  put_u64(b, "rank", c->rank, ", ");
  put_u64(b, "world", c->world, ",\n  ");
}

static void put_lines(struct buf *b, const struct plan_totals *t) {
  buf_puts(b, "\"lines\": [");
  for (uint32_t i = 0; i < t->line.n; i++) {
    const struct plan_line *x = &t->line.v[i];
    buf_puts(b, i != 0 ? ",\n    {" : "\n    {");
    put_text(b, "label", x->label, ", ");
    put_text(b, "rule", x->rule, ", ");
    put_text(b, "reason", x->reason, ", ");
    put_u64(b, "parameters", x->params, ", ");
    put_u64(b, "elements", x->elements, ", ");
    put_u64(b, "state_bytes", x->state_bytes, ", ");
    put_u64(b, "host_bytes", x->host_bytes, ", ");
    put_u64(b, "units", x->units, "}");
  }
  buf_puts(b, "],\n  ");
}

static void put_kernels(struct buf *b, const struct plan_totals *t) {
  buf_puts(b, "\"kernels\": [");
  for (uint32_t k = 0, n = 0; k < t->plan->n_kernels; k++) {
    const struct rt_kernel_info *info = &t->plan->kernel[k];
    const struct plan_launches *x = &t->kernel[k];
    if (x->ops == 0) {
      continue;
    }
    buf_puts(b, n++ != 0 ? ",\n    {" : "\n    {");
    put_text(b, "name", info->name, ", ");
    put_u64(b, "launches", x->ops, ", ");
    put_u64(b, "pieces", x->pieces, ", ");
    put_u64(b, "elements", x->elements, ", ");
    put_u64(b, "bytes", x->bytes, ", ");
    put_u64(b, "registers", info->registers, ", ");
    put_u64(b, "shared", info->shared, ", ");
    put_u64(b, "spilled", info->spilled, "}");
  }
  buf_puts(b, "],\n  ");
}

static void put_operations(struct buf *b, const struct plan_totals *t) {
  buf_puts(b, "\"operations\": {");
  for (uint32_t k = 0, n = 0; k < RT_N_OP_KINDS; k++) {
    const struct plan_kind *x = &t->kind[k];
    if (x->ops == 0) {
      continue;
    }
    buf_printf(b, "%s\n    \"%s\": {", n++ != 0 ? "," : "", rt_op_names[k]);
    put_u64(b, "number", x->ops, ", ");
    put_u64(b, "pieces", x->pieces, ", ");
    put_u64(b, "bytes_read", x->bytes_read, ", ");
    put_u64(b, "bytes_written", x->bytes_written, ", ");
    put_u64(b, "flops", x->flops, "}");
  }
  buf_puts(b, "},\n  ");
}

static void put_memory(struct buf *b, const struct plan_totals *t) {
  const struct rt_plan *p = t->plan;
  put_u64(b, "loaded_bytes", t->loaded, ", ");
  put_u64(b, "stored_bytes", t->stored, ", ");
  put_u64(b, "slot_bytes", p->slot_bytes, ", ");
  put_u64(b, "arena_bytes", p->arena_bytes, ", ");
  put_u64(b, "resident_bytes", p->state_bytes, ", ");
  put_u64(b, "host_bytes", p->host_bytes, ", ");
  put_u64(b, "step_bytes", p->step_bytes, ",\n  ");
  put_u64(b, "units", p->n_units, ", ");
  put_u64(b, "chunks", p->n_chunks, ", ");
  put_u64(b, "streamed_chunks", t->streamed, ", ");
  put_u64(b, "largest_chunk", t->largest, ", ");
  put_u64(b, "smallest_chunk", t->smallest, ",\n  ");
}

static void put_floor(struct buf *b, const struct plan_totals *t) {
  struct plan_floor f = plan_floor_of(t);
  buf_printf(b,
             "\"floor\": {\"seconds\": %.9g, \"copies\": %.9g, \"kernels\": %.9g, "
             "\"products\": %.9g, \"bound\": \"%s\", \"rates\": \"%s\"},\n  ",
             f.step, f.copies, f.kernels, f.products, f.bound, f.rates);
}

static void put_proof(struct buf *b, const struct proof *proof) {
  buf_printf(b, "\"proof\": {\"holds\": %s, ", proof->n_faults == 0 ? "true" : "false");
  put_u64(b, "operations", proof->operations, ", ");
  put_u64(b, "accesses", proof->accesses, ", ");
  put_u64(b, "pairs", proof->pairs, ", \"faults\": [");
  for (uint32_t i = 0; i < proof->n_faults; i++) {
    buf_puts(b, i != 0 ? ", " : "");
    buf_json(b, proof->fault[i].text);
  }
  buf_puts(b, "]},\n  ");
}

static void put_notes(struct buf *b, const struct rt_plan *plan) {
  buf_puts(b, "\"notes\": [");
  for (uint32_t i = 0; i < plan->n_notes; i++) {
    buf_puts(b, i != 0 ? ",\n    " : "\n    ");
    buf_json(b, str_of(plan->note[i]));
  }
  buf_puts(b, "],\n  ");
}

struct str plan_report_json(struct arena *a, const struct plan_view *v) {
  struct buf b = buf_new(a);
  const struct plan_totals *t = plan_total(a, v->plan);
  buf_puts(&b, "{\n  ");
  put_configuration(&b, v);
  put_u64(&b, "parameters", v->plan->n_params, ", ");
  put_u64(&b, "elements", t->elements, ", ");
  put_u64(&b, "without_rule", t->without_rule, ", ");
  put_u64(&b, "absent", t->absent, ",\n  ");
  put_lines(&b, t);
  put_kernels(&b, t);
  put_operations(&b, t);
  put_memory(&b, t);
  put_floor(&b, t);
  if (v->proof != NULL) {
    put_proof(&b, v->proof);
  }
  put_notes(&b, v->plan);
  put_text(&b, "program_digest", v->plan->program_digest, ",\n  ");
  put_text(&b, "agreed", v->plan->agreed, ",\n  ");
  put_text(&b, "digest", v->plan->digest, "\n}\n");
  return buf_done(&b);
}
