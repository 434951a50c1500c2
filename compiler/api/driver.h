// The chain from a spec to machine code, one stage a call. Prints nothing: what is wrong is in front->diags.
#ifndef STEPC_API_DRIVER_H
#define STEPC_API_DRIVER_H

#include "emit/cpu.h"
#include "emit/cuda_program.h"
#include "plan/planner.h"

// What to compile.
struct driver_input {
  struct str spec;           // FILE, or FILE:NAME while `pick` and `reader` are left out
  struct str pick;           // empty: see job_options
  struct file_reader reader; // read == NULL: from disk
  struct str model;          // path
  struct str model_text;     // p != NULL: the model's JSON
  const struct model_tensor *tensor; // not NULL: the model as a table
  uint32_t n_tensors;
  struct str cpu;
  bool names_cpu;  // --target cpu or cpu:NAME was given
  bool names_cuda; // --target cuda or cuda:ARCH was given
  struct str arch; // "sm_90a"; empty where --target has none
  const struct setting *define, *set;
  uint32_t n_defines, n_sets;
  struct plan_options plan;
  struct pass_log log; // after == NULL: none
};

struct driver_times { // seconds
  double parse, model, sema, lower, compile, plan;
};

struct driver {
  struct str path, pick; // of input.spec
  struct program *program;
  struct model *model;
  struct job *job;
  struct job_ir *ir;
  struct cpu_program *cpu;   // NULL for CUDA
  struct cuda_program *cuda; // NULL for the CPU
  const struct str *note;    // what the back end replaced by something else, and why
  uint32_t n_notes;
  // of driver_compile or driver_program; with its plan after driver_plan
  struct steprt_program *step;
  struct rt_plan *plan;
  struct driver_times times;
  struct str ice; // an internal error in words; empty: none
};

// `cpu`, `cpu:NAME`, `cuda`, `cuda:ARCH` into in->cpu, in->arch and the names_ flags. False: `*why` says what is wrong.
bool driver_read_target(struct arena *a, struct str target, struct driver_input *in,
                        struct str *why);
// FILE:NAME into its parts. NAME must be an identifier; a file of the whole text wins.
void driver_split_spec(struct str spec, struct str *path, struct str *name);

// Each stage needs those before it and returns false when it reported an error, or set `ice`.
bool driver_parse(struct front *f, const struct driver_input *in, struct driver *d);
bool driver_model(struct front *f, const struct driver_input *in, struct driver *d);
bool driver_job(struct front *f, const struct driver_input *in, struct driver *d);
bool driver_lower(struct front *f, const struct driver_input *in, struct driver *d);
// Machine code, then the plan.
bool driver_compile(struct front *f, const struct driver_input *in, struct driver *d);
// What planning needs of a program, without machine code: for the CPU, or for CUDA where the target names it.
bool driver_program(struct front *f, const struct driver_input *in, struct driver *d);
bool driver_plan(struct front *f, const struct driver_input *in, struct driver *d);
bool driver_run(struct front *f, const struct driver_input *in,
                struct driver *d);  // all of them
void driver_free(struct driver *d); // the machine code; the rest lies on the arena

#endif
