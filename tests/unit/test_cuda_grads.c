// The order-free norm's kernels, compiled by the host's compiler, against the runtime's own sums, bit for bit.
#include "cuda_shim.h"

#include "core/binned.h"
#include "core/convert.h"
#include "core/hostcode.h"
#include "random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { SQUARES_F32, SQUARES_BF16, SQUARES_F16, MERGE, VERDICT, N_KERNELS };
enum { N_SQUARES = MERGE };
enum { TENSORS = 5, BLOCKS = 2, ELEMENTS = 60000 };

// Where a tensor lies in the pool of elements: lengths and alignments of every kind.
static const struct {
  uint32_t begin, n;
} ranges[TENSORS] = {{0, 20000}, {20001, 16384}, {36403, 0}, {36403, 7}, {36416, 23000}};

enum data_kind { NORMAL, TINY, HUGE_, SPREAD, ZERO, WITH_NAN, WITH_INF, N_DATA };

static float element(enum data_kind kind, uint64_t i, uint64_t *seed) {
  float x = (float)random_normal(seed);
  switch (kind) {
  case NORMAL: return x;
  case TINY: return x * 1e-42f;
  case HUGE_: return x * 1e37f;
  case SPREAD: return ldexpf(x, (int)random_below(seed, 240) - 120);
  case ZERO: return i % 2 ? -0.0f : 0.0f;
  case WITH_NAN: return i == 17 ? NAN : x;
  case WITH_INF: return i == 36500 ? -INFINITY : x;
  case N_DATA: break;
  }
  return 0;
}

// Every bit pattern may come, NaN and Inf where the data has them.
static uint16_t f16_element(enum data_kind kind, uint64_t i, uint64_t *seed) {
  uint16_t h = (uint16_t)random_below(seed, 0x10000);
  bool special = (h & 0x7c00u) == 0x7c00u;
  switch (kind) {
  case TINY: return h & 0x83ffu;
  case ZERO: return h & 0x8000u;
  case WITH_NAN: return i == 36410 ? 0xfe01u : special ? h & 0xbfffu : h;
  case WITH_INF: return i == 16 ? 0x7c00u : special ? h & 0xbfffu : h;
  case NORMAL:
  case HUGE_:
  case SPREAD:
  case N_DATA: break;
  }
  return special ? h & 0xbfffu : h;
}

struct fixture {
  struct arena *arena;
  struct cuda_kernel kernel[N_KERNELS];
  struct cuda_shim shim;
  float *f32;
  uint16_t *bf16, *f16;
};

static struct fixture fixture_new(void) {
  struct fixture f = {.arena = arena_new(0)};
  struct str ice = {0};
  struct cuda_writer w = cuda_shim_writer(f.arena, &ice);
  f.kernel[SQUARES_F32] = cuda_squares_kernel(&w, ST_F32);
  f.kernel[SQUARES_BF16] = cuda_squares_kernel(&w, ST_BF16);
  f.kernel[SQUARES_F16] = cuda_squares_kernel(&w, ST_F16);
  f.kernel[MERGE] = cuda_merge_kernel(&w);
  f.kernel[VERDICT] = cuda_verdict_kernel(&w);
  f.shim = cuda_shim_build(f.arena, f.kernel, N_KERNELS);
  f.f32 = arena_alloc(f.arena, ELEMENTS * sizeof *f.f32, 64);
  f.bf16 = arena_alloc(f.arena, ELEMENTS * sizeof *f.bf16, 64);
  f.f16 = arena_alloc(f.arena, ELEMENTS * sizeof *f.f16, 64);
  return f;
}

