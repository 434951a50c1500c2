// The kernels of a recipe's global pre-step: the order-free sum of squares of all gradients, and what follows from it.
#include "emit/cuda_int.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

// The file that says `clip` or `skip`: the root.
static void put_head(struct cuda_writer *w, const char *what) {
  cuda_put_banner(w, w->front->sources->file.n != 0 ? 0 : NO_FILE);
  buf_puts(&w->out, what);
}

static const char squares_head[] =
    "// The sum of squares of all gradients in exponent bins: it depends on no order and "
    "no cut.\n"
    "//\n"
    "// Reads %u bytes per element (grad %s); writes 40 bytes per block.\n"
    "// Launch: %u threads a block, any number of blocks (best: what is resident at "
    "once); "
    "block b takes tiles\n"
    "// b, b + blocks, ... of %u elements and writes parts[b].\n";

static const char squares_body[] =
    "    const struct row *rows, unsigned n_rows, unsigned n_tiles, const void *const "
    "*grads,\n"
    "    struct binned *parts) {\n"
    "  struct adder a;\n"
    "  clear(&a.sum);\n"
    "  open(&a);\n"
    "  const unsigned first_tile = rows[0].first_tile;\n"
    "  unsigned row = 0, added = 0, tile = first_tile + blockIdx.x;\n"
    "  while (tile < first_tile + n_tiles) {\n"
    "    row = find_row(rows, n_rows, row, tile);\n"
    "    const struct row t = rows[row];\n"
    "    const unsigned end = end_of(&t);\n"
    "    if (is_left_out(grads, t.param)) {\n"
    "      tile = skip_to(tile, end);\n"
    "      continue;\n"
    "    }\n"
    "    const %s *p_grad = in_global((const %s *)grads[t.param] + t.first);\n"
    "    const bool wide = is_wide(p_grad);\n"
    "    for (; tile < end; tile += gridDim.x) {\n"
    "      const unsigned long long begin = (tile - t.first_tile) * (unsigned long "
    "long)TILE;\n"
    "      const unsigned long long at = begin + threadIdx.x * LANES;\n"
    "      const unsigned n = turn_size(&t, begin);\n"
    "      const bool whole = wide && n == TURN;\n"
    "      float x[VALUES] = {};\n"
    "      if (whole) {\n"
    "#pragma unroll\n"
    "        for (int k = 0; k < VECTORS; k++) {\n"
    "          read_all(x + k * LANES, p_grad + at + k * STRIDE);\n"
    "        }\n"
    "      } else {\n"
    "#pragma unroll\n"
    "        for (int k = 0; k < VECTORS; k++) {\n"
    "          read_some(x + k * LANES, p_grad + at + k * STRIDE, group_size(n, k));\n"
    "        }\n"
    "      }\n"
    "      add_squares(&a, x);\n"
    "      added += VALUES;\n"
    "      if (added %% 1024 == 0) {\n"
    "        close(&a);\n"
    "        open(&a);\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  close(&a);\n"
    "  merge_block(&a.sum);\n"
    "  if (threadIdx.x == 0) {\n"
    "    parts[blockIdx.x] = a.sum;\n"
    "  }\n"
    "}\n";

struct cuda_kernel cuda_squares_kernel(struct cuda_writer *w, enum storage grad) {
  const struct cuda_storage *s = cuda_storage(grad);
  const char *const sections[] = {"row",       "in_global", "left_out", "wide",   s->read,
                                  s->read_all, "read_some", "binned",   "squares"};
  uint32_t bytes = storage_bytes(grad);
  struct cuda_shape shape = {.block = CUDA_BLOCK, .vectors = 4, .turns = 1};
  struct kernel_slot slot = {.kind = SLOT_GRAD, .storage = grad, .read = true};
  struct str name = str_fmt(w->arena, "gradients__squares__%s", storage_name(grad));
  w->out = buf_new(w->arena);
  put_head(w, "");
  buf_printf(&w->out, squares_head, bytes, storage_name(grad), shape.block,
             cuda_tile(&shape));
  cuda_put_shape(w, &shape);
  buf_puts(&w->out, "enum { VALUES = VECTORS * LANES };\n");
  cuda_put_row(w, &slot, &name, 1);
  cuda_prelude_put(&w->out, sections, COUNT(sections));
  buf_printf(&w->out, "\nextern \"C\" __global__ __launch_bounds__(BLOCK) void %.*s(\n",
             STR_FMT(name));
  buf_printf(&w->out, squares_body, s->type, s->type);
  return (struct cuda_kernel){.kind = CUDA_SQUARES,
                              .name = name,
                              .file = str_fmt(w->arena, "%.*s.cu", STR_FMT(name)),
                              .source = buf_done(&w->out),
                              .bytes_read = bytes,
                              .block = shape.block,
                              .tile = cuda_tile(&shape)};
}

