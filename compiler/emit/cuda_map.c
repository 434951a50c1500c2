// A map phase as a kernel.
//
// A block walks tiles; a thread takes VECTORS groups of LANES neighbouring elements a turn, reads all of them, computes
// element by element in registers, then writes. Groups are read and written 16 bytes at a time where they are whole and
// every tensor of the row is aligned, else one by one: the arithmetic is the same text.
#include "emit/cuda_map.h"

#include <string.h>

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

static const char *element_type(enum storage s) {
  return s == ST_F32 ? "float" : "unsigned short";
}

// ---- the prelude's sections

struct sections {
  const char *name[16]; // prelude.cuh has fewer
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
    const char *type = element_type(s->storage), *constant = s->written ? "" : "const ";
    cuda_put(m, 4, STR(""), "%s%s *p_%.*s = (%s%s *)t->ptr[%u];", constant, type,
             STR_FMT(m->v.slot[i]), constant, type, i);
  }
  put_wide(m);
}

static void put_registers(struct cuda_map *m) {
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    cuda_put(m, 6, STR(""), "float x_%.*s[VECTORS][LANES] = {};", STR_FMT(m->v.slot[i]));
  }
}

// Writes what `format` says of the slot's name for each slot that is read, or written; reads wait for their guard.
static void put_transfers(struct cuda_map *m, bool written, uint32_t indent,
                          const char *read_format, const char *write_format) {
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
    cuda_put(m, indent, STR(""), "%.*s", STR_FMT(buf_done(&b)));
  }
}

static void put_groups(struct cuda_map *m, bool written) {
  cuda_put(m, 0, STR(""), "#pragma unroll");
  cuda_put(m, 6, STR(""), "for (int k = 0; k < VECTORS; k++) {");
  cuda_put(m, 8, STR(""), "const unsigned long long i = at + (unsigned)k * STRIDE;");
  cuda_put(m, 8, STR(""),
           "const unsigned n = i >= end ? 0 : end - i < LANES ? end - i : LANES;");
  cuda_put(m, 8, STR(""), "if (wide && n == LANES) {");
  put_transfers(m, written, 10, "read_all(x_$[k], p_$ + i);",
                "write_all(p_$ + i, x_$[k]);");
  cuda_put(m, 8, STR(""), "} else {");
  cuda_put(m, 0, STR(""), "#pragma unroll");
  cuda_put(m, 10, STR(""), "for (unsigned j = 0; j < LANES; j++) {");
  cuda_put(m, 12, STR(""), "if (j < n) {");
  put_transfers(m, written, 14, "x_$[k][j] = read_one(p_$ + i + j);",
                "write_one(p_$ + i + j, x_$[k][j]);");
  cuda_put(m, 12, STR(""), "}");
  cuda_put(m, 10, STR(""), "}");
  cuda_put(m, 8, STR(""), "}");
  cuda_put(m, 6, STR(""), "}");
}

// ---- the kernel

static void put_file_head(struct cuda_map *m) {
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

static void put_tile(struct cuda_map *m) {
  cuda_put(m, 4, STR(""), "row = find_tensor(tensors, n_tensors, row, tile);");
  cuda_put(m, 4, STR(""), "const struct tensor *t = &tensors[row];");
  cuda_put_scalars(m);
  cuda_put_uniform_values(m);
  for (uint32_t i = 0; i < m->k->n_slots; i++) {
    m->guard[i] = m->k->slot[i].read ? cuda_guard_of_slot(m, i) : STR("");
  }
  put_pointers(m);
  cuda_put(m, 4, STR(""),
           "const unsigned long long first = (tile - t->first_tile) * (unsigned long "
           "long)TILE;");
  cuda_put(m, 4, STR(""),
           "const unsigned long long end = t->numel - first < TILE ? t->numel : first + "
           "TILE;");
  cuda_put(
      m, 4, STR(""),
      "for (unsigned long long at = first + threadIdx.x * LANES; at < end; at += VECTORS "
      "* STRIDE) {");
  cuda_put(m, 6, STR(""), "// All reads are in flight before the first value is needed.");
  put_registers(m);
  if (m->k->bytes_read != 0) {
    put_groups(m, false);
  }
  cuda_put_elements(m);
  put_groups(m, true);
  cuda_put(m, 4, STR(""), "}");
}

static void put_kernel(struct cuda_map *m) {
  buf_printf(&m->w->out,
             "\nextern \"C\" __global__ __launch_bounds__(BLOCK) void %.*s(\n"
             "    const struct tensor *tensors, unsigned n_tensors, unsigned n_tiles,\n"
             "    const float *scalars, const struct verdict *verdict) {\n",
             STR_FMT(m->k->name));
  cuda_put(m, 2, STR(""), "if (verdict->skip != 0) {");
  cuda_put(m, 4, STR(""), "return;");
  cuda_put(m, 2, STR(""), "}");
  cuda_put(m, 2, STR(""), "unsigned row = 0;");
  cuda_put(m, 2, STR(""),
           "for (unsigned tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {");
  put_tile(m);
  cuda_put(m, 2, STR(""), "}");
  cuda_put(m, 0, STR(""), "}");
}

struct cuda_kernel cuda_map_kernel(struct cuda_writer *w, const struct kernel *k) {
  struct cuda_map m = {.w = w,
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
