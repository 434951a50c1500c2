// What open computes from a program, before any address is known. Each returns STEPRT_OK, STEPRT_NO_MEMORY or
// STEPRT_BAD_PROGRAM with its text in the handle; memory belongs to the handle.
#ifndef STEPRT_CORE_TABLES_H
#define STEPRT_CORE_TABLES_H

#include "core/handle.h"

// Hypers, registers, scalars and counts.
steprt_status rt_make_scalars(struct steprt *rt);
// Host states: a double per parameter, or one per use line where `host_is_group` says so.
steprt_status rt_make_host_states(struct steprt *rt);
// Where units and chunks stand in a step.
steprt_status rt_make_units(struct steprt *rt);

#endif
