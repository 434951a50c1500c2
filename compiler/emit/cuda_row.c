// What every kernel over rows says before the prelude: constants, element types, `struct row`.
#include "emit/cuda_int.h"

static const struct cuda_storage f32 = {"float", "", "read_f32", "", "write_f32"};
static const struct cuda_storage bf16 = {
    "bf16", "enum bf16 : unsigned short {}; // the upper half of an f32\n", "read_bf16",
    "read_16", "write_bf16"};
static const struct cuda_storage f16 = {"f16", "enum f16 : unsigned short {};\n",
                                        "read_f16", "read_16", NULL};

const struct cuda_storage *cuda_storage(enum storage s) {
  return s == ST_F32 ? &f32 : s == ST_BF16 ? &bf16 : &f16; // others were refused
}

uint32_t cuda_tile(const struct cuda_shape *s) {
  return s->turns * s->vectors * s->block * CUDA_LANES;
}

void cuda_put_shape(struct cuda_writer *w, const struct cuda_shape *s) {
  buf_printf(
      &w->out,
      "\nenum { BLOCK = %u, LANES = %d, VECTORS = %u, TURNS = %u };\n"
      "enum { STRIDE = BLOCK * LANES, TURN = VECTORS * STRIDE, TILE = TURNS * TURN "
      "};\n",
      s->block, CUDA_LANES, s->vectors, s->turns);
}

void cuda_put_row(struct cuda_writer *w, const struct kernel_slot *slot,
                  const struct str *name, uint32_t n) {
  struct buf *b = &w->out;
  bool said[ST_Q8U + 1] = {0};
  for (uint32_t i = 0; i < n; i++) {
    buf_puts(b, said[slot[i].storage] ? "" : cuda_storage(slot[i].storage)->declaration);
    said[slot[i].storage] = true;
  }
  buf_puts(b, "\nstruct row {\n");
  for (uint32_t i = 0; i < n; i++) {
    if (slot[i].kind != SLOT_GRAD) {
      buf_printf(b, "  %s%s *p_%.*s;\n", slot[i].written ? "" : "const ",
                 cuda_storage(slot[i].storage)->type, STR_FMT(name[i]));
    }
  }
  buf_puts(
      b, "  unsigned long long first; // element of the parameter at which the row "
         "begins\n"
         "  unsigned long long numel;\n"
         "  unsigned first_tile;      // tiles of all rows before it\n"
         "  unsigned param;           // index into grads and scalar_at\n"
         "  unsigned scalars;         // where its numbers begin after scalar_at[param]\n"
         "  unsigned unused;\n"
         "};\n\n");
}
