// A map phase as a kernel.
//
// A block walks tiles; a thread takes VECTORS groups of LANES neighbouring elements a turn, reads all of them, computes
// element by element in registers, then writes. Groups are read and written 16 bytes at a time where they are whole and
// every tensor of the row is aligned, else one by one: the arithmetic is the same text.
#include "emit/cuda_int.h"

#include <stdarg.h>

struct map {
  struct cuda_writer *w;
  const struct kernel *k;
  struct cuda_values v;
  struct cuda_shape shape;
  struct str *guard; // by slot: C condition for reading it; empty: always
};

// ---- shape

enum { WIDTH = 100 };                              // of a line
enum { BYTES_IN_FLIGHT = 96, MAX_REGISTERS = 40 }; // of a thread's reads; of its elements

static struct cuda_shape choose_shape(const struct kernel *k) {
  struct cuda_shape s = {.lanes = 4, .vectors = 1};
  for (uint32_t i = 0; i < k->n_slots; i++) {
    s.lanes = k->slot[i].storage == ST_BF16 ? 8 : s.lanes;
  }
  while (s.vectors < 4 && k->bytes_read * s.lanes * s.vectors < BYTES_IN_FLIGHT &&
         k->n_slots * s.lanes * (s.vectors + 1) <= MAX_REGISTERS) {
    s.vectors++;
  }
  return s;
}

// ---- lines

// A statement with its tag: the spec name that it serves.
__attribute__((format(printf, 4, 5))) static void
put(struct map *m, uint32_t indent, struct str name, const char *fmt, ...) {
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

static const char *element_type(enum storage s) {
  return s == ST_F32 ? "float" : "unsigned short";
}

// ---- the prelude's sections

struct sections {
  const char *name[16];
  uint32_t n;
};

static void want(struct sections *s, const char *name) {
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->name[i] == name || name[0] == '\0') {
      return;
    }
  }
  s->name[s->n++] = name;
}

static struct sections choose_sections(const struct map *m) {
  struct sections s = {{"tensor", "verdict", "wide"}, 3};
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    bool narrow = m->k->slot[i].storage == ST_BF16;
    want(&s, !m->k->slot[i].read ? "" : narrow ? "read_bf16" : "read_f32");
    want(&s, !m->k->slot[i].written ? "" : narrow ? "write_bf16" : "write_f32");
  }
  for (uint32_t i = 0; i < m->v.ph->n_ins; i++) {
    want(&s, cuda_value_section(ir_at(m->v.ir, m->v.ph->ins[i])));
  }
  return s;
}

// ---- values of a tile

static void put_constant_row(struct map *m) {
  bool reads = false;
  for (uint32_t i = 0; i < m->v.ph->n_scalars; i++) {
    reads |= ir_at(m->v.ir, m->v.ph->scalar[i])->op != IR_CLIP;
  }
  if (reads) {
    put(m, 4, STR(""), "const float *s = scalars + t->scalars;");
  }
}

static void put_scalars(struct map *m) {
  uint32_t at = 0;
  put_constant_row(m);
  for (uint32_t i = 0; i < m->v.ph->n_scalars; i++) {
    struct ir_ref r = m->v.ph->scalar[i];
    const struct ir_ins *ins = ir_at(m->v.ir, r);
    m->v.text[r.i] = cuda_value_name(&m->v, r);
    if (ins->op == IR_CLIP) {
      put(m, 4, ins->name, "const float %.*s = verdict->clip;", STR_FMT(m->v.text[r.i]));
    } else if (ins->type == IRT_DBOOL) {
      put(m, 4, ins->name, "const bool %.*s = s[%u] != 0.0f;", STR_FMT(m->v.text[r.i]),
          at++);
    } else {
      put(m, 4, ins->name, "const float %.*s = s[%u];", STR_FMT(m->v.text[r.i]), at++);
    }
  }
}

