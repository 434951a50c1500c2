// CUDA kernels as cubins and PTX, and the table of what each takes.
#ifndef STEPC_TOOL_OBJECTS_H
#define STEPC_TOOL_OBJECTS_H

#include "emit/cuda.h"
#include "emit/nvrtc.h"
#include "tool/tool.h"

struct objects {
  const struct cuda_text *text;
  struct nvrtc_object *object; // by kernel of `text`
  struct str arch, compiler;   // "sm_90a"; "NVRTC 13.0, /usr/local/..."
  double seconds;              // of all, in parallel
};

// Compiles every kernel for `arch`. What is wrong was said: EXIT_ENVIRONMENT without an NVRTC, EXIT_USAGE for an
// architecture that it does not know, EXIT_INTERNAL for a kernel that does not compile cleanly.
enum exit_code objects_compile(struct tool *t, const struct cuda_text *text,
                               struct str arch, struct objects *out);
// Registers, shared memory, spills, bytes per element and time of each kernel, for people or as JSON.
struct str objects_table(struct arena *a, const struct objects *o);
struct str objects_json(struct arena *a, const struct objects *o);

#endif
