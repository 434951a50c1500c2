// A bundle: a folder from which libsteprt runs a program with nothing else in the process.
//
//   DIR/program.json   stepc-program/1
//   DIR/plan.json      stepc-plan/1, of one rank
//   DIR/NAME.cubin     the image of each kernel, by name, size and digest in program.json
//
// A bundle is code, as trusted as a shared library; what its texts say is checked like any other input's, and digests
// find accidents.
#ifndef STEPRT_PLAN_BUNDLE_H
#define STEPRT_PLAN_BUNDLE_H

#include "plan/program.h"
#include "steprt.h"

struct rt_bundle {
  struct steprt_program *program; // with its plan
};

// Writes a folder that appears whole or not at all: made under another name beside `dir`, synced, renamed; one that
// stands there already is replaced if it is a bundle, and else refused. A program for the CPU is refused: its machine
// code lies in the process that made it. STEPRT_BAD_ARGUMENT, STEPRT_IO or STEPRT_NO_MEMORY with the reason in `why`;
// nothing is left behind then.
steprt_status rt_bundle_write(const struct steprt_program *program, const char *dir,
                              char *why, size_t n_why);

// Reads one; no link in the folder is followed. STEPRT_IO, STEPRT_BAD_INPUT or STEPRT_NO_MEMORY with the reason.
steprt_status rt_bundle_read(const char *dir, struct rt_bundle **out, char *why,
                             size_t n_why);
void rt_bundle_free(struct rt_bundle *b); // accepts NULL

#endif
