// A parameter, a unit or a kernel of a plan, in words.
#include "tool/show.h"

#include "tool/plan_words.h"
#include "tool/table.h"

#include "plan/names.h" // runtime/

#include <string.h>

enum { MOST_ROWS = 40 }; // of a table; more are counted

static const char *name_of(struct arena *a, const char *name) {
  return str_escape(a, str_of(name)).p;
}

// ---- operations

struct ops {
  struct arena *a;
  const struct rt_plan *p;
  struct table table;
  uint32_t shown, more;
};

static struct ops ops_begin(struct arena *a, const struct rt_plan *p) {
  struct ops o = {.a = a, .p = p, .table = {.arena = a, .columns = "rllllrr"}};
  TABLE_ROW(&o.table, STR("op"), STR("lane"), STR("does"), STR("waits for"),
            STR("signals"), STR("read"), STR("written"));
  return o;
}

static void ops_add(struct ops *o, uint32_t i) {
  const struct rt_op *op = &o->p->op[i];
  if (o->shown == MOST_ROWS) {
    o->more++;
    return;
  }
  o->shown++;
  struct buf waits = buf_new(o->a);
  for (uint32_t w = 0; w < op->n_waits; w++) {
    const struct rt_event *e = &o->p->event[o->p->wait[op->first_wait + w]];
    buf_printf(&waits, "%s%s", w != 0 ? ", " : "", plan_event_words(o->a, e).p);
  }
  TABLE_ROW(&o->table, str_fmt(o->a, "%u", i), str_of(rt_lane_names[op->lane]),
            plan_op_words(o->a, o->p, op), waits.n != 0 ? buf_done(&waits) : STR("-"),
            op->signal != RT_NO_ID ? plan_event_words(o->a, &o->p->event[op->signal])
                                   : STR("-"),
            text_binary(o->a, (double)op->bytes_read),
            text_binary(o->a, (double)op->bytes_written));
}

static struct str ops_done(const struct ops *o) {
  struct str text = table_text(&o->table);
  return o->more != 0 ? str_fmt(o->a, "%sand %u more\n", text.p, o->more) : text;
}

// Does an operation touch the unit, or (not RT_NO_ID) the parameter?
static bool op_touches(const struct rt_plan *p, const struct rt_op *op, uint32_t unit,
                       uint32_t param) {
  bool copies = op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    if (copies
            ? p->copy[i].unit == unit
            : p->row[i].unit == unit && (param == RT_NO_ID || p->row[i].param == param)) {
      return true;
    }
  }
  return false;
}

static struct str ops_of(struct arena *a, const struct rt_plan *p, uint32_t unit,
                         uint32_t param) {
  struct ops o = ops_begin(a, p);
  for (uint32_t i = 0; i < p->n_ops; i++) {
    if (op_touches(p, &p->op[i], unit, param)) {
      ops_add(&o, i);
    }
  }
  return ops_done(&o);
}

// ---- chunks

static void put_chunks(struct buf *b, const struct rt_plan *p, const struct rt_unit *u) {
  buf_printf(b, "chunk       ");
  for (uint32_t c = u->first_chunk; c < u->first_chunk + u->n_chunks; c++) {
    const struct rt_chunk *chunk = &p->chunk[c];
    if (c - u->first_chunk == 4) {
      buf_printf(b, "; and %u more", u->n_chunks - 4);
      break;
    }
    buf_printf(b, "%s%u of %u, ", c != u->first_chunk ? "; " : "", c, p->n_chunks);
    if (chunk->slot == RT_NO_ID) {
      buf_puts(b, "resident");
    } else {
      buf_printf(b, "slot %u, %s each way", chunk->slot,
                 text_binary(b->arena, (double)chunk->bytes).p);
    }
  }
  buf_puts(b, u->n_chunks == 0 ? "none on this rank\n" : "\n");
}

// ---- a parameter

static void put_rule(struct buf *b, const struct rt_plan_param *x) {
  struct arena *a = b->arena;
  if (x->unit == RT_NO_ID) {
    buf_puts(b, "rule        none: frozen, or another name of a tied parameter\n");
    return;
  }
  buf_printf(b, "rule        %s, by the `use` line `%s`: %s\n", name_of(a, x->rule),
             name_of(a, x->label),
             *x->reason != '\0' ? name_of(a, x->reason) : "everything else");
}

static void put_shape(struct buf *b, const struct rt_plan_param *x) {
  buf_printf(b, "holds       %s %s, gradient %s: %s element%s",
             plan_shape_words(b->arena, x).p, rt_storage_names[x->storage],
             rt_storage_names[x->grad], text_count(b->arena, (double)x->numel).p,
             plan_plural(x->numel));
  bool whole = true;
  for (uint32_t d = 0; d < x->rank; d++) {
    whole = whole && x->start[d] == 0;
  }
  for (uint32_t d = 0; !whole && d < x->rank; d++) {
    buf_printf(b, "%s%llu", d == 0 ? ", from (" : ", ", (unsigned long long)x->start[d]);
  }
  buf_puts(b, whole ? "\n" : ")\n");
}