// A call that does not fit before the tag gets a line for each of its arguments.
static struct str break_call(const struct map *m, struct str expr, uint32_t column) {
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

static void put_value(struct map *m, uint32_t indent, struct ir_ref r) {
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
  put(m, indent, ins->name, "%.*s%.*s;", STR_FMT(head), STR_FMT(expr));
}

static void put_uniform_values(struct map *m) {
  for (uint32_t i = 0; i < m->v.ph->n_ins; i++) {
    struct ir_ref r = m->v.ph->ins[i];
    if (cuda_is_scalar(ir_at(m->v.ir, r)) && m->v.text[r.i].n == 0) {
      put_value(m, 4, r);
    }
  }
}

// ---- guards: what only the untaken arm of a uniform `where` reads

static struct str guard_of_load(const struct map *m, struct ir_ref load) {
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
static struct str guard_of_slot(const struct map *m, uint32_t slot) {
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

// ---- tensors

static void put_wide(struct map *m) {
  struct buf *b = &m->w->out;
  size_t line = b->n;
  buf_puts(b, "    const bool wide = ");
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    if (b->n - line + m->v.slot[i].n > WIDTH - 16) {
      buf_puts(b, "\n");
      line = b->n;
      buf_puts(b, "        ");
    }
    buf_printf(b, "is_wide(p_%.*s)%s", STR_FMT(m->v.slot[i]),
               i + 1 == m->k->n_slots ? ";\n" : " && ");
  }
}

static void put_pointers(struct map *m) {
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    const struct kernel_slot *s = &m->k->slot[i];
    const char *type = element_type(s->storage), *constant = s->written ? "" : "const ";
    put(m, 4, STR(""), "%s%s *p_%.*s = (%s%s *)t->ptr[%u];", constant, type,
        STR_FMT(m->v.slot[i]), constant, type, i);
  }
  put_wide(m);
}

static void put_registers(struct map *m) {
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    put(m, 6, STR(""), "float x_%.*s[VECTORS][LANES]%s;", STR_FMT(m->v.slot[i]),
        m->guard[i].n != 0 ? " = {}" : "");
  }
}

static void put_group_head(struct map *m) {
  put(m, 0, STR(""), "#pragma unroll");
  put(m, 6, STR(""), "for (int k = 0; k < VECTORS; k++) {");
  put(m, 8, STR(""), "const unsigned long long i = at + (unsigned)k * STRIDE;");
  put(m, 8, STR(""),
      "const unsigned n = i >= end ? 0 : end - i < LANES ? end - i : LANES;");
}

static void put_read(struct map *m, uint32_t slot, const char *how, const char *n) {
  struct str guard = m->guard[slot], name = m->v.slot[slot];
  put(m, 10, STR(""), "%s%.*s%sread_%s(x_%.*s[k], p_%.*s + i%s);",
      guard.n != 0 ? "if (" : "", STR_FMT(guard), guard.n != 0 ? ") " : "", how,
      STR_FMT(name), STR_FMT(name), n);
}

static void put_write(struct map *m, uint32_t slot, const char *how, const char *n) {
  struct str name = m->v.slot[slot];
  put(m, 10, STR(""), "write_%s(p_%.*s + i, x_%.*s[k]%s);", how, STR_FMT(name),
      STR_FMT(name), n);
}

static void put_transfers(struct map *m, bool written, const char *how, const char *n) {
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    if (written && m->k->slot[i].written) {
      put_write(m, i, how, n);
    } else if (!written && m->k->slot[i].read) {
      put_read(m, i, how, n);
    }
  }
}

static void put_groups(struct map *m, bool written) {
  put_group_head(m);
  put(m, 8, STR(""), "if (wide && n == LANES) {");
  put_transfers(m, written, "all", "");
  put(m, 8, STR(""), "} else {");
  put_transfers(m, written, "some", ", n");
  put(m, 8, STR(""), "}");
  put(m, 6, STR(""), "}");
}

// ---- one element

static void set_element(struct map *m, struct ir_ref r) {
  m->v.text[r.i] =
      str_fmt(m->w->arena, "x_%.*s[k][i]", STR_FMT(m->v.slot[cuda_slot_of(&m->v, r)]));
}

static bool is_load(enum ir_op op) {
  return op == IR_PARAM || op == IR_GRAD || op == IR_STATE;
}

static void put_values(struct map *m) {
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
      put_value(m, 10, r);
    }
  }
}

static void put_result(struct map *m, uint32_t slot, struct ir_ref value,
                       struct str name) {
  struct str target = m->v.slot[slot];
  put(m, 10, name, "x_%.*s[k][i] = %.*s;", STR_FMT(target), STR_FMT(m->v.text[value.i]));
}

// A stored value may be another slot's old element, so all are computed before the first is put in place.
static void keep_loads(struct map *m, struct ir_ref value) {
  const struct ir_ins *ins = ir_at(m->v.ir, value);
  if (is_load(ins->op) || cuda_slot_of(&m->v, value) != UINT32_MAX) {
    struct str name = cuda_value_name(&m->v, value);
    put(m, 10, ins->name, "const float %.*s = %.*s;", STR_FMT(name),
        STR_FMT(m->v.text[value.i]));
    m->v.text[value.i] = name;
  }
}