// Rows begin inside their gradients, as those of a cut parameter do; one parameter has none.
static void sum_on_device(const struct fixture *f, uint32_t kernel,
                          unsigned char *parts) {
  const struct cuda_kernel *k = &f->kernel[kernel];
  const void *const data[N_SQUARES] = {f->f32, f->bf16, f->f16};
  const void *grads[TENSORS + 1] = {0};
  struct cuda_table t = cuda_table_new(f->arena, k, TENSORS + 1);
  cuda_table_add(&t, &(struct cuda_row){.numel = 9000, .param = TENSORS});
  for (uint32_t i = 0; i < TENSORS; i++) {
    uint64_t first = ranges[i].begin < i ? ranges[i].begin : i;
    grads[i] = (const char *)data[kernel] + (ranges[i].begin - first) * k->bytes_read;
    cuda_table_add(&t,
                   &(struct cuda_row){.first = first, .numel = ranges[i].n, .param = i});
  }
  cuda_shim_launch(
      &f->shim,
      &(struct cuda_launch){
          .kernel = k, .blocks = BLOCKS, .table = &t, .grads = grads, .parts = parts});
}

// The sums of the first two kernels are merged into one before.
static struct cuda_verdict judge_on_device(const struct fixture *f, double bound) {
  static _Alignas(8) unsigned char parts[N_SQUARES * BLOCKS * CUDA_BINNED_BYTES],
      sums[(1 + BLOCKS) * CUDA_BINNED_BYTES];
  struct cuda_verdict v = {0};
  for (uint32_t k = 0; k < N_SQUARES; k++) {
    sum_on_device(f, k, parts + (size_t)k * BLOCKS * CUDA_BINNED_BYTES);
  }
  cuda_shim_launch(&f->shim, &(struct cuda_launch){.kernel = &f->kernel[MERGE],
                                                   .blocks = 1,
                                                   .n_parts = 2 * BLOCKS,
                                                   .parts = parts,
                                                   .sum = sums});
  memcpy(sums + CUDA_BINNED_BYTES, parts + (size_t)2 * BLOCKS * CUDA_BINNED_BYTES,
         (size_t)BLOCKS * CUDA_BINNED_BYTES);
  cuda_shim_launch(&f->shim, &(struct cuda_launch){.kernel = &f->kernel[VERDICT],
                                                   .blocks = 1,
                                                   .n_parts = 1 + BLOCKS,
                                                   .parts = sums,
                                                   .bound = bound,
                                                   .verdict = &v});
  return v;
}

// As runtime/core/grads.c and begin.c do it.
static struct cuda_verdict judge_on_host(const struct fixture *f, double bound) {
  struct binned b;
  binned_init(&b);
  for (uint32_t i = 0; i < TENSORS; i++) {
    binned_add_squares_f32(&b, f->f32 + ranges[i].begin, ranges[i].n);
    binned_add_squares_bf16(&b, f->bf16 + ranges[i].begin, ranges[i].n);
    binned_add_squares_f16(&b, f->f16 + ranges[i].begin, ranges[i].n);
  }
  struct cuda_verdict v = {.norm = sqrt(binned_value(&b)), .skip = b.specials != 0};
  v.clip = (float)rt_min(1, bound / (v.norm + 1e-6));
  return v;
}

static bool same_double(double a, double b) {
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void check(const struct fixture *f, enum data_kind kind, double bound) {
  uint64_t seed = 1 + (uint64_t)kind;
  for (uint32_t i = 0; i < ELEMENTS; i++) {
    f->f32[i] = element(kind, i, &seed);
    f->bf16[i] = rt_f32_to_bf16(element(kind, i, &seed));
    f->f16[i] = f16_element(kind, i, &seed);
  }
  struct cuda_verdict got = judge_on_device(f, bound), want = judge_on_host(f, bound);
  cr_expect(same_double(got.norm, want.norm), "data %d: norm %a, not %a", (int)kind,
            got.norm, want.norm);
  cr_expect(same_double((double)got.clip, (double)want.clip), "data %d: clip %a, not %a",
            (int)kind, (double)got.clip, (double)want.clip);
  cr_expect_eq(got.skip != 0, want.skip != 0, "data %d: skip %u", (int)kind, got.skip);
}

Test(cuda_grads, norm_clip_and_verdict_equal_the_runtime) {
  struct fixture f = fixture_new();
  for (uint32_t kind = 0; kind < N_DATA; kind++) {
    check(&f, (enum data_kind)kind, 1.0);
  }
  check(&f, NORMAL, (double)INFINITY);
  cuda_shim_free(&f.shim);
  arena_free(f.arena);
}
