// The statements of a map kernel that stand for the spec: scalars of a tensor, values of an element, and when a tensor
// is read at all.
#include "emit/cuda_map.h"

#include <stdarg.h>

void cuda_put(struct cuda_map *m, uint32_t indent, struct str name, const char *fmt,
              ...) {
  struct buf *b = &m->w->out;
  buf_pad(b, indent);
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(b, fmt, ap);
  va_end(ap);
  if (name.n != 0) {
    buf_pad(b, CUDA_TAG_COLUMN);
    buf_printf(b, " // %.*s: %.*s", STR_FMT(m->v.file),
               STR_FMT(str_escape(m->w->arena, name)));
  }
  buf_char(b, '\n');
}

// ---- values of a tile

static void put_constant_row(struct cuda_map *m) {
  bool reads = false;
  for (uint32_t i = 0; i < m->v.ph->n_scalars; i++) {
    reads |= ir_at(m->v.ir, m->v.ph->scalar[i])->op != IR_CLIP;
  }
  if (reads) {
    cuda_put(m, 4, STR(""), "const float *s = scalars + scalar_at[t.param] + t.scalars;");
  }
}

void cuda_put_scalars(struct cuda_map *m) {
  put_constant_row(m);
  for (uint32_t i = 0; i < m->v.ph->n_scalars; i++) {
    struct ir_ref r = m->v.ph->scalar[i];
    const struct ir_ins *ins = ir_at(m->v.ir, r);
    m->v.text[r.i] = cuda_value_name(&m->v, r);
    if (ins->op == IR_CLIP) {
      cuda_put(m, 4, ins->name, "const float %.*s = verdict->clip;",
               STR_FMT(m->v.text[r.i]));
    } else if (ins->type == IRT_DBOOL) {
      cuda_put(m, 4, ins->name, "const bool %.*s = s[%u] != 0.0f;",
               STR_FMT(m->v.text[r.i]), i);
    } else {
      cuda_put(m, 4, ins->name, "const float %.*s = s[%u];", STR_FMT(m->v.text[r.i]), i);
    }
  }
}

// A call that does not fit before the tag gets a line for each of its arguments.
static struct str break_call(const struct cuda_map *m, struct str expr, uint32_t column) {
  struct buf b = buf_new(m->w->arena);
  uint32_t depth = 0, args = 0;
  if (column + expr.n < CUDA_TAG_COLUMN) {
    return expr;
  }
  for (size_t i = 0; i < expr.n; i++) {
    char c = expr.p[i];
    depth += c == '(';
    args = c == '(' && args == 0 ? (uint32_t)i + 1 : args;
    depth -= c == ')';
    buf_char(&b, c);
    if (c == ',' && depth == 1) {
      buf_char(&b, '\n');
      buf_pad(&b, column + args - 1);
    }
  }
  return buf_done(&b);
}

static void put_value(struct cuda_map *m, uint32_t indent, struct ir_ref r) {
  const struct ir_ins *ins = ir_at(m->v.ir, r);
  struct str expr = cuda_value_expr(&m->v, r);
  if (cuda_value_is_inline(&m->v, r, expr)) {
    m->v.text[r.i] = expr;
    return;
  }
  m->v.text[r.i] = cuda_value_name(&m->v, r);
  struct str head =
      str_fmt(m->w->arena, "const %s %.*s = ", ins->type == IRT_DBOOL ? "bool" : "float",
              STR_FMT(m->v.text[r.i]));
  expr = break_call(m, expr, indent + (uint32_t)head.n);
  cuda_put(m, indent, ins->name, "%.*s%.*s;", STR_FMT(head), STR_FMT(expr));
}

void cuda_put_uniform_values(struct cuda_map *m) {
  for (uint32_t i = 0; i < m->v.ph->n_ins; i++) {
    struct ir_ref r = m->v.ph->ins[i];
    if (cuda_is_scalar(ir_at(m->v.ir, r)) && m->v.text[r.i].n == 0) {
      put_value(m, 4, r);
    }
  }
}

// ---- guards: what only the untaken arm of a uniform `where` reads

static struct str guard_of_load(const struct cuda_map *m, struct ir_ref load) {
  struct buf b = buf_new(m->w->arena);
  for (uint32_t i = 0; i < m->v.ph->n_guards; i++) {
    const struct phase_guard *g = &m->v.ph->guard[i];
    if (g->load.i == load.i) {
      buf_printf(&b, "%s%s%.*s", b.n != 0 ? " && " : "", g->taken ? "" : "!",
                 STR_FMT(m->v.text[g->cond.i]));
    }
  }
  return buf_done(&b);
}

