// What a plain memory copy of as many bytes costs on this machine, now: the yardstick of `stepc run`.
#ifndef STEPC_TOOL_COPY_H
#define STEPC_TOOL_COPY_H

#include "core/team.h"

// Seconds (the best of a few runs) of a copy by all threads of `team` that moves `bytes` in all: half of them read,
// half written, through buffers of at most 512 MB. 0 when the buffers cannot be had.
double copy_seconds(struct rt_team *team, uint64_t bytes);

#endif