static void put_states(struct buf *b, const struct rt_plan *p,
                       const struct rt_plan_param *x) {
  for (uint32_t s = 0; s < x->n_states; s++) {
    const struct rt_state_home *home = &p->state[x->first_state + s];
    buf_printf(b, "state       %s %s, %s: %s\n", name_of(b->arena, home->name),
               rt_storage_names[home->storage],
               text_binary(b->arena, (double)home->bytes).p,
               plan_at_words(b->arena, p, home->at).p);
  }
}

struct str show_param(struct arena *a, const struct rt_plan *p, uint32_t param) {
  const struct rt_plan_param *x = &p->param[param];
  struct buf b = buf_new(a);
  buf_printf(&b, "%s\n", name_of(a, x->name));
  put_rule(&b, x);
  put_shape(&b, x);
  put_states(&b, p, x);
  if (x->unit == RT_NO_ID) {
    return buf_done(&b);
  }
  const struct rt_unit *u = &p->unit[x->unit];
  buf_printf(&b, "unit        %u", x->unit);
  if (u->n > 1) {
    buf_printf(&b, ", with %u other parameter%s", u->n - 1, plan_plural(u->n - 1));
  }
  buf_printf(&b, "; first needed at %llu of the forward pass\n",
             (unsigned long long)x->order);
  put_chunks(&b, p, u);
  buf_puts(&b, x->counted ? ""
                          : "norm        counted by another rank that holds a replica\n");
  buf_printf(&b, "\n%s", ops_of(a, p, x->unit, param).p);
  return buf_done(&b);
}

// ---- a unit

static struct str unit_params(struct arena *a, const struct rt_plan *p,
                              const struct rt_unit *u) {
  struct table t = {.arena = a, .columns = "llrl"};
  TABLE_ROW(&t, STR("parameter"), STR("holds"), STR("elements"), STR("use line"));
  for (uint32_t i = 0; i < u->n && i < MOST_ROWS; i++) {
    const struct rt_plan_param *x = &p->param[p->unit_param[u->first + i]];
    TABLE_ROW(&t, str_escape(a, str_of(x->name)), plan_shape_words(a, x),
              text_count(a, (double)x->numel), str_escape(a, str_of(x->label)));
  }
  struct str text = table_text(&t);
  return u->n > MOST_ROWS ? str_fmt(a, "%sand %u more\n", text.p, u->n - MOST_ROWS)
                          : text;
}

struct str show_unit(struct arena *a, const struct rt_plan *p, uint32_t unit) {
  const struct rt_unit *u = &p->unit[unit];
  struct buf b = buf_new(a);
  buf_printf(&b, "unit %u of %u: %u parameter%s, %s of states on each rank\n", unit,
             p->n_units, u->n, plan_plural(u->n), text_binary(a, (double)u->bytes).p);
  put_chunks(&b, p, u);
  buf_printf(&b, "\n%s\n%s", unit_params(a, p, u).p, ops_of(a, p, unit, RT_NO_ID).p);
  return buf_done(&b);
}

// ---- a kernel

static void put_kernel(struct buf *b, const struct rt_kernel_info *k) {
  buf_printf(b, "%s: %u tensor%s, %u scalar%s\n", name_of(b->arena, k->name), k->n_ptrs,
             plan_plural(k->n_ptrs), k->n_scalars, plan_plural(k->n_scalars));
  buf_printf(b, "per element %u B read, %u B written\n", k->bytes_read, k->bytes_written);
  for (uint32_t i = 0; i < k->n_ptrs; i++) {
    const struct rt_access *x = &k->access[i];
    buf_printf(b, "tensor %-4u %u B, %s\n", i, x->bytes,
               x->read && x->written ? "read and written"
               : x->written          ? "written"
                                     : "read");
  }
  if (k->registers != 0) {
    buf_printf(b, "takes       %u registers, %u B of shared memory, %u B spilled\n",
               k->registers, k->shared, k->spilled);
  }
}

struct str show_kernel(struct arena *a, const struct rt_plan *p, uint32_t kernel) {
  struct buf b = buf_new(a);
  struct ops o = ops_begin(a, p);
  uint64_t pieces = 0, elements = 0, bytes = 0, launches = 0;
  for (uint32_t i = 0; i < p->n_ops; i++) {
    const struct rt_op *op = &p->op[i];
    if (op->kind != RT_OP_MAP || op->kernel != kernel) {
      continue;
    }
    ops_add(&o, i);
    launches++;
    pieces += op->n;
    bytes += op->bytes_read + op->bytes_written;
    for (uint32_t r = op->first; r < op->first + op->n; r++) {
      elements += p->row[r].numel;
    }
  }
  put_kernel(&b, &p->kernel[kernel]);
  buf_printf(&b, "a step      %llu launch%s over %llu pieces, %s elements, %s\n\n%s",
             (unsigned long long)launches, launches == 1 ? "" : "es",
             (unsigned long long)pieces, text_count(a, (double)elements).p,
             text_binary(a, (double)bytes).p, ops_done(&o).p);
  return buf_done(&b);
}
