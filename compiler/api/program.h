// What stands behind a program of this library. Private to api/.
#ifndef STEPC_API_PROGRAM_H
#define STEPC_API_PROGRAM_H

#include "stepc.h"

#include "api/driver.h"

#include <fenv.h>

struct diag_record {
  struct stepc_diag diag;
  struct stepc_diag *note; // diag.n_notes
};

// What the getters hand out, made once, so that they need no memory.
struct records {
  struct stepc_summary summary;
  struct diag_record *diag; // by file and place
  struct stepc_param_info *param;
  struct stepc_hyper_info *hyper;
  struct stepc_kernel_info *kernel;
  const char **note;
};

// Everything lies on the arena but for the machine code, which the driver holds.
struct compiled {
  // the public face, first; its version is 0, which libsteprt refuses, until all is made
  struct steprt_program step;
  struct arena *arena; // NULL: memory ran out, only `error` is left
  struct sources sources;
  struct diags diags;
  struct front front;
  struct driver_input input;
  struct driver driver;
  struct records records;
  const char *messages, *error;
  char written[480]; // why stepc_program_write failed
};

static inline struct compiled *compiled_of(struct steprt_program *p) {
  return (struct compiled *)p;
}
static inline const struct compiled *compiled_in(const struct steprt_program *p) {
  return (const struct compiled *)p;
}

// Sets the floating-point environment in which constants are read and folded, whatever mode the caller runs in;
// fesetenv(callers) ends it.
void fp_enter(fenv_t *callers);
// Fills p->input with copies of the job's texts. False: `*why` says how the call is wrong.
bool read_job(struct compiled *p, const struct stepc_job *job, struct str *why);
// Fills p->records from however far the driver came.
void keep_records(struct compiled *p);

#endif
