// libstepc beside another LLVM in one process, as beside PyTorch and Triton: both compile, in turns, whichever came
// first, and the other one offers its symbols to everybody.
//
//   two_llvms LIBSTEPC LIBLLVM stepc|llvm     the last: who comes first
#include "stepc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void *open_library(const char *path, int flags) {
  void *library = dlopen(path, RTLD_NOW | flags);
  if (library == NULL) {
    fail(path, dlerror());
  }
  return library;
}

// Sets a function pointer of any type.
static void find(void *library, const char *name, void *function) {
  void *at = dlsym(library, name);
  if (at == NULL) {
    fail(name, dlerror());
  }
  memcpy(function, &at, sizeof at);
}

// ---- the other LLVM, through its C API: IR text to an object file

static void run_none(void *llvm, const char *name) {
  void (*function)(void);
  find(llvm, name, &function);
  function();
}

static void *new_machine(void *llvm) {
  static const char triple[] = "x86_64-unknown-linux-gnu";
  int (*find_target)(const char *, void **, char **);
  void *(*create)(void *, const char *, const char *, const char *, int, int, int);
  void *target;
  char *text = NULL;
  find(llvm, "LLVMGetTargetFromTriple", &find_target);
  find(llvm, "LLVMCreateTargetMachine", &create);
  run_none(llvm, "LLVMInitializeX86TargetInfo");
  run_none(llvm, "LLVMInitializeX86Target");
  run_none(llvm, "LLVMInitializeX86TargetMC");
  run_none(llvm, "LLVMInitializeX86AsmPrinter");
  if (find_target(triple, &target, &text) != 0) {
    fail("the other LLVM's target", text);
  }
  return create(target, triple, "x86-64", "", 2, 2, 0);
}

static void compile_with_llvm(void *llvm) {
  static const char ir[] =
      "define i32 @twice(i32 %x) {\n  %y = add i32 %x, %x\n  ret i32 %y\n}\n";
  void *(*new_context)(void);
  void *(*copy_text)(const char *, size_t, const char *);
  int (*parse)(void *, void *, void **, char **);
  int (*emit)(void *, void *, int, char **, void **);
  size_t (*size)(void *);
  void *module, *object;
  char *text = NULL;
  find(llvm, "LLVMContextCreate", &new_context);
  find(llvm, "LLVMCreateMemoryBufferWithMemoryRangeCopy", &copy_text);
  find(llvm, "LLVMParseIRInContext", &parse);
  find(llvm, "LLVMTargetMachineEmitToMemoryBuffer", &emit);
  find(llvm, "LLVMGetBufferSize", &size);
  if (parse(new_context(), copy_text(ir, sizeof ir - 1, "ir"), &module, &text) != 0) {
    fail("the other LLVM's parser", text);
  }
  if (emit(new_machine(llvm), module, 1, &text, &object) != 0 || size(object) == 0) {
    fail("the other LLVM's code generator", text);
  }
}

// ---- ours

static void compile_with_stepc(void *library) {
  stepc_status (*compile)(const struct stepc_job *, struct steprt_program **);
  const char *(*error)(const struct steprt_program *);
  stepc_status (*emit)(struct steprt_program *, const char *, const char **);
  void (*release)(struct steprt_program *);
  find(library, "stepc_compile", &compile);
  find(library, "stepc_program_error", &error);
  find(library, "stepc_program_emit", &emit);
  find(library, "stepc_program_free", &release);
  static const uint64_t dim = 1000;
  struct stepc_param param = {.size = sizeof param, .name = "w", .dim = &dim, .rank = 1};
  struct stepc_job job = {.size = sizeof job,
                          .spec_text = "spec 1\noptimizer sgd {\n  hyper lr : f32 = 0.1\n"
                                       "  param := param - lr * grad\n}\n",
                          .params = &param,
                          .n_params = 1};
  struct steprt_program *program;
  const char *text;
  if (compile(&job, &program) != STEPC_OK) {
    fail("stepc_compile", error(program));
  }
  if (emit(program, "asm", &text) != STEPC_OK || strstr(text, "ret") == NULL) {
    fail("stepc_program_emit", error(program));
  }
  release(program);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fail("usage", "two_llvms LIBSTEPC LIBLLVM stepc|llvm");
  }
  void *stepc = NULL, *llvm = NULL;
  int ours_first = strcmp(argv[3], "stepc") == 0;
  for (int turn = 0; turn < 4; turn++) {
    if ((turn % 2 == 0) == ours_first) {
      stepc = stepc != NULL ? stepc : open_library(argv[1], RTLD_GLOBAL);
      compile_with_stepc(stepc);
    } else {
      llvm = llvm != NULL ? llvm : open_library(argv[2], RTLD_GLOBAL);
      compile_with_llvm(llvm);
    }
  }
  return 0;
}
