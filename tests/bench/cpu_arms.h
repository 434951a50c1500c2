// A compiled job and its data in memory, for cpu_arms.c.
#ifndef TESTS_BENCH_CPU_ARMS_H
#define TESTS_BENCH_CPU_ARMS_H

#include "api/driver.h"
#include "core/items.h"
#include "core/team.h"
#include "plan/program.h"

struct bench {
  struct arena *arena;
  struct driver driver;
  const struct steprt_program *program;
  struct steprt *rt;
  struct rt_team *team; // for the C loops; the handle has its own
  void **param;
  const void **grad;         // all positive
  const struct rt_row **row; // a parameter's first map
  struct rt_item *item;      // the parameters, cut as the runtime cuts them
  uint64_t n_items;
};

// Compiles SPEC for MODEL (f32 parameters and gradients), opens it with `threads`, takes one step. False with the
// reason on standard error.
bool bench_open(struct bench *b, const char *spec, const char *model, uint32_t threads);
// begin, run, end. False: said.
bool bench_step(struct bench *b);
void bench_close(struct bench *b);

#endif
