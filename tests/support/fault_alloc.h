// Counts and fails the allocations of code linked with the `--wrap` options of tests/unit/CMakeLists.txt.
#ifndef TESTS_FAULT_ALLOC_H
#define TESTS_FAULT_ALLOC_H

#include <stdint.h>

struct fault_alloc {
  uint64_t calls; // allocations, mappings and threads since the last reset
  int64_t live;   // of them: allocated and not freed, threads aside
};

// Starts counting anew; call number `fail_at` (from 1) and none else fails, 0: none.
void fault_alloc_reset(uint64_t fail_at);
struct fault_alloc fault_alloc_counts(void);

#endif
