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
    {"tests/data/cpu/lion_f16.ir", 1},
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

enum { TENSORS = 10, MAX_SCALARS = 32 };
// Lengths in tiles plus elements.
static const struct tensor_case {
  uint32_t tiles, more;
  uint32_t offset; // elements past 64-byte alignment
} tensor_cases[TENSORS] = {{0, 5, 0}, {0, 0, 0},   {2, 37, 0},  {1, 0, 1}, {0, 1, 3},
                           {1, 0, 0}, {0, 300, 8}, {1, 999, 2}, {3, 0, 0}, {0, 0, 0}};

static uint64_t numel_of(const struct cuda_kernel *k, uint32_t i) {
  return (uint64_t)tensor_cases[i].tiles * k->tile + tensor_cases[i].more;
}

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
static struct cpu_data make_data(const struct cases *cases, uint32_t k, uint32_t i,
                                 uint64_t seed) {
  const struct cpu_case *c = &cases->cpu[k];
  struct cpu_data d = cpu_data_new(c, numel_of(&cases->cuda[k], i),
                                   tensor_cases[i].offset, seed * TENSORS + i);
  uint32_t clip = clip_of(c);
  if (clip != UINT32_MAX) {
    d.scalar[clip] = 0.37f;
  }
  return d;
}

struct launch {
  uint32_t first, n; // rows; n 0: all
  uint32_t skip, blocks;
  uint32_t without_grad; // tensor; UINT32_MAX: none
};

// The table's rows begin at element `t` of their parameters. A parameter's scalars stand after those of another phase.
static void launch_all(struct cases *c, uint32_t i, struct cpu_data *data,
                       const struct launch *how) {
  enum { BEFORE = 3 };
  const struct cuda_kernel *k = &c->cuda[i];
  const struct kernel *of = c->cpu[i].kernel;
  struct cuda_table table = cuda_table_new(c->arena, k, TENSORS);
  struct cuda_verdict verdict = {0.37f, how->skip, 0};
  float scalar[TENSORS * (BEFORE + MAX_SCALARS)];
  uint32_t scalar_at[TENSORS], clip = clip_of(&c->cpu[i]);
  static const char no_grad; // kernels without a gradient look only whether there is one
  const void *grads[TENSORS];
  for (uint32_t t = 0; t < TENSORS; t++) {
    void *ptr[16];
    uint32_t n = 0;
    grads[t] = &no_grad;
    for (uint32_t s = 0; s < of->n_slots; s++) {
      if (of->slot[s].kind == SLOT_GRAD) {
        grads[t] =
            (char *)data[t].tensor[s] - (size_t)t * storage_bytes(of->slot[s].storage);
      } else {
        ptr[n++] = data[t].tensor[s];
      }
    }
    cr_assert_eq(n, k->n_ptrs);
    scalar_at[t] = t * (BEFORE + MAX_SCALARS);
    for (uint32_t s = 0; s < k->n_scalars; s++) {
      scalar[scalar_at[t] + BEFORE + s] = s == clip ? 1 : data[t].scalar[s];
    }
    cuda_table_add(&table, &(struct cuda_row){ptr, t, data[t].n, t, BEFORE});
  }
  if (how->without_grad < TENSORS) {
    grads[how->without_grad] = NULL;
    scalar_at[how->without_grad] = UINT32_MAX;
  }
  cuda_shim_launch(&c->shim, &(struct cuda_launch){.kernel = k,
                                                   .blocks = how->blocks,
                                                   .table = &table,
                                                   .first_row = how->first,
                                                   .n_rows = how->n,
                                                   .scalars = scalar,
                                                   .scalar_at = scalar_at,
                                                   .grads = grads,
                                                   .verdict = &verdict});
}

static bool takes_part(const struct launch *how, uint32_t t) {
  bool launched = how->n == 0 || (t >= how->first && t < how->first + how->n);
  return launched && !how->skip && t != how->without_grad;
}

static void check_case(struct cases *c, uint32_t i, uint64_t seed,
                       const struct launch *how) {
  struct cpu_data got[TENSORS], want[TENSORS];
  for (uint32_t t = 0; t < TENSORS; t++) {
    got[t] = make_data(c, i, t, seed);
    want[t] = make_data(c, i, t, seed);
    if (takes_part(how, t)) {
      cpu_case_run(&c->cpu[i], &want[t], 0, want[t].n);
    }
  }
  launch_all(c, i, got, how);
  for (uint32_t t = 0; t < TENSORS; t++) {
    cpu_data_expect_equal(&c->cpu[i], &got[t], &want[t]);
    cpu_data_free(&got[t]);
    cpu_data_free(&want[t]);
  }
}

