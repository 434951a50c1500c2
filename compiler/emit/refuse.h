// What no target executes yet.
#ifndef STEPC_EMIT_REFUSE_H
#define STEPC_EMIT_REFUSE_H

#include "ir/job_ir.h"

// Reports E0701 for each thing, once, with its place, under the name of the target ("cpu"). True when anything was refused.
bool target_refuse(struct front *f, const struct job_ir *j, struct str target);

#endif
