// A map phase as a kernel.
//
// A block walks tiles, row by row; of a tile a thread takes VECTORS groups of LANES neighbouring elements. It reads all of
// them, computes element by element in registers, then writes. Whole tiles of aligned tensors are read and written 16
// bytes at a time; elsewhere each tensor decides that for each group: the arithmetic is the same text.
#include "emit/cuda_map.h"

#include <string.h>

// ---- shape

enum { WIDTH = 100 }; // of a line
enum { MAX_REGISTERS = 40, FEW_BYTES = 20 };

// Measured on an H200 (tests/bench/RESULTS.md). A block per tile of about 28 KB is best: small enough that blocks, which
// start in order, read each tensor in one long run, and large enough to pay for the look-up of its row. Where an element
// has few bytes a tile is several turns of a small block.
static struct cuda_shape choose_shape(const struct kernel *k) {
  uint32_t held = k->n_slots * CUDA_LANES; // registers of a group
  struct cuda_shape s = {
      .block = 128, .vectors = 2 * held <= MAX_REGISTERS ? 2 : 1, .turns = 1};
  if (k->bytes_read + k->bytes_written < FEW_BYTES) {
    s.block = 64;
    s.turns = 4;
    s.blocks = s.vectors * held <= 32 ? 16 : 0; // 64 registers a thread
  }
  return s;
}

// ---- the prelude's sections

struct sections {
  const char *name[24]; // prelude.cuh has fewer
  uint32_t n;
};

// Each once; "": none.
static void want(struct sections *s, const char *name) {
  for (uint32_t i = 0; i < s->n; i++) {
    if (strcmp(s->name[i], name) == 0) {
      return;
    }
  }
  if (name[0] != '\0') {
    s->name[s->n++] = name;
  }
}

static struct sections choose_sections(const struct cuda_map *m) {
  struct sections s = {{"row", "in_global", "left_out", "verdict", "wide", "write_some"},
                       6};
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    const struct kernel_slot *slot = &m->k->slot[i];
    const struct cuda_storage *storage = cuda_storage(slot->storage);
    if (slot->read) {
      want(&s, "read_some");
      want(&s, storage->read);
      want(&s, storage->read_all);
    }
    want(&s, slot->written ? storage->write : "");
  }
  for (uint32_t i = 0; i < m->v.ph->n_ins; i++) {
    want(&s, cuda_value_section(ir_at(m->v.ir, m->v.ph->ins[i])));
  }
  return s;
}

// ---- tensors

static void put_wide(struct cuda_map *m) {
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

static void put_pointers(struct cuda_map *m) {
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    const struct kernel_slot *s = &m->k->slot[i];
    const char *type = cuda_storage(s->storage)->type;
    struct str name = m->v.slot[i];
    if (s->kind == SLOT_GRAD) {
      cuda_put(m, 4, STR(""),
               "const %s *p_%.*s = in_global((const %s *)grads[t.param] + t.first);",
               type, STR_FMT(name), type);
    } else {
      cuda_put(m, 4, STR(""), "%s%s *p_%.*s = in_global(t.p_%.*s);",
               s->written ? "" : "const ", type, STR_FMT(name), STR_FMT(name));
    }
  }
  put_wide(m);
}

static void put_registers(struct cuda_map *m) {
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    cuda_put(m, m->indent, STR(""), "float x_%.*s[VECTORS][LANES] = {};",
             STR_FMT(m->v.slot[i]));
  }
}

// Writes what `format` says of the slot's name for each slot that is read, or written; reads wait for their guard.
static void put_transfers(struct cuda_map *m, bool written, const char *read_format,
                          const char *write_format) {
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    const struct kernel_slot *s = &m->k->slot[i];
    struct buf b = buf_new(m->w->arena);
    if (!(written ? s->written : s->read)) {
      continue;
    }
    if (!written && m->guard[i].n != 0) {
      buf_printf(&b, "if (%.*s) ", STR_FMT(m->guard[i]));
    }
    for (const char *p = written ? write_format : read_format; *p != '\0'; p++) {
      if (*p == '$') {
        buf_str(&b, m->v.slot[i]);
      } else {
        buf_char(&b, *p);
      }
    }
    cuda_put(m, m->indent + 4, STR(""), "%.*s", STR_FMT(buf_done(&b)));
  }
}

static void put_groups(struct cuda_map *m, bool written) {
  cuda_put(m, m->indent, STR(""), "if (whole) {");
  cuda_put(m, 0, STR(""), "#pragma unroll");
  cuda_put(m, m->indent + 2, STR(""), "for (int k = 0; k < VECTORS; k++) {");
  put_transfers(m, written, "read_all(x_$[k], p_$ + at + k * STRIDE);",
                "write_all(p_$ + at + k * STRIDE, x_$[k]);");
  cuda_put(m, m->indent + 2, STR(""), "}");
  cuda_put(m, m->indent, STR(""), "} else {");
  cuda_put(m, 0, STR(""), "#pragma unroll");
  cuda_put(m, m->indent + 2, STR(""), "for (int k = 0; k < VECTORS; k++) {");
  put_transfers(m, written, "read_some(x_$[k], p_$ + at + k * STRIDE, group_size(n, k));",
                "write_some(p_$ + at + k * STRIDE, x_$[k], group_size(n, k));");
  cuda_put(m, m->indent + 2, STR(""), "}");
  cuda_put(m, m->indent, STR(""), "}");
}

