// stepc_program_write: a program and its plan as a folder that libsteprt opens alone.
#include "api/program.h"

#include "plan/bundle.h" // runtime/

#include <stdio.h>

static stepc_status status_of(steprt_status s) {
  return s == STEPRT_OK             ? STEPC_OK
         : s == STEPRT_NO_MEMORY    ? STEPC_NO_MEMORY
         : s == STEPRT_BAD_ARGUMENT ? STEPC_BAD_ARGUMENT
                                    : STEPC_IO;
}

stepc_status stepc_program_write(struct steprt_program *program, const char *dir) {
  struct compiled *p = compiled_of(program);
  if (p == NULL || dir == NULL) {
    return STEPC_BAD_ARGUMENT;
  }
  if (p->driver.step == NULL) {
    p->error = "this program was not compiled: there is nothing to write";
    return STEPC_BAD_ARGUMENT;
  }
  steprt_status s = rt_bundle_write(&p->step, dir, p->written, sizeof p->written);
  p->error = s == STEPRT_OK ? p->error : p->written;
  return status_of(s);
}
