// What machine to make code for.
#ifndef STEPC_EMIT_CPU_TARGET_H
#define STEPC_EMIT_CPU_TARGET_H

#include "emit/cpu.h"

struct cpu_target {
  struct str cpu;      // LLVM's name
  struct str features; // "" unless the CPU is this machine
  uint32_t bits;       // of its vectors
  uint32_t ahead;      // elements that loops prefetch ahead; 0: none
  bool is_host;        // code for it runs here
};

// "" and "native" are this machine. False when LLVM does not know the name.
bool cpu_target_find(struct arena *a, struct str cpu, struct cpu_target *out);
// The names that `cpu_target_find` takes, for "did you mean".
const struct str *cpu_target_names(uint32_t *n);

#endif
