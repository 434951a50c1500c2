// One map phase of an IR text, compiled, with data to run it on and a plain C evaluation to compare with.
#ifndef TESTS_CPU_FIXTURE_H
#define TESTS_CPU_FIXTURE_H

#include "emit/cpu_code.h"

struct cpu_case {
  struct arena *arena;
  const struct phases *phases;
  uint32_t phase;
  const struct kernel *kernel;
  struct cpu_code *code;
};

// Compiles the `ordinal`-th map phase of the IR text at `path` for a CPU; fails the test on any complaint. `numel` decides
// whether temps go past the caches.
struct cpu_case cpu_case_open(const char *path, uint32_t ordinal, const char *cpu,
                              uint64_t numel);
// The same of a text on the arena `a`, which the case takes over.
struct cpu_case cpu_case_open_on(struct arena *a, const char *path, struct str text,
                                 uint32_t ordinal, const char *cpu, uint64_t numel);
void cpu_case_close(struct cpu_case *c);

// Raw tensors by slot, `n` elements each, filled with random and special values.
struct cpu_data {
  void **tensor; // `offset` bytes past an address aligned to 64
  void **memory;
  float *scalar;
  uint32_t n_slots;
  uint64_t n;
};
struct cpu_data cpu_data_new(const struct cpu_case *c, uint64_t n,
                             uint32_t offset_elements, uint64_t seed);
void cpu_data_free(struct cpu_data *d);
// Fails unless all tensors are equal, every NaN equal to every other.
void cpu_data_expect_equal(const struct cpu_case *c, const struct cpu_data *got,
                           const struct cpu_data *want);

void cpu_case_run(const struct cpu_case *c, struct cpu_data *d, uint64_t begin,
                  uint64_t end);
// The same, one element at a time in C.
void cpu_reference_run(const struct cpu_case *c, struct cpu_data *d, uint64_t begin,
                       uint64_t end);

#endif
