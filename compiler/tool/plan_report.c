// One screen about a plan.
#include "tool/plan_report.h"

#include "tool/plan_floor.h"
#include "tool/plan_words.h"
#include "tool/table.h"

#include "plan/names.h" // runtime/

enum { MOST_LINES = 12, MOST_KERNELS = 10 };

struct report {
  struct arena *a;
  const struct plan_view *v;
  const struct rt_plan *plan;
  const struct plan_totals *t;
  struct buf *b;
};

static struct str number(struct arena *a, uint64_t n) {
  return str_fmt(a, "%llu", (unsigned long long)n);
}

static const char *binary(const struct report *r, uint64_t bytes) {
  return text_binary(r->a, (double)bytes).p;
}

static void put_head(const struct report *r) {
  const struct rt_configuration *c = &r->plan->configuration;
  buf_printf(r->b, "%s: %u parameter%s, %s elements; %s, offload %s%s",
             r->v->title.n != 0 ? r->v->title.p : "plan", r->plan->n_params,
             plan_plural(r->plan->n_params), text_count(r->a, (double)r->t->elements).p,
             str_escape(r->a, str_of(c->target)).p,
             str_escape(r->a, str_of(c->offload)).p,
             c->overlap ? ", overlap with the forward" : "");
  buf_printf(r->b, "; rank %u of %u", c->rank, c->world);
  buf_printf(r->b, "%s%.*s%s\n", r->v->mesh.n != 0 ? " (" : "", STR_FMT(r->v->mesh),
             r->v->mesh.n != 0 ? ")" : "");
}

static const char *place(const struct plan_line *line) {
  return line->state_bytes == 0                  ? "-"
         : line->host_bytes == 0                 ? "device"
         : line->host_bytes == line->state_bytes ? "host"
                                                 : "both";
}

static void put_lines(const struct report *r) {
  struct table t = {.arena = r->a, .columns = "llrrrlrl"};
  TABLE_ROW(&t, STR("use line"), STR("rule"), STR("parameters"), STR("elements"),
            STR("state"), STR("rests"), STR("units"), STR("when"));
  uint32_t n = r->t->line.n;
  for (uint32_t i = 0; i < n && i < MOST_LINES; i++) {
    const struct plan_line *x = &r->t->line.v[i];
    struct str why = str_of(x->reason);
    TABLE_ROW(&t, str_escape(r->a, str_of(x->label)), str_escape(r->a, str_of(x->rule)),
              number(r->a, x->params), text_count(r->a, (double)x->elements),
              text_binary(r->a, (double)x->state_bytes), str_of(place(x)),
              number(r->a, x->units),
              why.n != 0 ? str_escape(r->a, why) : STR("everything else"));
  }
  buf_str(r->b, table_text(&t));
  if (n > MOST_LINES) {
    buf_printf(r->b, "and %u more use lines\n", n - MOST_LINES);
  }
  if (r->t->without_rule != 0) {
    buf_printf(r->b, "%u frozen or tied: no rule\n", r->t->without_rule);
  }
}

static struct str users(const struct report *r, uint32_t kernel) {
  struct buf b = buf_new(r->a);
  for (uint32_t i = 0; i < r->t->line.n; i++) {
    if (r->t->kernel[kernel].by_line[i]) {
      buf_printf(&b, "%s%s", b.n != 0 ? ", " : "",
                 str_escape(r->a, str_of(r->t->line.v[i].label)).p);
    }
  }
  return buf_done(&b);
}

static struct str registers(struct arena *a, const struct rt_kernel_info *k) {
  return k->registers == 0 ? STR("-")
         : k->spilled != 0 ? str_fmt(a, "%u, %u B spilled", k->registers, k->spilled)
                           : number(a, k->registers);
}

static void put_kernels(const struct report *r) {
  struct table t = {.arena = r->a, .columns = "lrrrrl"};
  TABLE_ROW(&t, STR("kernel"), STR("launches"), STR("elements"), STR("B/element"),
            STR("registers"), STR("of"));
  uint32_t shown = 0, more = 0;
  for (uint32_t k = 0; k < r->plan->n_kernels; k++) {
    const struct rt_kernel_info *info = &r->plan->kernel[k];
    const struct plan_launches *x = &r->t->kernel[k];
    if (x->ops == 0 || shown == MOST_KERNELS) {
      more += x->ops != 0;
      continue;
    }
    shown++;
    TABLE_ROW(&t, str_escape(r->a, str_of(info->name)), number(r->a, x->ops),
              text_count(r->a, (double)x->elements),
              str_fmt(r->a, "%u + %u", info->bytes_read, info->bytes_written),
              registers(r->a, info), users(r, k));
  }
  buf_str(r->b, table_text(&t));
  if (more != 0) {
    buf_printf(r->b, "and %u more kernels\n", more);
  }
}

// "4 slots x 230 MiB, work area 456 MiB"; what there is none of is left out.
static void put_part(const struct report *r, const char *what, uint64_t bytes,
                     bool *first) {
  if (bytes != 0) {
    buf_printf(r->b, "%s%s %s", *first ? ": " : ", ", what, binary(r, bytes));
    *first = false;
  }
}

