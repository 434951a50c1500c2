// The laws that `stepc verify` proves on this machine, one function each.
#ifndef STEPC_TOOL_VERIFY_H
#define STEPC_TOOL_VERIFY_H

#include "tool/job.h"
#include "tool/session.h"

struct verdict {
  bool held, skipped;
  struct str tried;  // "1, 2, 3 threads and 1 again, 2 steps each"
  struct str result; // what was found; where it failed: the first difference
};

struct verify {
  struct tool *tool;
  struct job_setup setup;
  struct driver driver; // of the sampled model
  struct session_source source;
  uint32_t threads;   // the most that are tried
  struct str digests; // of the reference run: one thread, this target
};

enum { VERIFY_STEPS = 2 };

// Keeps whole parameters of about `elements` elements in all: of each `use` line the smallest first, then one of each
// further rule, small ones first, then more. `left_out` says what is not verified, and is empty when all is.
struct model *verify_sample(struct arena *a, const struct job *job, uint64_t elements,
                            struct str *left_out);

// Digests after VERIFY_STEPS steps of `program` with that many threads.
enum exit_code verify_digests(struct verify *v, const struct steprt_program *program,
                              uint32_t threads, struct str *out);
// The name on the first line that differs.
struct str verify_difference(struct arena *a, struct str x, struct str y);

// Each law returns an exit code other than EXIT_OK only when it could not be tried.
enum exit_code verify_threads(struct verify *v, struct verdict *out); // sets v->digests
enum exit_code verify_chunks(struct verify *v, struct verdict *out);
enum exit_code verify_targets(struct verify *v, struct verdict *out);
enum exit_code verify_gpu(struct verify *v, struct verdict *out);
// Each kernel of a program on a whole range and on pieces of it. False: memory is out.
bool cuts_prove(struct arena *a, const struct steprt_program *p, struct verdict *out);
enum exit_code verify_cuts(struct verify *v, struct verdict *out);
enum exit_code verify_plans(struct verify *v, struct verdict *out);
enum exit_code verify_bound(struct verify *v, struct verdict *out);

#endif