// ---- sums of sums

static const char merge_parts[] =
    "    const struct binned *parts, unsigned n_parts, %s) {\n"
    "  struct binned sum;\n"
    "  clear(&sum);\n"
    "  for (unsigned i = threadIdx.x; i < n_parts; i += BLOCK) {\n"
    "    merge(&sum, &parts[i]);\n"
    "  }\n"
    "  merge_block(&sum);\n";

// A kernel of one block that begins with the sum of all parts.
static void put_merging(struct cuda_writer *w, const char *what, const char *name,
                        const char *parameters, const char *const *sections, uint32_t n) {
  w->out = buf_new(w->arena);
  put_head(w, what);
  buf_printf(&w->out, "// Launch: one block of %d threads.\n\nenum { BLOCK = %d };\n\n",
             CUDA_BLOCK, CUDA_BLOCK);
  cuda_prelude_put(&w->out, sections, n);
  buf_printf(&w->out, "\nextern \"C\" __global__ __launch_bounds__(BLOCK) void %s(\n",
             name);
  buf_printf(&w->out, merge_parts, parameters);
}

struct cuda_kernel cuda_merge_kernel(struct cuda_writer *w) {
  static const char *const sections[] = {"binned"};
  put_merging(w,
              "// The sum of this rank's gradients, for the others.\n//\n"
              "// Reads 40 bytes per part, writes 40.\n",
              "gradients__merge", "struct binned *total", sections, COUNT(sections));
  buf_puts(&w->out, "  if (threadIdx.x == 0) {\n"
                    "    *total = sum;\n"
                    "  }\n"
                    "}\n");
  return (struct cuda_kernel){.kind = CUDA_MERGE,
                              .name = STR("gradients__merge"),
                              .file = STR("gradients__merge.cu"),
                              .source = buf_done(&w->out),
                              .block = CUDA_BLOCK};
}

static const char verdict_body[] =
    "  if (threadIdx.x != 0) {\n"
    "    return;\n"
    "  }\n"
    "  const double norm = __dsqrt_rn(value_of(&sum));\n"
    "  const double factor = __ddiv_rn(bound, __dadd_rn(norm, 1e-6));\n"
    "  verdict->norm = norm;\n"
    "  verdict->clip = __double2float_rn(factor > 1.0 ? 1.0 : factor); // NaN passes on\n"
    "  verdict->skip = %s;\n"
    "}\n";

struct cuda_kernel cuda_verdict_kernel(struct cuda_writer *w) {
  static const char *const sections[] = {"verdict", "binned", "value"};
  put_merging(
      w,
      "// The norm of all gradients, the factor that clips them, and whether the step is "
      "skipped.\n//\n"
      "// Reads 40 bytes per part, writes one verdict.\n",
      "gradients__verdict", "double bound, struct verdict *verdict", sections,
      COUNT(sections));
  buf_printf(&w->out, verdict_body,
             w->j->job->skip_nonfinite ? "sum.specials != 0" : "0");
  return (struct cuda_kernel){.kind = CUDA_VERDICT,
                              .name = STR("gradients__verdict"),
                              .file = STR("gradients__verdict.cu"),
                              .source = buf_done(&w->out),
                              .block = CUDA_BLOCK};
}
