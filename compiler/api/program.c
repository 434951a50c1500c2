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
  case STEPC_INTERNAL: return "internal error";
  }
  return "unknown status";
}

const struct steprt_program *stepc_program_step(const struct stepc_program *p) {
  return p == NULL || p->driver.cpu == NULL ? NULL : cpu_program_step(p->driver.cpu);
}

const char *stepc_program_error(const struct stepc_program *p) {
  return p == NULL ? "" : p->error;
}

const char *stepc_program_messages(const struct stepc_program *p) {
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

stepc_status stepc_program_summary(const struct stepc_program *p,
                                   struct stepc_summary *out) {
  static const struct stepc_summary none = {.name = ""};
  bool is_kept = p != NULL && p->records.summary.name != NULL;
  return put(out, is_kept ? &p->records.summary : &none, sizeof *out);
}

stepc_status stepc_program_diag(const struct stepc_program *p, uint32_t i,
                                struct stepc_diag *out) {
  if (p == NULL || i >= p->records.summary.n_diags) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.diag[i].diag, sizeof *out);
}

stepc_status stepc_program_diag_note(const struct stepc_program *p, uint32_t diag,
                                     uint32_t note, struct stepc_diag *out) {
  if (p == NULL || diag >= p->records.summary.n_diags ||
      note >= p->records.diag[diag].diag.n_notes) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.diag[diag].note[note], sizeof *out);
}

const char *stepc_program_note(const struct stepc_program *p, uint32_t i) {
  return p == NULL || i >= p->records.summary.n_notes ? NULL : p->records.note[i];
}

stepc_status stepc_program_param(const struct stepc_program *p, uint32_t i,
                                 struct stepc_param_info *out) {
  if (p == NULL || i >= p->records.summary.n_params) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.param[i], sizeof *out);
}

stepc_status stepc_program_hyper(const struct stepc_program *p, uint32_t i,
                                 struct stepc_hyper_info *out) {
  if (p == NULL || i >= p->records.summary.n_hypers) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.hyper[i], sizeof *out);
}

stepc_status stepc_program_kernel(const struct stepc_program *p, uint32_t i,
                                  struct stepc_kernel_info *out) {
  if (p == NULL || i >= p->records.summary.n_kernels) {
    return STEPC_BAD_ARGUMENT;
  }
  return put(out, &p->records.kernel[i], sizeof *out);
}