static void put_results(struct map *m, bool keep) {
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

static void put_elements(struct map *m) {
  put(m, 0, STR(""), "#pragma unroll");
  put(m, 6, STR(""), "for (int k = 0; k < VECTORS; k++) {");
  put(m, 0, STR(""), "#pragma unroll");
  put(m, 8, STR(""), "for (int i = 0; i < LANES; i++) {");
  put_values(m);
  put_results(m, true);
  put_results(m, false);
  put(m, 8, STR(""), "}");
  put(m, 6, STR(""), "}");
}

// ---- the kernel

static void put_file_head(struct map *m) {
  struct buf *b = &m->w->out;
  uint32_t tile = CUDA_BLOCK * m->shape.lanes * m->shape.vectors * CUDA_TURNS;
  cuda_put_banner(m->w, cuda_file_of(m->w, m->k));
  cuda_put_head(m->w, m->k, tile);
  buf_printf(b,
             "\nenum { N_PTRS = %u, BLOCK = %d, LANES = %u, VECTORS = %u };\n"
             "enum { STRIDE = BLOCK * LANES, TILE = %d * VECTORS * STRIDE };\n\n",
             m->k->n_slots, CUDA_BLOCK, m->shape.lanes, m->shape.vectors, CUDA_TURNS);
  struct sections s = choose_sections(m);
  cuda_prelude_put(b, s.name, s.n);
}

static void put_tile(struct map *m) {
  put(m, 4, STR(""), "row = find_tensor(tensors, n_tensors, row, tile);");
  put(m, 4, STR(""), "const struct tensor *t = &tensors[row];");
  put_scalars(m);
  put_uniform_values(m);
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    m->guard[i] = m->k->slot[i].read ? guard_of_slot(m, i) : STR("");
  }
  put_pointers(m);
  put(m, 4, STR(""),
      "const unsigned long long first = (tile - t->first_tile) * (unsigned long "
      "long)TILE;");
  put(m, 4, STR(""),
      "const unsigned long long end = t->numel - first < TILE ? t->numel : first + "
      "TILE;");
  put(m, 4, STR(""),
      "for (unsigned long long at = first + threadIdx.x * LANES; at < end; at += VECTORS "
      "* STRIDE) {");
  put(m, 6, STR(""), "// All reads are in flight before the first value is needed.");
  put_registers(m);
  put_groups(m, false);
  put_elements(m);
  put_groups(m, true);
  put(m, 4, STR(""), "}");
}

static void put_kernel(struct map *m) {
  buf_printf(&m->w->out,
             "\nextern \"C\" __global__ __launch_bounds__(BLOCK) void %.*s(\n"
             "    const struct tensor *tensors, unsigned n_tensors, unsigned n_tiles,\n"
             "    const float *scalars, const struct verdict *verdict) {\n",
             STR_FMT(m->k->name));
  put(m, 2, STR(""), "if (verdict->skip != 0) {");
  put(m, 4, STR(""), "return;");
  put(m, 2, STR(""), "}");
  put(m, 2, STR(""), "unsigned row = 0;");
  put(m, 2, STR(""),
      "for (unsigned tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {");
  put_tile(m);
  put(m, 2, STR(""), "}");
  put(m, 0, STR(""), "}");
}

struct cuda_kernel cuda_map_kernel(struct cuda_writer *w, const struct kernel *k) {
  struct map m = {.w = w,
                  .k = k,
                  .v = cuda_values_new(w, k),
                  .shape = choose_shape(k),
                  .guard = ARENA_ARRAY(w->arena, struct str, k->n_slots)};
  w->out = buf_new(w->arena);
  put_file_head(&m);
  put_kernel(&m);
  uint32_t clips = 0;
  for (uint32_t i = 0; i < m.v.ph->n_scalars; i++) {
    clips += ir_at(m.v.ir, m.v.ph->scalar[i])->op == IR_CLIP;
  }
  return (struct cuda_kernel){.kind = CUDA_MAP,
                              .name = k->name,
                              .file = str_fmt(w->arena, "%.*s.cu", STR_FMT(k->name)),
                              .source = buf_done(&w->out),
                              .n_ptrs = k->n_slots,
                              .n_scalars = k->n_scalars - clips,
                              .bytes_read = k->bytes_read,
                              .bytes_written = k->bytes_written,
                              .block = CUDA_BLOCK,
                              .tile = CUDA_BLOCK * m.shape.lanes * m.shape.vectors *
                                      CUDA_TURNS};
}
