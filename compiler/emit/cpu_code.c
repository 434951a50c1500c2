// Kernels through LLVM to functions or text, with LLVM's objects freed on every way out.
#include "emit/cpu_code.h"

#include "emit/cpu_module.h"

#include <llvm-c/Error.h>
#include <string.h>

struct cpu_code {
  LLVMOrcLLJITRef jit;
  rt_map_fn *fn; // by kernel
};

void cpu_code_free(struct cpu_code *c) {
  if (c != NULL && c->jit != NULL) {
    LLVMConsumeError(LLVMOrcDisposeLLJIT(c->jit));
    c->jit = NULL;
  }
}

rt_map_fn cpu_code_function(const struct cpu_code *c, uint32_t kernel) {
  return c->fn[kernel];
}

// Code in the making. What LLVM holds is freed on every way out, the one without memory included.
enum product { MAKE_CODE, MAKE_ASSEMBLY, MAKE_IR };
struct making {
  struct arena *arena;
  enum product product;
  const struct cpu_target *target;
  const struct kernels *kernels;
  struct cpu_module module;
  struct cpu_code *code;
  LLVMMemoryBufferRef assembly;
  char *ir;
  struct str text;
  struct str *ice;
};

static void making_free(struct making *m) {
  cpu_module_free(&m->module);
  if (m->assembly != NULL) {
    LLVMDisposeMemoryBuffer(m->assembly);
    m->assembly = NULL;
  }
  LLVMDisposeMessage(m->ir);
  m->ir = NULL;
  cpu_code_free(m->code);
  m->code = NULL;
}

static bool link_code(struct making *m) {
  struct cpu_code *code = ARENA_NEW(m->arena, struct cpu_code);
  code->fn = ARENA_ARRAY(m->arena, rt_map_fn, m->kernels->list.n);
  m->code = code;
  LLVMMemoryBufferRef object =
      cpu_module_compile(m->arena, &m->module, LLVMObjectFile, m->ice);
  code->jit = object != NULL ? cpu_jit_new(m->arena, object, m->ice) : NULL;
  for (uint32_t i = 0; code->jit != NULL && i < m->kernels->list.n; i++) {
    struct str name = m->kernels->list.v[i]->name;
    uintptr_t at = (uintptr_t)cpu_jit_address(m->arena, code->jit, name, m->ice);
    memcpy(&code->fn[i], &at, sizeof at);
  }
  return m->ice->n == 0;
}

static bool write_assembly(struct making *m) {
  m->assembly = cpu_module_compile(m->arena, &m->module, LLVMAssemblyFile, m->ice);
  if (m->assembly == NULL) {
    return false;
  }
  struct str view = {LLVMGetBufferStart(m->assembly), LLVMGetBufferSize(m->assembly)};
  m->text = str_copy(m->arena, view);
  return true;
}

static bool write_ir(struct making *m) {
  m->ir = LLVMPrintModuleToString(m->module.module);
  m->text = str_copy(m->arena, str_of(m->ir));
  return true;
}

static bool make(struct making *m) {
  if (!cpu_module_build(m->arena, m->target, m->kernels, &m->module, m->ice)) {
    return false;
  }
  switch (m->product) {
  case MAKE_CODE: return link_code(m);
  case MAKE_ASSEMBLY: return write_assembly(m);
  case MAKE_IR: return write_ir(m);
  }
  return false;
}

// Runs `make` under a guard of its own, so that LLVM's objects do not leak when the arena runs out.
static bool make_guarded(struct making *m) {
  jmp_buf *outer = arena_guarded(m->arena), here;
  if (setjmp(here) != 0) {
    making_free(m);
    arena_guard(m->arena, outer);
    longjmp(*outer, 1);
  }
  arena_guard(m->arena, outer != NULL ? &here : NULL);
  bool made = make(m);
  arena_guard(m->arena, outer);
  return made;
}

struct cpu_code *cpu_code_new(struct arena *a, const struct cpu_target *t,
                              const struct kernels *k, struct str *ice) {
  struct making *m = ARENA_NEW(a, struct making);
  *m = (struct making){
      .arena = a, .product = MAKE_CODE, .target = t, .kernels = k, .ice = ice};
  struct cpu_code *code = NULL;
  if (make_guarded(m)) {
    code = m->code;
    m->code = NULL;
  }
  making_free(m);
  return code;
}

struct str cpu_code_text(struct arena *a, const struct cpu_target *t,
                         const struct kernels *k, bool assembly, struct str *ice) {
  struct making *m = ARENA_NEW(a, struct making);
  *m = (struct making){.arena = a,
                       .product = assembly ? MAKE_ASSEMBLY : MAKE_IR,
                       .target = t,
                       .kernels = k,
                       .ice = ice};
  bool made = make_guarded(m);
  making_free(m);
  return made ? m->text : STR("");
}
