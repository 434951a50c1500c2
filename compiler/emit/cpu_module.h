// From kernels to a module, assembly, object code, functions.
#ifndef STEPC_EMIT_CPU_MODULE_H
#define STEPC_EMIT_CPU_MODULE_H

#include "emit/cpu_llvm.h"

#include <llvm-c/LLJIT.h>

// All kernels of the list in one verified module. False with the reason in `*ice`; `*m` needs cpu_module_free
// either way, also when the arena runs out on the way: zero it before.
bool cpu_module_build(struct arena *a, const struct cpu_target *t,
                      const struct kernels *k, struct cpu_module *m, struct str *ice);
void cpu_module_free(struct cpu_module *m);

// LLVM's own passes, then code. The buffer is LLVM's; NULL with the reason in `*ice`.
LLVMMemoryBufferRef cpu_module_compile(struct arena *a, const struct cpu_module *m,
                                       LLVMCodeGenFileType kind, struct str *ice);
// Links the object (which it takes over) into this process.
LLVMOrcLLJITRef cpu_jit_new(struct arena *a, LLVMMemoryBufferRef object, struct str *ice);
// The address of a function; 0 with the reason in `*ice`.
uint64_t cpu_jit_address(struct arena *a, LLVMOrcLLJITRef jit, struct str name,
                         struct str *ice);

#endif
