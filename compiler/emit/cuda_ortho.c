// The kernels around the products of an orthogonalize: norm, scaling, AOL's factors, the way back (ortho.cuh).
#include "emit/cuda_ortho.h"

#include "emit/cuda_prelude.h"

#include <string.h>

enum { ORTHO_LANES = 4, ORTHO_TURNS = 16 };

enum {
  BINS = 1,
  VALUE = 2,
  SQUARES = 4,
  READ = 8,
  CAST = 16,
  WIDEN = 32,
  NARROW = 64,
  POWER = 128
};

static const struct ortho_text {
  const char *name;
  bool aol;
  uint32_t needs;
  const char *parameters;
} ortho_text[] = {
#define ORTHO_KERNEL(id, name, aol, needs, parameters) {name, aol, needs, parameters},
#include "emit/ortho_kernels.def"
#undef ORTHO_KERNEL
};

static void put_prelude(struct buf *b, uint32_t needs, bool rounds) {
  const char *section[4];
  uint32_t n = 0;
  if (rounds && (needs & CAST) != 0) {
    section[n++] = "round_bf16";
  }
  if ((needs & BINS) != 0) {
    section[n++] = "binned";
  }
  if ((needs & SQUARES) != 0) {
    section[n++] = "squares";
  }
  if ((needs & VALUE) != 0) {
    section[n++] = "value";
  }
  if (n != 0) {
    cuda_prelude_put(b, section, n);
    buf_puts(b, "\n");
  }
}

static void put_helpers(struct buf *b, uint32_t needs, const struct cuda_ortho *o) {
  bool narrow = o->compute == ST_BF16;
  const struct {
    uint32_t need;
    const char *section;
  } rows[] = {{READ, o->operand == ST_BF16 ? "read_bf16" : "read_f32"},
              {CAST, narrow ? "cast_bf16" : "cast_f32"},
              {WIDEN, narrow ? "widen_bf16" : "widen_f32"},
              {NARROW, narrow ? "narrow_bf16" : "narrow_f32"},
              {POWER, "power"}};
  for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if ((needs & rows[i].need) != 0) {
      cuda_section_put(b, cuda_ortho_text, rows[i].section);
      buf_puts(b, "\n");
    }
  }
}

// Its section of ortho.cuh: comments, then the body.
static void put_function(struct cuda_writer *w, const struct ortho_text *t,
                         struct str name) {
  struct buf section = buf_new(w->arena);
  cuda_section_put(&section, cuda_ortho_text, str_fmt(w->arena, "ortho_%s", t->name).p);
  struct str text = buf_done(&section);
  const char *body = strstr(text.p, "\n{") + 1;
  buf_put(&w->out, text.p, (size_t)(body - text.p));
  buf_printf(&w->out,
             "extern \"C\" __global__ __launch_bounds__(BLOCK) void %.*s(\n%s) %s",
             STR_FMT(name), t->parameters, body);
}

static struct cuda_kernel ortho_kernel(struct cuda_writer *w, const struct cuda_ortho *o,
                                       const struct ortho_text *t) {
  struct str name =
      str_fmt(w->arena, "ortho__%s__%s_%s%s", t->name, storage_name(o->operand),
              storage_name(o->compute), o->cast_first ? "__cast" : "");
  w->out = buf_new(w->arena);
  cuda_put_banner(w, NO_FILE);
  buf_printf(
      &w->out,
      "// Operand in %s, compute type %s. Launch: %d threads a block, any number of "
      "blocks by one per matrix.\n\n"
      "enum { BLOCK = %d, LANES = %d, VALUES = LANES, TURNS = %d, CAST_FIRST = %d };\n"
      "typedef %s operand;\ntypedef %s compute;\n\n",
      storage_name(o->operand), storage_name(o->compute), CUDA_BLOCK, CUDA_BLOCK,
      ORTHO_LANES, ORTHO_TURNS, o->cast_first,
      o->operand == ST_BF16 ? "unsigned short" : "float",
      o->compute == ST_BF16 ? "unsigned short" : "float");
  put_prelude(&w->out, t->needs, o->compute == ST_BF16);
  put_helpers(&w->out, t->needs, o);
  put_function(w, t, name);
  return (struct cuda_kernel){.kind = CUDA_ORTHO,
                              .name = name,
                              .file = str_fmt(w->arena, "%.*s.cu", STR_FMT(name)),
                              .source = buf_done(&w->out),
                              .block = CUDA_BLOCK};
}

uint32_t cuda_ortho_kernels(struct cuda_writer *w, const struct cuda_ortho *o,
                            struct cuda_kernel out[RT_N_ORTHO_KERNELS]) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < RT_N_ORTHO_KERNELS; i++) {
    if (o->aol || !ortho_text[i].aol) {
      out[n++] = ortho_kernel(w, o, &ortho_text[i]);
      out[n - 1].ortho = i;
    }
  }
  return n;
}
