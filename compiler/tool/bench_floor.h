// What the bytes that stream cost alone: the floor under a step.
#ifndef STEPC_TOOL_BENCH_FLOOR_H
#define STEPC_TOOL_BENCH_FLOOR_H

#include "tool/tool.h"

#include "core/team.h"

struct rt_link; // runtime/device/cuda/link.h

// On a GPU: copies of 64 MiB over the link, both ways at once, between pinned memory and the device. On the CPU: a
// memory copy of the bytes of both ways by all threads.
struct bench_floor {
  struct tool *tool;
  struct rt_team *team;
  uint64_t up, down;
  struct rt_link *link; // NULL: the CPU
  char *from, *to;
  uint64_t room;
};

enum exit_code floor_open(struct bench_floor *f, struct tool *t, struct rt_team *team,
                          bool on_gpu, uint64_t up, uint64_t down);
void floor_close(struct bench_floor *f); // accepts one that never opened
enum exit_code floor_round(struct bench_floor *f, double *seconds);

#endif
