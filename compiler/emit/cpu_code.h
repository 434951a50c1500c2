// Machine code of kernels, and the same as text. LLVM stays behind this header.
#ifndef STEPC_EMIT_CPU_CODE_H
#define STEPC_EMIT_CPU_CODE_H

#include "emit/cpu_target.h"
#include "emit/kernel.h"
#include "plan/program.h" // runtime/

struct cpu_code; // owns the machine code

// Compiles all kernels of the list and links them into this process. NULL with the reason in `*ice`.
struct cpu_code *cpu_code_new(struct arena *a, const struct cpu_target *t,
                              const struct kernels *k, struct str *ice);
void cpu_code_free(struct cpu_code *c); // accepts NULL; the struct itself is the arena's
rt_map_fn cpu_code_function(const struct cpu_code *c, uint32_t kernel);

// LLVM IR before LLVM's own passes, or assembly. Empty with the reason in `*ice`.
struct str cpu_code_text(struct arena *a, const struct cpu_target *t,
                         const struct kernels *k, bool assembly, struct str *ice);

#endif
