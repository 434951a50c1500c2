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
    "// Launch: %d threads a block, any number of blocks; block b takes tiles b, b + "
    "blocks, ... of\n"
    "// %u elements and writes parts[b].\n"
    "\n"
    "enum { N_PTRS = 1, BLOCK = %d, LANES = %u, VECTORS = %u };\n"
    "enum { STRIDE = BLOCK * LANES, "
    "TILE = %d * VECTORS * STRIDE };\n"
    "typedef %s grad_element;\n\n";

static const char squares_body[] =
    "    const struct tensor *tensors, unsigned n_tensors, unsigned n_tiles,\n"
    "    struct binned *parts) {\n"
    "  struct binned sum;\n"
    "  clear(&sum);\n"
    "  unsigned row = 0;\n"
    "  for (unsigned tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {\n"
    "    row = find_tensor(tensors, n_tensors, row, tile);\n"
    "    const struct tensor *t = &tensors[row];\n"
    "    const grad_element *p = (const grad_element *)t->ptr[0];\n"
    "    const bool wide = is_wide(p);\n"
    "    const unsigned long long first = (tile - t->first_tile) * (unsigned long "
    "long)TILE;\n"
    "    const unsigned long long end = t->numel - first < TILE ? t->numel : first + "
    "TILE;\n"
    "    for (unsigned long long at = first + threadIdx.x * LANES; at < end; at += "
    "VECTORS * STRIDE) {\n"
    "      float x[VECTORS][LANES] = {};\n"
    "#pragma unroll\n"
    "      for (int k = 0; k < VECTORS; k++) {\n"
    "        const unsigned long long i = at + (unsigned)k * STRIDE;\n"
    "        const unsigned n = i >= end ? 0 : end - i < LANES ? end - i : LANES;\n"
    "        if (wide && n == LANES) {\n"
    "          read_all(x[k], p + i);\n"
    "        } else {\n"
    "#pragma unroll\n"
    "          for (unsigned j = 0; j < LANES; j++) {\n"
    "            if (j < n) {\n"
    "              x[k][j] = read_one(p + i + j);\n"
    "            }\n"
    "          }\n"
    "        }\n"
    "      }\n"
    "#pragma unroll\n"
    "      for (int k = 0; k < VECTORS; k++) {\n"
    "        add_squares(&sum, x[k]);\n"
    "      }\n"
    "    }\n"
    "    renormalize(&sum, 0);\n"
    "    renormalize(&sum, 1);\n"
    "  }\n"
    "  merge_block(&sum);\n"
    "  if (threadIdx.x == 0) {\n"
    "    parts[blockIdx.x] = sum;\n"
    "  }\n"
    "}\n";

struct cuda_kernel cuda_squares_kernel(struct cuda_writer *w, enum storage grad) {
  static const char *const f32[] = {"tensor", "wide", "read_f32", "binned", "squares"};
  static const char *const bf16[] = {"tensor", "wide", "read_bf16", "binned", "squares"};
  bool narrow = grad == ST_BF16;
  uint32_t bytes = storage_bytes(grad), lanes = 16 / bytes, vectors = 4;
  uint32_t tile = CUDA_BLOCK * lanes * vectors * CUDA_TURNS;
  struct str name = str_fmt(w->arena, "gradients__squares__%s", storage_name(grad));
  w->out = buf_new(w->arena);
  put_head(w, "");
  buf_printf(&w->out, squares_head, bytes, storage_name(grad), CUDA_BLOCK, tile,
             CUDA_BLOCK, lanes, vectors, CUDA_TURNS, narrow ? "unsigned short" : "float");
  cuda_prelude_put(&w->out, narrow ? bf16 : f32, COUNT(f32));
  buf_printf(&w->out, "\nextern \"C\" __global__ __launch_bounds__(BLOCK) void %.*s(\n%s",
             STR_FMT(name), squares_body);
  return (struct cuda_kernel){.kind = CUDA_SQUARES,
                              .name = name,
                              .file = str_fmt(w->arena, "%.*s.cu", STR_FMT(name)),
                              .source = buf_done(&w->out),
                              .n_ptrs = 1,
                              .bytes_read = bytes,
                              .block = CUDA_BLOCK,
                              .tile = tile};
}

static const char verdict_head[] = "// The norm of all gradients, the factor that clips "
                                   "them, and whether the step is skipped.\n"
                                   "//\n"
                                   "// Reads 40 bytes per part, writes one verdict.\n"
                                   "// Launch: one block of %d threads.\n"
                                   "\n"
                                   "enum { BLOCK = %d };\n\n";

static const char verdict_body[] =
    "\nextern \"C\" __global__ __launch_bounds__(BLOCK) void gradients__verdict(\n"
    "    const struct binned *parts, unsigned n_parts, double bound, struct verdict "
    "*verdict) {\n"
    "  struct binned sum;\n"
    "  clear(&sum);\n"
    "  for (unsigned i = threadIdx.x; i < n_parts; i += BLOCK) {\n"
    "    merge(&sum, &parts[i]);\n"
    "  }\n"
    "  merge_block(&sum);\n"
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
  w->out = buf_new(w->arena);
  put_head(w, "");
  buf_printf(&w->out, verdict_head, CUDA_BLOCK, CUDA_BLOCK);
  cuda_prelude_put(&w->out, sections, COUNT(sections));
  buf_printf(&w->out, verdict_body,
             w->j->job->skip_nonfinite ? "sum.specials != 0" : "0");
  return (struct cuda_kernel){.kind = CUDA_VERDICT,
                              .name = STR("gradients__verdict"),
                              .file = STR("gradients__verdict.cu"),
                              .source = buf_done(&w->out),
                              .block = CUDA_BLOCK};
}
