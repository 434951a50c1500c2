// Worker threads with a fixed number; made at open, parked between jobs, joined at destroy.
#ifndef STEPRT_CORE_TEAM_H
#define STEPRT_CORE_TEAM_H

#include "steprt.h"

enum { RT_MAX_THREADS = 4095 }; // of a team

struct rt_team;
// `threads` workers in all (more than RT_MAX_THREADS: STEPRT_BAD_ARGUMENT), the calling thread counted as number 0; 0: every core of the affinity mask. Workers
// run with round-to-nearest, no flush to zero (DESIGN section 4), and block all signals. In a child of fork the calling
// thread is alone: it does all work itself and frees the team like any other.
steprt_status rt_team_new(uint32_t threads, struct rt_team **out);
void rt_team_free(struct rt_team *t); // accepts NULL
uint32_t rt_team_size(const struct rt_team *t);

// Calls fn(ctx, item, thread) once for every item in [0, n), items claimed in order by whoever is free; returns when
// all are done. Which thread takes which item is not fixed: results must not depend on it. The caller's
// floating-point mode is set for the duration and restored.
typedef void (*rt_item_fn)(void *ctx, uint64_t item, uint32_t thread);
void rt_team_run(struct rt_team *t, uint64_t n, rt_item_fn fn, void *ctx);

#endif
