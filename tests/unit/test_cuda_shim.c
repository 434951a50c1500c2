// The device's arithmetic without a device: emitted map kernels, compiled by the host's compiler, against the CPU target,
// bit for bit.
#include "cpu_fixture.h"
#include "cuda_shim.h"

#include <criterion/criterion.h>

static const struct phase_file {
  const char *path;
  uint32_t n_maps;
} files[] = {
    {"tests/data/ir/adamw.ir", 1},     {"tests/data/ir/muon.ir", 2},
    {"tests/data/cpu/lion.ir", 1},     {"tests/data/cpu/first_step.ir", 1},
    {"tests/data/cpu/zoo.ir", 1},      {"tests/data/cpu/guarded.ir", 1},
    {"tests/data/cpu/momentum.ir", 2}, {"tests/data/cpu/zeros.ir", 1},
};
enum { N_FILES = sizeof files / sizeof files[0], MAX_CASES = 16 };

struct cases {
  struct arena *arena;
  struct cpu_case cpu[MAX_CASES];
  struct cuda_kernel cuda[MAX_CASES];
  uint32_t n;
  struct cuda_shim shim;
};

static void open_case(struct cases *c, const char *path, uint32_t ordinal) {
  struct cpu_case *cpu = &c->cpu[c->n];
  *cpu = cpu_case_open(path, ordinal, "native", 1);
  struct kernel *k = ARENA_NEW(c->arena, struct kernel);
  *k = *cpu->kernel;
  k->name = str_fmt(c->arena, "case%u", c->n);
  struct str ice = {0};
  struct cuda_writer w = cuda_shim_writer(c->arena, &ice);
  c->cuda[c->n++] = cuda_map_kernel(&w, k);
  cr_assert(ice.n == 0, "%.*s", STR_FMT(ice));
}

static struct cases cases_open(const struct phase_file *file, uint32_t n) {
  struct cases c = {.arena = arena_new(0)};
  for (uint32_t f = 0; f < n; f++) {
    for (uint32_t i = 0; i < file[f].n_maps; i++) {
      open_case(&c, file[f].path, i);
    }
  }
  c.shim = cuda_shim_build(c.arena, c.cuda, c.n);
  return c;
}

static void cases_close(struct cases *c) {
  for (uint32_t i = 0; i < c->n; i++) {
    cpu_case_close(&c->cpu[i]);
  }
  cuda_shim_free(&c->shim);
  arena_free(c->arena);
}

// ---- tables of several tensors

enum { TENSORS = 8, MAX_SCALARS = 32 };
static const struct tensor_case {
  uint64_t n;
  uint32_t offset; // elements past 64-byte alignment
} tensor_cases[TENSORS] = {{5, 0}, {0, 0},    {16384 + 37, 0}, {8192, 1},
                           {1, 3}, {300, 16}, {4099, 2},       {0, 0}};

static uint32_t clip_of(const struct cpu_case *c) {
  const struct phase *ph = &c->phases->phase[c->phase];
  for (uint32_t k = 0; k < ph->n_scalars; k++) {
    if (ir_at(c->phases->ir, ph->scalar[k])->op == IR_CLIP) {
      return k;
    }
  }
  return UINT32_MAX;
}

// The same data for both targets; the clip factor is one for all.
static struct cpu_data make_data(const struct cpu_case *c, uint32_t i, uint64_t seed) {
  struct cpu_data d =
      cpu_data_new(c, tensor_cases[i].n, tensor_cases[i].offset, seed * TENSORS + i);
  uint32_t clip = clip_of(c);
  if (clip != UINT32_MAX) {
    d.scalar[clip] = 0.37f;
  }
  return d;
}

