// What a program is asked for.
#include "api/program.h"

#include <string.h>

const char *stepc_version(void) {
  return STEPC_VERSION;
}

const char *stepc_status_text(stepc_status s) {
  switch (s) {
  case STEPC_OK: return "ok";
  case STEPC_BAD_ARGUMENT: return "bad argument";
  case STEPC_BAD_INPUT: return "bad input";
  case STEPC_NO_MEMORY: return "out of memory";
  case STEPC_IO: return "a file cannot be read";
  case STEPC_NO_LIBRARY: return "a library or a device is missing";
  case STEPC_INTERNAL: return "internal error";
  }
  return "unknown status";
}

const char *stepc_program_error(const struct steprt_program *program) {
  const struct compiled *p = compiled_in(program);
  return p == NULL ? "" : p->error;
}

const char *stepc_program_messages(const struct steprt_program *program) {
  const struct compiled *p = compiled_in(program);
  return p == NULL ? "" : p->messages;
}

// Copies as much of `ours` as the caller's struct has room for; both begin with a size.
static stepc_status put(void *theirs, const void *ours, size_t known) {
  size_t size = 0;
  if (theirs != NULL) {
    memcpy(&size, theirs, sizeof size);
  }
  if (size < sizeof size) {
    return STEPC_BAD_ARGUMENT;
  }
  memset(theirs, 0, size);
  memcpy(theirs, ours, size < known ? size : known);
  memcpy(theirs, &size, sizeof size);
  return STEPC_OK;
}

stepc_status stepc_program_summary(const struct steprt_program *program,
                                   struct stepc_summary *out) {
  const struct compiled *p = compiled_in(program);
  static const struct stepc_summary none = {.name = ""};
  bool is_kept = p != NULL && p->records.summary.name != NULL;
  return put(out, is_kept ? &p->records.summary : &none, sizeof *out);
}

stepc_status stepc_program_diag(const struct steprt_program *program, uint32_t i,
                                struct stepc_diag *out) {
  const struct compiled *p = compiled_in(program);
  if (p == NULL || i >= p->records.summary.n_diags) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.diag[i].diag, sizeof *out);
}

stepc_status stepc_program_diag_note(const struct steprt_program *program, uint32_t diag,
                                     uint32_t note, struct stepc_diag *out) {
  const struct compiled *p = compiled_in(program);
  if (p == NULL || diag >= p->records.summary.n_diags ||
      note >= p->records.diag[diag].diag.n_notes) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.diag[diag].note[note], sizeof *out);
}

const char *stepc_program_note(const struct steprt_program *program, uint32_t i) {
  const struct compiled *p = compiled_in(program);
  return p == NULL || i >= p->records.summary.n_notes ? NULL : p->records.note[i];
}

stepc_status stepc_program_param(const struct steprt_program *program, uint32_t i,
                                 struct stepc_param_info *out) {
  const struct compiled *p = compiled_in(program);
  if (p == NULL || i >= p->records.summary.n_params) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.param[i], sizeof *out);
}

stepc_status stepc_program_hyper(const struct steprt_program *program, uint32_t i,
                                 struct stepc_hyper_info *out) {
  const struct compiled *p = compiled_in(program);
  if (p == NULL || i >= p->records.summary.n_hypers) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.hyper[i], sizeof *out);
}

stepc_status stepc_program_kernel(const struct steprt_program *program, uint32_t i,
                                  struct stepc_kernel_info *out) {
  const struct compiled *p = compiled_in(program);
  if (p == NULL || i >= p->records.summary.n_kernels) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.kernel[i], sizeof *out);
}
