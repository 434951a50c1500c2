// stepc_program_emit: the stages of a program as text.
#include "api/program.h"
#include "emit/cuda.h"

#include <string.h>

// ---- one function a kind; NULL: it failed inside, `p->driver.ice` says why

static const char *emit_ast(struct compiled *p) {
  struct buf b = buf_new(p->arena);
  for (uint32_t i = 0; i < p->driver.program->module.n; i++) {
    buf_str(&b, ast_print(p->arena, p->driver.program->module.v[i]));
  }
  return str_cstr(p->arena, buf_done(&b));
}

static const char *emit_ir(struct compiled *p) {
  struct buf b = buf_new(p->arena);
  for (uint32_t i = 0; i < p->driver.job->n_rules; i++) {
    buf_puts(&b, i != 0 ? "\n" : "");
    buf_str(&b, ir_print(p->arena, p->driver.ir->ir[i]));
  }
  return str_cstr(p->arena, buf_done(&b));
}

static const char *emit_phases(struct compiled *p) {
  struct buf b = buf_new(p->arena);
  for (uint32_t i = 0; i < p->driver.job->n_rules; i++) {
    buf_puts(&b, i != 0 ? "\n" : "");
    buf_str(&b, phases_print(p->arena, p->driver.ir->phases[i]));
  }
  return str_cstr(p->arena, buf_done(&b));
}

static const char *emit_code(struct compiled *p, bool assembly) {
  struct cpu_options o = {.cpu = p->input.cpu};
  struct str text = cpu_emit_text(&p->front, p->driver.ir, &o, assembly, &p->driver.ice);
  return text.n == 0 ? NULL : str_cstr(p->arena, text);
}

static const char *emit_llvm(struct compiled *p) {
  return emit_code(p, false);
}

static const char *emit_asm(struct compiled *p) {
  return emit_code(p, true);
}

// The files of the kernels, one after the other.
static const char *emit_cuda(struct compiled *p) {
  struct cuda_text *text = cuda_emit(&p->front, p->driver.ir, STR(""), &p->driver.ice);
  if (text == NULL) {
    return NULL;
  }
  struct buf b = buf_new(p->arena);
  for (uint32_t i = 0; i < text->n_kernels; i++) {
    buf_puts(&b, i != 0 ? "\n" : "");
    buf_str(&b, text->kernel[i].source);
  }
  return str_cstr(p->arena, buf_done(&b));
}

static const struct {
  const char *name;
  const char *(*emit)(struct compiled *p);
} kinds[] = {{"ast", emit_ast},   {"ir", emit_ir},   {"phases", emit_phases},
             {"llvm", emit_llvm}, {"asm", emit_asm}, {"cuda", emit_cuda}};

static stepc_status emit_guarded(struct compiled *p, size_t kind, const char **text) {
  jmp_buf oom;
  if (setjmp(oom) != 0) {
    arena_guard(p->arena, NULL);
    return STEPC_NO_MEMORY;
  }
  arena_guard(p->arena, &oom);
  *text = kinds[kind].emit(p);
  arena_guard(p->arena, NULL);
  if (*text == NULL) {
    *text = "";
    p->error = p->driver.ice.n != 0 ? p->driver.ice.p : "a stage gave no text";
    return STEPC_INTERNAL;
  }
  return STEPC_OK;
}

stepc_status stepc_program_emit(struct steprt_program *program, const char *kind,
                                const char **text) {
  struct compiled *p = compiled_of(program);
  if (text == NULL) {
    return STEPC_BAD_ARGUMENT;
  }
  *text = "";
  if (kind == NULL || p == NULL || p->driver.step == NULL) {
    return STEPC_BAD_ARGUMENT;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(kind, kinds[i].name) == 0) {
      fenv_t callers;
      fp_enter(&callers);
      stepc_status s = emit_guarded(p, i, text);
      fesetenv(&callers);
      return s;
    }
  }
  return STEPC_BAD_ARGUMENT;
}
