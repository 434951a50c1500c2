// `stepc bench`: one job under several plans, in turn, on the same tensors, beside the floor of what streams.
#ifndef STEPC_TOOL_BENCH_H
#define STEPC_TOOL_BENCH_H

#include "tool/bench_floor.h"
#include "tool/job.h"
#include "tool/session.h"

enum bench_arm_id {
  ARM_RESIDENT, // all states on the device
  ARM_SERIAL,   // all up, the step, all down
  ARM_CHUNKED,  // as the options say
  N_ARMS
};

struct bench_arm {
  const char *name;
  struct rt_plan *plan;
  struct steprt_program program; // the job's, with this plan
  struct session session;        // rt == NULL: left out
  double open, slab, bind;       // seconds
  double *step, *host; // seconds, by round: begin to wait_all; begin, run and end
  double device;       // seconds from the first operation's begin to the last one's end
  // seconds of the operations of each kind, from the same round
  double kind[RT_N_OP_KINDS];
  struct steprt_counters counters; // of the measured steps
  uint64_t hash;                   // of parameters and states after the compared steps
  uint64_t up, down;               // bytes of a step
};

struct bench {
  struct tool *tool;
  struct job_setup setup;
  struct driver driver;
  struct session_source source;
  struct session tensors; // of all arms
  uint64_t rounds, threads;
  struct bench_arm arm[N_ARMS];
  struct bench_floor floor;
  double *floor_seconds; // by round
  bool same;             // bits of all arms
};

enum {
  BENCH_COMPARED = 2,
  BENCH_WARM = 2
}; // steps that are compared; rounds that do not count

static inline bool bench_has(const struct bench_arm *arm) {
  return arm->session.rt != NULL;
}

// A hash of the parameters and of everything that `s` keeps between steps.
enum exit_code bench_hash(struct session *s, uint64_t *out);

struct str bench_text(const struct bench *b);
struct str bench_json(const struct bench *b);

#endif
