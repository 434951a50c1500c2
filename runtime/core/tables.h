// What open computes from a program, before any address is known. Each returns STEPRT_OK, STEPRT_NO_MEMORY or
// STEPRT_BAD_PROGRAM with its text in the handle; memory belongs to the handle.
#ifndef STEPRT_CORE_TABLES_H
#define STEPRT_CORE_TABLES_H

#include "core/handle.h"

// Waves and items of the step and of the states' initial values; items of the gradients where the recipe looks at
// them.
steprt_status rt_make_schedules(struct steprt *rt);
// Hypers, registers, scalars and counts.
steprt_status rt_make_scalars(struct steprt *rt);
// Host states: a double per parameter, or one per use line where `host_is_group` says so.
steprt_status rt_make_host_states(struct steprt *rt);
// All buffers of a kind (RT_BUF_STATE, RT_BUF_TEMP) in one block, each at a multiple of 64 bytes, zeroed and with
// its pages in place.
steprt_status rt_make_buffers(struct steprt *rt, enum rt_buffer_kind kind);

#endif