static void put_memory(const struct report *r) {
  const struct rt_plan *p = r->plan;
  uint64_t slots = p->n_slots * p->slot_bytes;
  bool first = true;
  buf_printf(r->b, "state       %s stays on the device; %s on the host: ",
             binary(r, p->state_bytes), binary(r, p->host_bytes));
  buf_printf(r->b, "%s up and %s down each step\n", binary(r, r->t->loaded),
             binary(r, r->t->stored));
  buf_printf(r->b, "memory      device %s",
             binary(r, p->arena_bytes + p->state_bytes + p->step_bytes));
  put_part(r, str_fmt(r->a, "%u slot%s x", p->n_slots, plan_plural(p->n_slots)).p,
           p->n_slots != 0 ? p->slot_bytes : 0, &first);
  put_part(r, "work area", p->arena_bytes - slots, &first);
  put_part(r, "states", p->state_bytes, &first);
  put_part(r, "numbers of the step", p->step_bytes, &first);
  buf_printf(r->b, "; host slab %s\n", binary(r, p->host_bytes));
}

static void put_ends(const struct report *r) {
  const struct rt_plan *p = r->plan;
  buf_printf(r->b, "chunks      %u of %u units, %u streamed", p->n_chunks, p->n_units,
             r->t->streamed);
  if (r->t->streamed == 0) {
    buf_puts(r->b, "\n");
    return;
  }
  buf_printf(r->b, ": target %s, largest %s, smallest %s\n",
             binary(r, p->configuration.chunk_bytes), binary(r, r->t->largest),
             binary(r, r->t->smallest));
  enum { ENDS = 3 };
  buf_puts(r->b, "ramp       ");
  for (uint32_t c = 0, seen = 0; c < p->n_chunks; c++) {
    if (p->chunk[c].slot == RT_NO_ID) {
      continue;
    }
    bool gap = seen == ENDS && r->t->streamed > 2 * ENDS;
    buf_puts(r->b, gap ? " ..." : "");
    if (seen < ENDS || seen + ENDS >= r->t->streamed) {
      buf_printf(r->b, " %s%s", binary(r, p->chunk[c].bytes),
                 seen + 1 == r->t->streamed ? "" : ",");
    }
    seen++;
  }
  buf_puts(r->b, "\n");
}

static void kind_row(struct table *t, struct str name, const char *lane,
                     const struct plan_kind *k) {
  struct arena *a = t->arena;
  TABLE_ROW(t, name, str_of(lane), number(a, k->ops),
            k->pieces != 0 ? number(a, k->pieces) : STR("-"),
            text_binary(a, (double)k->bytes_read),
            text_binary(a, (double)k->bytes_written),
            k->flops != 0 ? text_count(a, (double)k->flops) : STR("-"));
}

static void put_operations(const struct report *r) {
  struct table t = {.arena = r->a, .columns = "llrrrrr"};
  TABLE_ROW(&t, STR("operations"), STR("lane"), STR("number"), STR("pieces"), STR("read"),
            STR("written"), STR("FLOPs"));
  for (uint32_t k = 0; k < RT_N_OP_KINDS; k++) {
    if (r->t->kind[k].ops != 0) {
      kind_row(&t, str_of(rt_op_names[k]), rt_lane_names[rt_op_lanes[k]], &r->t->kind[k]);
    }
  }
  kind_row(&t, STR("all"), "", &r->t->all);
  buf_str(r->b, table_text(&t));
}

static void put_exchanges(const struct report *r) {
  uint64_t n = r->t->kind[RT_OP_EXCHANGE].ops;
  if (n == 0) {
    buf_puts(r->b, "exchanges   none\n");
    return;
  }
  buf_printf(r->b, "exchanges   %llu, %d B from each rank: sums of squares\n",
             (unsigned long long)n, RT_BINS_BYTES);
}

static void put_floor(const struct report *r) {
  struct plan_floor f = plan_floor_of(r->t);
  struct arena *a = r->a;
  buf_printf(r->b,
             "at least    %s a step, a floor at built-in rates of %s: copies %s; kernels "
             "%s + products %s; bound by %s\n",
             text_seconds(a, f.step).p, f.rates, text_seconds(a, f.copies).p,
             text_seconds(a, f.kernels).p, text_seconds(a, f.products).p, f.bound);
}

struct str plan_proof_text(struct arena *a, const struct proof *proof) {
  struct buf b = buf_new(a);
  buf_printf(&b, "%s: %llu operations, %llu accesses, %llu pairs\n",
             proof->n_faults == 0 ? "holds" : "FAILS",
             (unsigned long long)proof->operations, (unsigned long long)proof->accesses,
             (unsigned long long)proof->pairs);
  for (uint32_t i = 0; i < proof->n_faults; i++) {
    buf_printf(&b, "  %.*s\n", STR_FMT(proof->fault[i].text));
  }
  return buf_done(&b);
}

struct str plan_report_text(struct arena *a, const struct plan_view *v) {
  struct buf b = buf_new(a);
  struct report r = {a, v, v->plan, plan_total(a, v->plan), &b};
  put_head(&r);
  buf_puts(&b, "\n");
  put_lines(&r);
  buf_puts(&b, "\n");
  put_kernels(&r);
  buf_puts(&b, "\n");
  put_operations(&r);
  buf_puts(&b, "\n");
  put_memory(&r);
  put_ends(&r);
  put_exchanges(&r);
  put_floor(&r);
  if (v->proof != NULL) {
    buf_printf(&b, "proof       %s", plan_proof_text(a, v->proof).p);
  }
  plan_notes_put(&b, &v->plan, 1);
  buf_printf(&b, "digest      %s\n", v->plan->digest);
  return buf_done(&b);
}
