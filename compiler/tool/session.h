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

struct session {
  struct tool *tool;
  const struct job *job;
  const struct model *model; // the job's
  const struct steprt_program *program;
  struct session_source source;
  struct rt_team *team; // for seeding, digests and the memory copy
  struct steprt *rt;
  void **param, **grad;       // by parameter, on the host; NULL where there is none
  void **at_param, **at_grad; // the same where the runtime takes them: on a GPU, copies
  struct rt_gpu_block *gpu;   // NULL: the CPU
  uint32_t grads_read;        // which gradient file lies in `grad`; from 1
  uint64_t step;              // steps done
  uint32_t warnings;          // notes of the runtime that tell of a fallback
};

// Bytes of one tensor as it rests.
uint64_t param_bytes(const struct model_param *p);
uint64_t grad_bytes(const struct model_param *p);
// Host memory that a session needs, and what this machine has free (0: unknown).
uint64_t session_bytes(const struct model *m, const struct rt_plan *plan);
uint64_t memory_available(void);

// Allocates, reads or seeds the parameters, opens the runtime and binds. On failure what is wrong was said; the
// session is closed. `threads` 0: every core.
enum exit_code session_open(struct session *s, struct tool *t, const struct job *job,
                            const struct steprt_program *program,
                            const struct session_source *source, uint32_t threads);
void session_close(struct session *s); // accepts a session that never opened

// Brings the gradients of the next step, and runs it. `r` may be NULL.
enum exit_code session_load_grads(struct session *s);
enum exit_code session_step(struct session *s, struct steprt_report *r);
// Brings the parameters back where they lie on a GPU; after the last step.
enum exit_code session_fetch(struct session *s);
// A device state as it rests, copied where it lies on a GPU; NULL where it has no elements or cannot be read.
const void *session_state(struct session *s, uint32_t param, struct str name);
// What a status of the runtime means for the tool: said, and turned into an exit code.
enum exit_code session_failed(struct session *s, steprt_status status);

#endif