// The slot is read when one of its loads is needed.
struct str cuda_guard_of_slot(const struct cuda_map *m, uint32_t slot) {
  struct buf b = buf_new(m->w->arena);
  for (uint32_t i = 0; i < m->v.ph->n_temp_in; i++) {
    if (cuda_slot_of(&m->v, m->k->phases->temp[m->v.ph->temp_in[i]].value) == slot) {
      return STR("");
    }
  }
  for (uint32_t i = 0; i < m->v.ph->n_ins; i++) {
    struct ir_ref r = m->v.ph->ins[i];
    bool load = ir_op_info(ir_at(m->v.ir, r)->op)->kind == IRK_LEAF;
    if (!load || cuda_slot_of(&m->v, r) != slot) {
      continue;
    }
    struct str guard = guard_of_load(m, r);
    if (guard.n == 0) {
      return guard;
    }
    buf_printf(&b, "%s(%.*s)", b.n != 0 ? " || " : "", STR_FMT(guard));
  }
  return buf_done(&b);
}

// ---- one element

static void set_element(struct cuda_map *m, struct ir_ref r) {
  m->v.text[r.i] =
      str_fmt(m->w->arena, "x_%.*s[k][i]", STR_FMT(m->v.slot[cuda_slot_of(&m->v, r)]));
}

static bool is_load(enum ir_op op) {
  return op == IR_PARAM || op == IR_GRAD || op == IR_STATE;
}

static void put_values(struct cuda_map *m) {
  const struct phase *ph = m->v.ph;
  for (uint32_t i = 0; i < ph->n_temp_in; i++) {
    set_element(m, m->k->phases->temp[ph->temp_in[i]].value);
  }
  for (uint32_t i = 0; i < ph->n_ins; i++) {
    struct ir_ref r = ph->ins[i];
    const struct ir_ins *ins = ir_at(m->v.ir, r);
    if (is_load(ins->op)) {
      set_element(m, r);
    } else if (ins->type != IRT_NONE && !cuda_is_scalar(ins)) {
      put_value(m, m->indent + 4, r);
    }
  }
}

static void put_result(struct cuda_map *m, uint32_t slot, struct ir_ref value,
                       struct str name) {
  struct str target = m->v.slot[slot];
  cuda_put(m, m->indent + 4, name, "x_%.*s[k][i] = %.*s;", STR_FMT(target),
           STR_FMT(m->v.text[value.i]));
}

// A stored value may be another slot's old element, so all are computed before the first is put in place.
static void keep_loads(struct cuda_map *m, struct ir_ref value) {
  const struct ir_ins *ins = ir_at(m->v.ir, value);
  if (is_load(ins->op) || cuda_slot_of(&m->v, value) != UINT32_MAX) {
    struct str name = cuda_value_name(&m->v, value);
    cuda_put(m, m->indent + 4, ins->name, "const float %.*s = %.*s;", STR_FMT(name),
             STR_FMT(m->v.text[value.i]));
    m->v.text[value.i] = name;
  }
}

static void put_results(struct cuda_map *m, bool keep) {
  const struct phases *p = m->k->phases;
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    const struct kernel_slot *s = &m->k->slot[i];
    if (s->kind == SLOT_TEMP && s->written) {
      struct ir_ref value = p->temp[s->index].value;
      keep ? keep_loads(m, value) : put_result(m, i, value, s->name);
    }
  }
  for (uint32_t i = 0; i < m->v.ph->n_ins; i++) {
    struct ir_ref r = m->v.ph->ins[i];
    const struct ir_ins *ins = ir_at(m->v.ir, r);
    if (ir_op_info(ins->op)->kind == IRK_STORE) {
      keep ? keep_loads(m, ins->arg[0])
           : put_result(m, cuda_slot_of(&m->v, r), ins->arg[0], ins->name);
    }
  }
}

void cuda_put_elements(struct cuda_map *m) {
  cuda_put(m, 0, STR(""), "#pragma unroll");
  cuda_put(m, m->indent, STR(""), "for (int k = 0; k < VECTORS; k++) {");
  cuda_put(m, 0, STR(""), "#pragma unroll");
  cuda_put(m, m->indent + 2, STR(""), "for (int i = 0; i < LANES; i++) {");
  put_values(m);
  put_results(m, true);
  put_results(m, false);
  cuda_put(m, m->indent + 2, STR(""), "}");
  cuda_put(m, m->indent, STR(""), "}");
}
