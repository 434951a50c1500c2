// A compiled job with its data in memory: what `run` and `verify` step.
#ifndef STEPC_TOOL_SESSION_H
#define STEPC_TOOL_SESSION_H

#include "api/driver.h"
#include "tool/data.h"
#include "tool/tool.h"

#include "plan/program.h"
#include "steprt.h"

// Where parameters and gradients come from. No files: seeded.
struct session_source {
  const struct data_set *params;       // NULL: seeded
  const struct data_set *const *grads; // one per step, the last repeats
  uint32_t n_grads;
  uint64_t seed;
  bool trace; // keep the times of the last step's operations
  bool quiet; // the runtime's notes are not printed; its warnings are
};

struct rt_gpu_block; // runtime/device/cuda/block.h

struct session {
  struct tool *tool;
  const struct job *job;
  const struct model *model; // the job's
  const struct steprt_program *program;
  struct session_source source;
  struct rt_team *team; // for seeding, digests and the memory copy
  struct steprt *rt;
  uint32_t threads;
  bool on_gpu;          // the program's target
  bool is_guest;        // team and tensors are another session's
  void **param, **grad; // by parameter, on the program's device; NULL where there is none
  struct rt_gpu_block *block[2]; // on a GPU: parameters, gradients; by enum data_role
  uint64_t *offset[2];           // of each tensor in its block
  void *stage; // on a GPU: the piece of host memory that they are filled through
  uint64_t stage_bytes;
  double open_seconds, bind_seconds; // of the runtime
  double step_seconds,
      host_seconds;    // of the last step: begin to wait_all; begin, run and end alone
  uint32_t grads_read; // which gradient file lies in `grad`; from 1
  uint64_t step;       // steps done
  uint32_t warnings;   // notes of the runtime that tell of a fallback
};

// Does the program run on a GPU?
bool program_on_gpu(const struct steprt_program *p);
// What this machine has free; 0: unknown.
uint64_t memory_available(void);

// Allocates, reads or seeds the parameters, opens the runtime and binds. On failure what is wrong was said; the
// session is closed. `threads` 0: every core.
enum exit_code session_open(struct session *s, struct tool *t, const struct job *job,
                            const struct steprt_program *program,
                            const struct session_source *source, uint32_t threads);
// The same without the runtime: tensors alone, for session_open_beside.
enum exit_code session_open_tensors(struct session *s, struct tool *t,
                                    const struct job *job,
                                    const struct steprt_program *program,
                                    const struct session_source *source,
                                    uint32_t threads);
// Opens another plan of the job on the tensors of `owner`, which must stay open for as long: parameters are as they
// are, states begin anew.
enum exit_code session_open_beside(struct session *s, const struct session *owner,
                                   const struct steprt_program *program, bool trace);
// Under --strict the runtime's warnings are errors.
enum exit_code session_strict(const struct session *s);
void session_close(struct session *s); // accepts a session that never opened

// The parameters as before the first step.
enum exit_code session_load_params(struct session *s);
// Brings the gradients of the next step, and runs it. `r` may be NULL.
enum exit_code session_load_grads(struct session *s);
enum exit_code session_step(struct session *s, struct steprt_report *r);
// Values of a parameter on the host, copied where they lie on a GPU; NULL where there are none, or they cannot be read.
const void *session_param(struct session *s, uint32_t param);
// A device state as it rests, copied where it lies on a GPU; NULL where it has no elements or cannot be read.
const void *session_state(struct session *s, uint32_t param, struct str name);
// What a status of the runtime means for the tool: said, and turned into an exit code.
enum exit_code session_failed(struct session *s, steprt_status status);

#endif
