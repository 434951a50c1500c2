// What the CPU target does not execute yet.
#ifndef STEPC_EMIT_CPU_REFUSE_H
#define STEPC_EMIT_CPU_REFUSE_H

#include "ir/job_ir.h"

// Reports E0701 for each thing, once, with its place. True when anything was refused.
bool cpu_refuse(struct front *f, const struct job_ir *j);

#endif