// ---- the kernel

static void put_file_head(struct cuda_map *m) {
  cuda_put_banner(m->w, cuda_file_of(m->w, m->k));
  cuda_put_head(m->w, m->k, &m->shape);
  cuda_put_shape(m->w, &m->shape);
  cuda_put_row(m->w, m->k->slot, m->v.slot, m->k->n_slots);
  struct sections s = choose_sections(m);
  cuda_prelude_put(&m->w->out, s.name, s.n);
}

// What a block does with TURN elements, or with the rest of the row.
static void put_turn(struct cuda_map *m) {
  cuda_put(m, m->indent, STR(""),
           "const unsigned long long at = begin + threadIdx.x * LANES;");
  cuda_put(m, m->indent, STR(""), "const unsigned n = turn_size(&t, begin);");
  cuda_put(m, m->indent, STR(""), "const bool whole = wide && n == TURN;");
  cuda_put(m, m->indent, STR(""),
           "// All reads are in flight before the first value is needed.");
  put_registers(m);
  if (m->k->bytes_read != 0) {
    put_groups(m, false);
  }
  cuda_put_elements(m);
  put_groups(m, true);
}

static void put_tile(struct cuda_map *m) {
  static const char tile[] = "(tile - t.first_tile) * (unsigned long long)TILE";
  if (m->shape.turns == 1) {
    cuda_put(m, 6, STR(""), "const unsigned long long begin = %s;", tile);
    m->indent = 6;
    put_turn(m);
    return;
  }
  cuda_put(m, 6, STR(""), "unsigned long long begin = %s;", tile);
  cuda_put(m, 6, STR(""),
           "for (unsigned turn = 0; turn < TURNS && begin < t.numel; turn++) {");
  m->indent = 8;
  put_turn(m);
  cuda_put(m, 8, STR(""), "begin += TURN;");
  cuda_put(m, 6, STR(""), "}");
}

static void put_rows(struct cuda_map *m) {
  cuda_put(m, 4, STR(""), "row = find_row(rows, n_rows, row, tile);");
  cuda_put(m, 4, STR(""), "const struct row t = rows[row];");
  cuda_put(m, 4, STR(""), "const unsigned end = end_of(&t);");
  cuda_put(m, 4, STR(""), "if (is_left_out(grads, t.param)) {");
  cuda_put(m, 6, STR(""), "tile = skip_to(tile, end);");
  cuda_put(m, 6, STR(""), "continue;");
  cuda_put(m, 4, STR(""), "}");
  cuda_put_scalars(m);
  cuda_put_uniform_values(m);
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    m->guard[i] = m->k->slot[i].read ? cuda_guard_of_slot(m, i) : STR("");
  }
  put_pointers(m);
  cuda_put(m, 4, STR(""), "for (; tile < end; tile += gridDim.x) {");
  put_tile(m);
  cuda_put(m, 4, STR(""), "}");
}

static void put_kernel(struct cuda_map *m) {
  buf_printf(
      &m->w->out,
      "\nextern \"C\" __global__ __launch_bounds__(BLOCK%s) void %.*s(\n"
      "    const struct row *rows, unsigned n_rows, unsigned n_tiles, const float "
      "*scalars,\n"
      "    const unsigned *scalar_at, const void *const *grads, const struct verdict "
      "*verdict) {\n",
      m->shape.blocks != 0 ? str_fmt(m->w->arena, ", %u", m->shape.blocks).p : "",
      STR_FMT(m->k->name));
  cuda_put(m, 2, STR(""), "if (verdict->skip != 0) {");
  cuda_put(m, 4, STR(""), "return;");
  cuda_put(m, 2, STR(""), "}");
  cuda_put(m, 2, STR(""), "const unsigned first_tile = rows[0].first_tile;");
  cuda_put(m, 2, STR(""), "unsigned row = 0, tile = first_tile + blockIdx.x;");
  cuda_put(m, 2, STR(""), "while (tile < first_tile + n_tiles) {");
  put_rows(m);
  cuda_put(m, 2, STR(""), "}");
  cuda_put(m, 0, STR(""), "}");
}

struct cuda_kernel cuda_map_kernel(struct cuda_writer *w, const struct kernel *k) {
  struct cuda_map m = {.w = w,
                       .k = k,
                       .v = cuda_values_new(w, k),
                       .shape = choose_shape(k),
                       .guard = ARENA_ARRAY(w->arena, struct str, k->n_slots)};
  uint32_t grads = 0;
  w->out = buf_new(w->arena);
  put_file_head(&m);
  put_kernel(&m);
  for (uint32_t i = 0; i < k->n_slots; i++) {
    grads += k->slot[i].kind == SLOT_GRAD;
  }
  return (struct cuda_kernel){.kind = CUDA_MAP,
                              .name = k->name,
                              .file = str_fmt(w->arena, "%.*s.cu", STR_FMT(k->name)),
                              .source = buf_done(&w->out),
                              .n_ptrs = k->n_slots - grads,
                              .n_scalars = k->n_scalars,
                              .bytes_read = k->bytes_read,
                              .bytes_written = k->bytes_written,
                              .block = m.shape.block,
                              .tile = cuda_tile(&m.shape)};
}
