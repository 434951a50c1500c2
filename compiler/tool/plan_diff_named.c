// Parameters, kernels and notes of two plans, matched by name.
#include "tool/plan_diff_int.h"
#include "tool/plan_words.h"

#include "plan/names.h" // runtime/

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 20 }; // of one kind of difference; more are counted

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

static struct str chunk_words(struct arena *a, const struct rt_plan *p, uint32_t param) {
  const struct rt_unit *u = &p->unit[p->param[param].unit];
  return u->n_chunks == 0 ? STR("none")
         : u->n_chunks == 1
             ? str_fmt(a, "%u", u->first_chunk)
             : str_fmt(a, "%u to %u", u->first_chunk, u->first_chunk + u->n_chunks - 1);
}

static struct str place_words(const struct rt_plan *p, uint32_t param) {
  const struct rt_plan_param *x = &p->param[param];
  return x->n_states == 0                                  ? STR("nowhere")
         : p->state[x->first_state].at.space == RT_AT_HOST ? STR("host")
                                                           : STR("device");
}

// Where a parameter of both plans is updated, as far as that differs.
static void compare_places(struct diff *d, uint32_t i, uint32_t j, struct buf *b) {
  uint32_t u = d->old->param[i].unit, v = d->now->param[j].unit;
  if (u == RT_NO_ID || v == RT_NO_ID) {
    buf_puts(b, u == v ? "" : u == RT_NO_ID ? "; now has a rule" : "; has no rule now");
    return;
  }
  struct str chunk[2] = {chunk_words(d->a, d->old, i), chunk_words(d->a, d->now, j)};
  struct str place[2] = {place_words(d->old, i), place_words(d->now, j)};
  if (u != v) {
    buf_printf(b, "; unit %u -> %u", u, v);
  }
  if (!str_eq(chunk[0], chunk[1])) {
    buf_printf(b, "; chunk %s -> %s", chunk[0].p, chunk[1].p);
  }
  if (!str_eq(place[0], place[1])) {
    buf_printf(b, "; states %s -> %s", place[0].p, place[1].p);
  }
}

static struct str rule_words(struct arena *a, const struct rt_plan_param *p) {
  return str_fmt(a, "%s%s%s", str_escape(a, str_of(p->rule)).p,
                 *p->label != '\0' ? " as " : "", str_escape(a, str_of(p->label)).p);
}

static void compare_param(struct diff *d, uint32_t i, uint32_t j, struct listed *l) {
  const struct rt_plan_param *x = &d->old->param[i], *y = &d->now->param[j];
  struct str rule[2] = {rule_words(d->a, x), rule_words(d->a, y)};
  struct str shape[2] = {plan_shape_words(d->a, x), plan_shape_words(d->a, y)};
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
  compare_places(d, i, j, &b);
  if (b.n != 0) {
    list_add(l, str_fmt(d->a, "`%s`%s\n", diff_name(d, x->name),
                        str_fmt(d->a, ":%s", b.p + 1).p));
  }
}

void diff_params(struct diff *d) {
  struct named *x = params_sorted(d->a, d->old), *y = params_sorted(d->a, d->now);
  struct listed gone = {buf_new(d->a), 0}, fresh = gone, changed = gone;
  for (uint32_t i = 0, j = 0; i < d->old->n_params || j < d->now->n_params;) {
    int order = i == d->old->n_params   ? 1
                : j == d->now->n_params ? -1
                                        : strcmp(x[i].name, y[j].name);
    if (order < 0) {
      list_add(&gone, str_fmt(d->a, "`%s` is gone\n", diff_name(d, x[i++].name)));
    } else if (order > 0) {
      list_add(&fresh, str_fmt(d->a, "`%s` is new\n", diff_name(d, y[j++].name)));
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
                        diff_name(d, x->name), x->bytes_read, x->bytes_written,
                        x->registers, x->shared, x->spilled, y->bytes_read,
                        y->bytes_written, y->registers, y->shared, y->spilled));
  }
}

void diff_kernels(struct diff *d) {
  struct named *x = kernels_sorted(d->a, d->old), *y = kernels_sorted(d->a, d->now);
  struct listed l = {buf_new(d->a), 0};
  for (uint32_t i = 0, j = 0; i < d->old->n_kernels || j < d->now->n_kernels;) {
    int order = i == d->old->n_kernels   ? 1
                : j == d->now->n_kernels ? -1
                                         : strcmp(x[i].name, y[j].name);
    if (order < 0) {
      list_add(&l, str_fmt(d->a, "kernel `%s` is gone\n", diff_name(d, x[i++].name)));
    } else if (order > 0) {
      list_add(&l, str_fmt(d->a, "kernel `%s` is new\n", diff_name(d, y[j++].name)));
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

void diff_notes(struct diff *d) {
  const char **x = notes_sorted(d->a, d->old), **y = notes_sorted(d->a, d->now);
  struct listed l = {buf_new(d->a), 0};
  for (uint32_t i = 0, j = 0; i < d->old->n_notes || j < d->now->n_notes;) {
    int order = i == d->old->n_notes ? 1 : j == d->now->n_notes ? -1 : strcmp(x[i], y[j]);
    if (order < 0) {
      list_add(&l, str_fmt(d->a, "note gone: %s\n", diff_name(d, x[i])));
    } else if (order > 0) {
      list_add(&l, str_fmt(d->a, "note new: %s\n", diff_name(d, y[j])));
    }
    i += order <= 0;
    j += order >= 0;
  }
  list_put(d, &l, "notes differ");
}