Test(cuda_shim, kernels_equal_the_cpu_target) {
  struct cases c = cases_open(files, N_FILES);
  for (uint32_t i = 0; i < c.n; i++) {
    for (uint32_t seed = 0; seed < 4; seed++) {
      check_case(&c, i, seed,
                 &(struct launch){.blocks = 1 + seed, .without_grad = UINT32_MAX});
    }
  }
  cases_close(&c);
}

Test(cuda_shim, a_skipped_step_changes_nothing) {
  struct cases c = cases_open(files, 1);
  check_case(&c, 0, 1,
             &(struct launch){.blocks = 2, .skip = 1, .without_grad = UINT32_MAX});
  cases_close(&c);
}

Test(cuda_shim, parameters_without_a_gradient_are_left_out) {
  struct cases c = cases_open(files, 2); // the last phase reads no gradient
  for (uint32_t i = 0; i < c.n; i++) {
    for (uint32_t t = 0; t < TENSORS; t++) {
      check_case(&c, i, t, &(struct launch){.blocks = 1 + t % 4, .without_grad = t});
    }
  }
  cases_close(&c);
}

Test(cuda_shim, any_run_of_rows_is_a_launch) {
  struct cases c = cases_open(files, 1);
  for (uint32_t first = 0; first < TENSORS; first++) {
    for (uint32_t n = 1; first + n <= TENSORS; n++) {
      struct launch how = {first, n, 0, 1 + n % 3, UINT32_MAX};
      check_case(&c, 0, n, &how);
    }
  }
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
    got[t] = make_data(&c, 0, t, 1);
    want[t] = make_data(&c, 0, t, 1);
    set_first(&c.cpu[0], &got[t]);
    set_first(&c.cpu[0], &want[t]);
    cpu_case_run(&c.cpu[0], &want[t], 0, want[t].n);
    hide_states(&c.cpu[0], &got[t]);
  }
  launch_all(&c, 0, got, &(struct launch){.blocks = 3, .without_grad = UINT32_MAX});
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

// One range of elements cut into rows of every kind, empty ones too: each tile must find its row.
static void check_many_rows(struct cases *c, uint32_t blocks) {
  enum { ROWS = 400 };
  const struct cuda_kernel *k = &c->cuda[0];
  const struct kernel *of = c->cpu[0].kernel;
  const uint64_t length[] = {5, 0, 1, 3, k->tile, 0, 0, 9, k->tile + 1, 2, 4, 4, 4, 4};
  const uint64_t n_lengths = sizeof length / sizeof *length;
  struct cuda_table table = cuda_table_new(c->arena, k, ROWS);
  struct cuda_verdict verdict = {.clip = 0.37f};
  uint32_t scalar_at = 0, clip = clip_of(&c->cpu[0]);
  uint64_t all = 0, begin = 0;
  for (uint64_t i = 0; i < ROWS; i++) {
    all += length[i % n_lengths];
  }
  struct cpu_data got = cpu_data_new(&c->cpu[0], all, 0, 1);
  struct cpu_data want = cpu_data_new(&c->cpu[0], all, 0, 1);
  if (clip != UINT32_MAX) {
    got.scalar[clip] = want.scalar[clip] = verdict.clip;
  }
  const void *grad = NULL;
  for (uint64_t i = 0; i < ROWS; begin += length[i++ % n_lengths]) {
    void *ptr[16];
    uint32_t n = 0;
    for (uint32_t s = 0; s < of->n_slots; s++) {
      if (of->slot[s].kind == SLOT_GRAD) {
        grad = got.tensor[s];
      } else {
        ptr[n++] = (char *)got.tensor[s] + begin * storage_bytes(of->slot[s].storage);
      }
    }
    cuda_table_add(&table, &(struct cuda_row){ptr, begin, length[i % n_lengths], 0, 0});
  }
  cuda_shim_launch(&c->shim,
                   &(struct cuda_launch){.kernel = k,
                                         .blocks = blocks != 0 ? blocks : table.n_tiles,
                                         .table = &table,
                                         .scalars = got.scalar,
                                         .scalar_at = &scalar_at,
                                         .grads = &grad,
                                         .verdict = &verdict});
  cpu_case_run(&c->cpu[0], &want, 0, all);
  cpu_data_expect_equal(&c->cpu[0], &got, &want);
  cpu_data_free(&got);
  cpu_data_free(&want);
}

Test(cuda_shim, a_tile_finds_its_row_among_many) {
  struct cases c = cases_open(files, 1);
  for (uint32_t blocks = 0; blocks <= 7; blocks += 7) {
    check_many_rows(&c, blocks);
  }
  check_many_rows(&c, 64);
  cases_close(&c);
}
