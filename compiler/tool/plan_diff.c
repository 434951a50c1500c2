// Two plans compared: configuration, memory, operations; then what has names.
#include "tool/plan_diff.h"

#include "tool/plan_diff_int.h"
#include "tool/plan_totals.h"
#include "tool/table.h"

#include "plan/names.h" // runtime/

#include <string.h>

static void text_line(struct diff *d, const char *what, const char *old,
                      const char *now) {
  if (strcmp(old, now) != 0) {
    buf_printf(&d->b, "%s: %s -> %s\n", what, diff_name(d, old), diff_name(d, now));
  }
}

static void count_line(struct diff *d, const char *what, uint64_t old, uint64_t now) {
  if (old != now) {
    buf_printf(&d->b, "%s: %llu -> %llu\n", what, (unsigned long long)old,
               (unsigned long long)now);
  }
}

static void bytes_line(struct diff *d, const char *what, uint64_t old, uint64_t now) {
  if (old != now) {
    buf_printf(&d->b, "%s: %s -> %s (%+lld B)\n", what, text_binary(d->a, (double)old).p,
               text_binary(d->a, (double)now).p, (long long)(now - old));
  }
}

static void compare_configuration(struct diff *d) {
  const struct rt_configuration *x = &d->old->configuration, *y = &d->now->configuration;
  text_line(d, "target", x->target, y->target);
  text_line(d, "offload", x->offload, y->offload);
  bytes_line(d, "chunk target", x->chunk_bytes, y->chunk_bytes);
  count_line(d, "slots asked for", x->slots, y->slots);
  count_line(d, "overlap", x->overlap, y->overlap);
  bytes_line(d, "GPU memory budget", x->gpu_memory, y->gpu_memory);
  bytes_line(d, "host memory budget", x->host_memory, y->host_memory);
  count_line(d, "rank", x->rank, y->rank);
  count_line(d, "world", x->world, y->world);
  text_line(d, "program", d->old->program_digest, d->now->program_digest);
}

static void compare_sizes(struct diff *d) {
  const struct rt_plan *x = d->old, *y = d->now;
  count_line(d, "parameters", x->n_params, y->n_params);
  count_line(d, "units", x->n_units, y->n_units);
  count_line(d, "chunks", x->n_chunks, y->n_chunks);
  count_line(d, "slots", x->n_slots, y->n_slots);
  bytes_line(d, "slot", x->slot_bytes, y->slot_bytes);
  bytes_line(d, "arena", x->arena_bytes, y->arena_bytes);
  bytes_line(d, "states on the device", x->state_bytes, y->state_bytes);
  bytes_line(d, "host slab", x->host_bytes, y->host_bytes);
  bytes_line(d, "numbers of the step", x->step_bytes, y->step_bytes);
}

static void compare_operations(struct diff *d) {
  const struct plan_totals *x = plan_total(d->a, d->old), *y = plan_total(d->a, d->now);
  for (uint32_t k = 0; k < RT_N_OP_KINDS; k++) {
    const char *word = rt_op_names[k];
    const struct plan_kind *p = &x->kind[k], *q = &y->kind[k];
    count_line(d, str_fmt(d->a, "operations %s", word).p, p->ops, q->ops);
    count_line(d, str_fmt(d->a, "pieces of %s", word).p, p->pieces, q->pieces);
    bytes_line(d, str_fmt(d->a, "bytes of %s", word).p, p->bytes_read + p->bytes_written,
               q->bytes_read + q->bytes_written);
    count_line(d, str_fmt(d->a, "FLOPs of %s", word).p, p->flops, q->flops);
  }
}

struct str plan_diff(struct arena *a, const struct rt_plan *old,
                     const struct rt_plan *now) {
  if (strcmp(old->digest, now->digest) == 0) {
    return STR("");
  }
  struct diff d = {a, old, now, buf_new(a)};
  compare_configuration(&d);
  compare_sizes(&d);
  compare_operations(&d);
  diff_params(&d);
  diff_kernels(&d);
  diff_notes(&d);
  if (d.b.n == 0) {
    buf_puts(&d.b, "the lists of operations differ in order, addresses or events\n");
  }
  return buf_done(&d.b);
}
