// Kernels of the CPU target against plain C, bit for bit: any data, any cut, any vector width.
#include "cpu_fixture.h"

#include "random.h"
#include "random_ir.h"

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
static const char *const cpus[] = {"native", "x86-64-v3", "x86-64"};
enum { N_FILES = sizeof files / sizeof files[0], N_TARGETS = 3 };

// Sizes around the block, pieces cut anywhere, tensors that start at any element.
static void check_pieces(const struct cpu_case *c, uint64_t seed) {
  uint64_t n = random_below(&seed, 4 * 32 + 7);
  uint32_t offset = (uint32_t)random_below(&seed, 20);
  uint64_t data_seed = random_u64(&seed);
  struct cpu_data got = cpu_data_new(c, n, offset, data_seed);
  struct cpu_data want = cpu_data_new(c, n, offset, data_seed);
  for (uint64_t at = 0; at < n;) {
    uint64_t next = at + 1 + random_below(&seed, n - at);
    cpu_case_run(c, &got, at, next);
    at = next;
  }
  cpu_reference_run(c, &want, 0, n);
  cpu_data_expect_equal(c, &got, &want);
  cpu_data_free(&got);
  cpu_data_free(&want);
}

static void check_phase(const char *path, uint32_t ordinal, const char *cpu,
                        uint64_t numel) {
  struct cpu_case c = cpu_case_open(path, ordinal, cpu, numel);
  for (uint64_t seed = 0; seed < 60; seed++) {
    check_pieces(&c, seed);
  }
  cpu_case_close(&c);
}

Test(cpu, kernels_equal_plain_c_on_any_cut) {
  for (uint32_t f = 0; f < N_FILES; f++) {
    for (uint32_t i = 0; i < files[f].n_maps; i++) {
      for (uint32_t t = 0; t < N_TARGETS; t++) {
        check_phase(files[f].path, i, cpus[t], 1);
        check_phase(files[f].path, i, cpus[t], 1 << 24);
      }
    }
  }
}

Test(cpu, random_rules_equal_plain_c) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct arena *a = arena_new(0);
    struct str text = random_ir(a, 5 + (uint32_t)seed, seed);
    struct cpu_case c =
        cpu_case_open_on(a, "random.ir", text, 0, cpus[seed % N_TARGETS], 1);
    for (uint64_t piece = 0; piece < 20; piece++) {
      check_pieces(&c, piece);
    }
    cpu_case_close(&c);
  }
}

static uint32_t slot_named(const struct cpu_case *c, const char *name) {
  for (uint32_t i = 0; i < c->kernel->n_slots; i++) {
    if (str_is(c->kernel->slot[i].name, name)) {
      return i;
    }
  }
  cr_assert_fail("no tensor %s", name);
  return 0;
}

// The arm not taken of a uniform `where` reads nothing: what it alone reads may be NULL.
static void check_absent(const char *cpu, bool first, bool early) {
  struct cpu_case c = cpu_case_open("tests/data/cpu/guarded.ir", 0, cpu, 1);
  struct cpu_data got = cpu_data_new(&c, 100, 0, 7), want = cpu_data_new(&c, 100, 0, 7);
  const struct phase *ph = &c.phases->phase[c.phase];
  for (uint32_t k = 0; k < ph->n_scalars; k++) {
    bool is_first = str_is(ir_at(c.phases->ir, ph->scalar[k])->name, "first");
    got.scalar[k] = want.scalar[k] = is_first ? first : early;
  }
  cpu_reference_run(&c, &want, 0, 100);
  void *m = got.tensor[slot_named(&c, "m")], *v = got.tensor[slot_named(&c, "v")];
  got.tensor[slot_named(&c, "m")] = first ? NULL : m;
  got.tensor[slot_named(&c, "v")] = first || early ? NULL : v;
  cpu_case_run(&c, &got, 0, 100);
  got.tensor[slot_named(&c, "m")] = m;
  got.tensor[slot_named(&c, "v")] = v;
  cpu_data_expect_equal(&c, &got, &want);
  cpu_data_free(&got);
  cpu_data_free(&want);
  cpu_case_close(&c);
}

Test(cpu, untaken_arms_read_nothing) {
  for (uint32_t t = 0; t < N_TARGETS; t++) {
    check_absent(cpus[t], true, true);
    check_absent(cpus[t], true, false);
    check_absent(cpus[t], false, true);
    check_absent(cpus[t], false, false);
  }
}
