// One LLVM module for all kernels of a job, compiled by the target machine of the chosen CPU and linked by ORC.
//
// The loops are emitted as vectors, unrolled and with scalars hoisted, so LLVM's middle end has little to do: the
// passes below only tidy. Code generation runs at its default level.
#include "emit/cpu_module.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <math.h>
#include <pthread.h>

static bool fail(struct arena *a, struct str *ice, const char *what, LLVMErrorRef err) {
  char *text = LLVMGetErrorMessage(err);
  *ice = str_fmt(a, "%s: %s", what, text);
  LLVMDisposeErrorMessage(text);
  return false;
}

// ---- building

// LLVM's registry of targets is one for the process and not made for threads that fill it at once.
static void register_x86(void) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

static LLVMTargetMachineRef new_machine(struct arena *a, const struct cpu_target *t,
                                        struct str *ice) {
  static pthread_once_t registered = PTHREAD_ONCE_INIT;
  (void)pthread_once(&registered, register_x86);
  const char *triple = "x86_64-unknown-linux-gnu";
  LLVMTargetRef target = NULL;
  char *text = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &text) != 0) {
    *ice = str_copy(a, str_of(text));
    LLVMDisposeMessage(text);
    return NULL;
  }
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      target, triple, str_cstr(a, t->cpu), str_cstr(a, t->features),
      LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
  if (machine == NULL) {
    *ice = STR("LLVM makes no target machine");
  }
  return machine;
}

static bool verify(struct arena *a, const struct cpu_module *m, struct str *ice) {
  char *text = NULL;
  bool broken = LLVMVerifyModule(m->module, LLVMReturnStatusAction, &text) != 0;
  if (broken) {
    *ice = str_fmt(a, "LLVM's verifier: %s", text);
  }
  LLVMDisposeMessage(text);
  return !broken;
}

static void set_target(const struct cpu_module *m) {
  char *triple = LLVMGetTargetMachineTriple(m->machine);
  LLVMSetTarget(m->module, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->machine);
  LLVMSetModuleDataLayout(m->module, layout);
  LLVMDisposeTargetData(layout);
}

bool cpu_module_build(struct arena *a, const struct cpu_target *t,
                      const struct kernels *k, struct cpu_module *m, struct str *ice) {
  m->machine = new_machine(a, t, ice);
  if (m->machine == NULL) {
    return false;
  }
  m->llvm = LLVMContextCreate();
  m->module = LLVMModuleCreateWithNameInContext("stepc", m->llvm);
  m->builder = LLVMCreateBuilderInContext(m->llvm);
  set_target(m);
  for (uint32_t i = 0; i < k->list.n; i++) {
    emit_kernel(a, m, k->list.v[i], t, ice);
  }
  return ice->n == 0 && verify(a, m, ice);
}

void cpu_module_free(struct cpu_module *m) {
  if (m->builder != NULL) {
    LLVMDisposeBuilder(m->builder);
  }
  if (m->module != NULL) {
    LLVMDisposeModule(m->module);
  }
  if (m->llvm != NULL) {
    LLVMContextDispose(m->llvm);
  }
  if (m->machine != NULL) {
    LLVMDisposeTargetMachine(m->machine);
  }
  *m = (struct cpu_module){0};
}

// ---- compiling and linking

LLVMMemoryBufferRef cpu_module_compile(struct arena *a, const struct cpu_module *m,
                                       LLVMCodeGenFileType kind, struct str *ice) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef err =
      LLVMRunPasses(m->module, "function(early-cse,simplifycfg)", m->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (err != NULL) {
    fail(a, ice, "LLVM's passes", err);
    return NULL;
  }
  char *text = NULL;
  LLVMMemoryBufferRef out = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(m->machine, m->module, kind, &text, &out) !=
      0) {
    *ice = str_fmt(a, "LLVM's code generator: %s", text);
    LLVMDisposeMessage(text);
    return NULL;
  }
  return out;
}

// CPUs without FMA call libm's fmaf, which rounds once as well; nothing else is called.
static LLVMErrorRef define_fmaf(LLVMOrcLLJITRef jit) {
  float (*fn)(float, float, float) = fmaf;
  LLVMOrcCSymbolMapPair pair = {
      .Name = LLVMOrcLLJITMangleAndIntern(jit, "fmaf"),
      .Sym = {.Address = (LLVMOrcExecutorAddress)(uintptr_t)fn,
              .Flags = {.GenericFlags = LLVMJITSymbolGenericFlagsExported |
                                        LLVMJITSymbolGenericFlagsCallable}}};
  return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                               LLVMOrcAbsoluteSymbols(&pair, 1));
}

LLVMOrcLLJITRef cpu_jit_new(struct arena *a, LLVMMemoryBufferRef object,
                            struct str *ice) {
  LLVMOrcLLJITRef jit = NULL;
  LLVMErrorRef err = LLVMOrcCreateLLJIT(&jit, NULL);
  if (err != NULL) {
    LLVMDisposeMemoryBuffer(object);
    fail(a, ice, "LLVM's ORC", err);
    return NULL;
  }
  err = LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), object);
  if (err == NULL) {
    err = define_fmaf(jit);
  }
  if (err != NULL) {
    fail(a, ice, "LLVM's ORC", err);
    LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
    return NULL;
  }
  return jit;
}

uint64_t cpu_jit_address(struct arena *a, LLVMOrcLLJITRef jit, struct str name,
                         struct str *ice) {
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef err = LLVMOrcLLJITLookup(jit, &address, str_cstr(a, name));
  if (err != NULL) {
    fail(a, ice, "LLVM's linker", err);
    return 0;
  }
  return address;
}
