// Two plans compared: configuration, memory, parameters by name, kernels, operations, notes.
#include "tool/plan_diff.h"

#include "tool/plan_totals.h"
#include "tool/plan_words.h"
#include "tool/table.h"

#include "plan/names.h" // runtime/

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 20 }; // of one kind of difference; more are counted

struct diff {
  struct arena *a;
  const struct rt_plan *old, *now;
  struct buf b;
};

static const char *name_of(const struct diff *d, const char *name) {
  return str_escape(d->a, str_of(name)).p;
}

static void text_line(struct diff *d, const char *what, const char *old,
                      const char *now) {
  if (strcmp(old, now) != 0) {
    buf_printf(&d->b, "%s: %s -> %s\n", what, name_of(d, old), name_of(d, now));
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

// ---- parameters and kernels, by name

struct named {
  const char *name;
  uint32_t index;
};

static int by_name(const void *x, const void *y) {
  return strcmp(((const struct named *)x)->name, ((const struct named *)y)->name);
}

static struct named *params_sorted(struct arena *a, const struct rt_plan *p) {
  struct named *n = ARENA_ARRAY(a, struct named, p->n_params);
  for (uint32_t i = 0; i < p->n_params; i++) {
    n[i] = (struct named){p->param[i].name, i};
  }
  qsort(n, p->n_params, sizeof *n, by_name);
  return n;
}

static struct named *kernels_sorted(struct arena *a, const struct rt_plan *p) {
  struct named *n = ARENA_ARRAY(a, struct named, p->n_kernels);
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    n[i] = (struct named){p->kernel[i].name, i};
  }
  qsort(n, p->n_kernels, sizeof *n, by_name);
  return n;
}

struct listed { // lines of one kind
  struct buf b;
  uint32_t n;
};

static void list_add(struct listed *l, struct str line) {
  if (l->n++ < MOST_NAMED) {
    buf_str(&l->b, line);
  }
}

static void list_put(struct diff *d, const struct listed *l, const char *noun) {
  buf_str(&d->b, buf_done(&l->b));
  if (l->n > MOST_NAMED) {
    buf_printf(&d->b, "and %u more %s\n", l->n - MOST_NAMED, noun);
  }
}

// Where a parameter is updated: "unit 3, chunks 4 to 5, on the host".
static struct str whereabouts(struct arena *a, const struct rt_plan *p, uint32_t param) {
  uint32_t u = p->param[param].unit;
  if (u == RT_NO_ID) {
    return STR("no rule");
  }
  const struct rt_unit *unit = &p->unit[u];
  struct buf b = buf_new(a);
  buf_printf(&b, "unit %u, chunk %u", u, unit->first_chunk);
  if (unit->n_chunks > 1) {
    buf_printf(&b, " to %u", unit->first_chunk + unit->n_chunks - 1);
  }
  if (unit->n_chunks != 0 && p->param[param].n_states != 0) {
    buf_printf(&b, ", states on the %s", plan_place_word(p, unit->first_chunk).p);
  }
  return buf_done(&b);
}

static struct str rule_words(struct arena *a, const struct rt_plan_param *p) {
  return str_fmt(a, "%s%s%s", str_escape(a, str_of(p->rule)).p,
                 *p->label != '\0' ? " as " : "", str_escape(a, str_of(p->label)).p);
}

static void compare_param(struct diff *d, uint32_t i, uint32_t j, struct listed *l) {
  const struct rt_plan_param *x = &d->old->param[i], *y = &d->now->param[j];
  struct str rule[2] = {rule_words(d->a, x), rule_words(d->a, y)};
  struct str shape[2] = {plan_shape_words(d->a, x), plan_shape_words(d->a, y)};
  struct str at[2] = {whereabouts(d->a, d->old, i), whereabouts(d->a, d->now, j)};
  struct buf b = buf_new(d->a);
  if (!str_eq(rule[0], rule[1])) {
    buf_printf(&b, "; rule %s -> %s", rule[0].p, rule[1].p);
  }
  if (!str_eq(shape[0], shape[1])) {
    buf_printf(&b, "; shape %s -> %s", shape[0].p, shape[1].p);
  }
  if (x->storage != y->storage || x->grad != y->grad) {
    buf_printf(&b, "; %s with gradient %s -> %s with %s", rt_storage_names[x->storage],
               rt_storage_names[x->grad], rt_storage_names[y->storage],
               rt_storage_names[y->grad]);
  }
  if (!str_eq(at[0], at[1])) {
    buf_printf(&b, "; %s -> %s", at[0].p, at[1].p);
  }
  if (b.n != 0) {
    list_add(l, str_fmt(d->a, "`%s`%s\n", name_of(d, x->name),
                        str_fmt(d->a, ":%s", b.p + 1).p));
  }
}

static void compare_params(struct diff *d) {
  struct named *x = params_sorted(d->a, d->old), *y = params_sorted(d->a, d->now);
  struct listed gone = {buf_new(d->a), 0}, fresh = gone, changed = gone;
  for (uint32_t i = 0, j = 0; i < d->old->n_params || j < d->now->n_params;) {
    int order = i == d->old->n_params   ? 1
                : j == d->now->n_params ? -1
                                        : strcmp(x[i].name, y[j].name);
    if (order < 0) {
      list_add(&gone, str_fmt(d->a, "`%s` is gone\n", name_of(d, x[i++].name)));
    } else if (order > 0) {
      list_add(&fresh, str_fmt(d->a, "`%s` is new\n", name_of(d, y[j++].name)));
    } else {
      compare_param(d, x[i++].index, y[j++].index, &changed);
    }
  }
  list_put(d, &gone, "parameters are gone");
  list_put(d, &fresh, "parameters are new");
  list_put(d, &changed, "parameters differ");
}

static void compare_kernel(struct diff *d, const struct rt_kernel_info *x,
                           const struct rt_kernel_info *y, struct listed *l) {
  bool bytes = x->bytes_read != y->bytes_read || x->bytes_written != y->bytes_written;
  bool code =
      x->registers != y->registers || x->shared != y->shared || x->spilled != y->spilled;
  if (bytes || code) {
    list_add(l, str_fmt(d->a,
                        "kernel `%s`: %u + %u B per element, %u registers, %u B shared, "
                        "%u B spilled -> %u + %u, %u, %u, "
                        "%u\n",
                        name_of(d, x->name), x->bytes_read, x->bytes_written,
                        x->registers, x->shared, x->spilled, y->bytes_read,
                        y->bytes_written, y->registers, y->shared, y->spilled));
  }
}

static void compare_kernels(struct diff *d) {
  struct named *x = kernels_sorted(d->a, d->old), *y = kernels_sorted(d->a, d->now);
  struct listed l = {buf_new(d->a), 0};
  for (uint32_t i = 0, j = 0; i < d->old->n_kernels || j < d->now->n_kernels;) {
    int order = i == d->old->n_kernels   ? 1
                : j == d->now->n_kernels ? -1
                                         : strcmp(x[i].name, y[j].name);
    if (order < 0) {
      list_add(&l, str_fmt(d->a, "kernel `%s` is gone\n", name_of(d, x[i++].name)));
    } else if (order > 0) {
      list_add(&l, str_fmt(d->a, "kernel `%s` is new\n", name_of(d, y[j++].name)));
    } else {
      compare_kernel(d, &d->old->kernel[x[i++].index], &d->now->kernel[y[j++].index], &l);
    }
  }
  list_put(d, &l, "kernels differ");
}

// ---- notes

static int by_text(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char **notes_sorted(struct arena *a, const struct rt_plan *p) {
  const char **n = ARENA_ARRAY(a, const char *, p->n_notes);
  for (uint32_t i = 0; i < p->n_notes; i++) {
    n[i] = p->note[i];
  }
  qsort(n, p->n_notes, sizeof *n, by_text);
  return n;
}

static void compare_notes(struct diff *d) {
  const char **x = notes_sorted(d->a, d->old), **y = notes_sorted(d->a, d->now);
  struct listed l = {buf_new(d->a), 0};
  for (uint32_t i = 0, j = 0; i < d->old->n_notes || j < d->now->n_notes;) {
    int order = i == d->old->n_notes ? 1 : j == d->now->n_notes ? -1 : strcmp(x[i], y[j]);
    if (order < 0) {
      list_add(&l, str_fmt(d->a, "note gone: %s\n", name_of(d, x[i])));
    } else if (order > 0) {
      list_add(&l, str_fmt(d->a, "note new: %s\n", name_of(d, y[j])));
    }
    i += order <= 0;
    j += order >= 0;
  }
  list_put(d, &l, "notes differ");
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
  compare_params(&d);
  compare_kernels(&d);
  compare_notes(&d);
  if (d.b.n == 0) {
    buf_puts(&d.b, "the lists of operations differ in order, addresses or events\n");
  }
  return buf_done(&d.b);
}