static void launch_all(struct cases *c, uint32_t i, struct cpu_data *data, uint32_t skip,
                       uint32_t blocks) {
  const struct cuda_kernel *k = &c->cuda[i];
  struct cuda_table table = cuda_table_new(c->arena, k, TENSORS);
  struct cuda_verdict verdict = {0.37f, skip, 0};
  float scalar[TENSORS * MAX_SCALARS];
  uint32_t n = 0, clip = clip_of(&c->cpu[i]);
  for (uint32_t t = 0; t < TENSORS; t++) {
    cuda_table_add(&table, data[t].tensor, data[t].n, n);
    for (uint32_t s = 0; s < c->cpu[i].kernel->n_scalars; s++) {
      if (s != clip) {
        scalar[n++] = data[t].scalar[s];
      }
    }
  }
  cr_assert_eq(n, TENSORS * k->n_scalars);
  cuda_shim_launch(&c->shim, &(struct cuda_launch){.kernel = k,
                                                   .blocks = blocks,
                                                   .tensors = table.row,
                                                   .n_tensors = table.n,
                                                   .n_tiles = table.n_tiles,
                                                   .scalars = scalar,
                                                   .verdict = &verdict});
}

static void check_case(struct cases *c, uint32_t i, uint64_t seed, uint32_t skip) {
  struct cpu_data got[TENSORS], want[TENSORS];
  for (uint32_t t = 0; t < TENSORS; t++) {
    got[t] = make_data(&c->cpu[i], t, seed);
    want[t] = make_data(&c->cpu[i], t, seed);
    if (!skip) {
      cpu_case_run(&c->cpu[i], &want[t], 0, want[t].n);
    }
  }
  launch_all(c, i, got, skip, 1 + (uint32_t)seed);
  for (uint32_t t = 0; t < TENSORS; t++) {
    cpu_data_expect_equal(&c->cpu[i], &got[t], &want[t]);
    cpu_data_free(&got[t]);
    cpu_data_free(&want[t]);
  }
}

Test(cuda_shim, kernels_equal_the_cpu_target) {
  struct cases c = cases_open(files, N_FILES);
  for (uint32_t i = 0; i < c.n; i++) {
    for (uint64_t seed = 0; seed < 4; seed++) {
      check_case(&c, i, seed, 0);
    }
  }
  cases_close(&c);
}

Test(cuda_shim, a_skipped_step_changes_nothing) {
  struct cases c = cases_open(files, 1);
  check_case(&c, 0, 1, 1);
  cases_close(&c);
}

static void set_first(const struct cpu_case *c, struct cpu_data *d) {
  const struct phase *ph = &c->phases->phase[c->phase];
  for (uint32_t k = 0; k < ph->n_scalars; k++) {
    if (str_is(ir_at(c->phases->ir, ph->scalar[k])->name, "first")) {
      d->scalar[k] = 1;
    }
  }
}

// Takes away what only the arm not taken of the first step's `where` reads.
static void hide_states(const struct cpu_case *c, struct cpu_data *d) {
  for (uint32_t s = 0; s < d->n_slots; s++) {
    d->tensor[s] = c->kernel->slot[s].kind == SLOT_STATE ? NULL : d->tensor[s];
  }
}

Test(cuda_shim, untaken_arms_read_nothing) {
  static const struct phase_file guarded = {"tests/data/cpu/guarded.ir", 1};
  struct cases c = cases_open(&guarded, 1);
  struct cpu_data got[TENSORS], want[TENSORS];
  for (uint32_t t = 0; t < TENSORS; t++) {
    got[t] = make_data(&c.cpu[0], t, 1);
    want[t] = make_data(&c.cpu[0], t, 1);
    set_first(&c.cpu[0], &got[t]);
    set_first(&c.cpu[0], &want[t]);
    cpu_case_run(&c.cpu[0], &want[t], 0, want[t].n);
    hide_states(&c.cpu[0], &got[t]);
  }
  launch_all(&c, 0, got, 0, 3);
  for (uint32_t t = 0; t < TENSORS; t++) {
    for (uint32_t s = 0; s < got[t].n_slots; s++) {
      got[t].tensor[s] = got[t].tensor[s] != NULL ? got[t].tensor[s] : want[t].tensor[s];
    }
    cpu_data_expect_equal(&c.cpu[0], &got[t], &want[t]);
    cpu_data_free(&got[t]);
    cpu_data_free(&want[t]);
  }
  cases_close(&c);
}
