// Inside the LLVM part of the CPU target: one kernel under construction.
#ifndef STEPC_EMIT_CPU_LLVM_H
#define STEPC_EMIT_CPU_LLVM_H

#include "emit/cpu_target.h"
#include "emit/kernel.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

// Elements per turn of a kernel's loop, whatever the vector width: 2 vectors of AVX-512, 4 of AVX, 8 of SSE in
// flight. With less, the loop's own instructions show; with more, nothing is gained and registers spill.
enum { CPU_BLOCK = 32, CPU_MAX_LANES = 8 };

struct lanes {
  LLVMValueRef v[CPU_MAX_LANES]; // v[0] NULL: not there yet
};

// A function under construction. The loop works on `lanes` vectors of `width` elements; its twin for ends that do
// not fill a block on one element (lanes 1, width 1).
struct emit {
  struct arena *arena;
  LLVMContextRef llvm;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  const struct kernel *kernel;
  const struct phases *phases;
  const struct phase *ph;
  uint32_t width, lanes;
  uint32_t ahead; // elements that its inputs are prefetched ahead; 0: they are not
  LLVMValueRef fn;
  LLVMValueRef *base;   // by slot: address of element 0
  struct lanes *addr;   // by slot: addresses of this turn's elements
  LLVMValueRef *scalar; // by IR index: values that are one for the whole launch
  struct lanes *value;  // by IR index: values of this turn
  struct str *label;    // by IR index: how the IR text calls it
  LLVMValueRef *guard;  // by IR index: what a guarded load waits for
  struct str *ice;      // set once when something has no translation
};

struct cpu_module {
  LLVMContextRef llvm;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMTargetMachineRef machine;
};

// cpu_value.c: one operation at the emit's width.
LLVMTypeRef emit_type(const struct emit *e, LLVMTypeRef element);
LLVMTypeRef emit_storage_type(const struct emit *e, enum storage s);
LLVMValueRef emit_intrinsic(const struct emit *e, const char *intrinsic,
                            LLVMTypeRef overload, LLVMValueRef *arg, unsigned n);
LLVMValueRef emit_op(struct emit *e, const struct ir_ins *ins, const LLVMValueRef arg[3]);
LLVMValueRef emit_splat(struct emit *e, LLVMValueRef scalar);
LLVMValueRef emit_load(struct emit *e, enum storage s, LLVMValueRef addr);
// As it rests. The value fits the storage (ir_fits_storage): what is cut off is zero.
LLVMValueRef emit_narrow(struct emit *e, enum storage s, LLVMValueRef value);
LLVMValueRef emit_concat(struct emit *e, LLVMValueRef a, LLVMValueRef b);

// cpu_body.c: the values of one turn and their stores.
void emit_scalars(struct emit *e, LLVMValueRef scalars);
void emit_body(struct emit *e);

// cpu_loop.c: a kernel as two functions in the module.
void emit_kernel(struct arena *a, const struct cpu_module *m, const struct kernel *k,
                 const struct cpu_target *t, struct str *ice);

#endif
