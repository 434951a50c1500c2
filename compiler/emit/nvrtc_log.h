// NVRTC's log, as `--ptxas-options=-v` gives it.
#ifndef STEPC_EMIT_NVRTC_LOG_H
#define STEPC_EMIT_NVRTC_LOG_H

#include "emit/nvrtc.h"

// Takes the resources of each kernel out of `log` into `o` and returns what else stands there: warnings.
struct str nvrtc_read_log(struct arena *a, struct str log, struct nvrtc_object *o);

#endif
