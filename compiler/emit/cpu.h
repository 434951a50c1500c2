// The CPU target: LLVM code for the phases and the step as data for libsteprt.
#ifndef STEPC_EMIT_CPU_H
#define STEPC_EMIT_CPU_H

#include "ir/job_ir.h"
#include "plan/program.h" // runtime/

struct cpu_options {
  // "" or "native": this machine; else an LLVM name of an x86-64 CPU ("x86-64-v3", "znver4")
  struct str cpu;
};

struct
    cpu_program; // owns the machine code; the step's data lives on f->arena and must outlive it

// What this back end does not execute yet is refused with E0701, once per thing, naming it and its place. NULL
// when anything was refused (reported in f->diags) or LLVM failed (`*ice` says why: exit 70).
struct cpu_program *cpu_compile(struct front *f, const struct job_ir *j,
                                const struct cpu_options *o, struct str *ice);
struct steprt_program *
cpu_program_step(const struct cpu_program *p); // `plan` is left to the planner
// The program alone, its kernels without code: what planning needs. LLVM takes no part.
struct steprt_program *cpu_program_plan_only(struct front *f, const struct job_ir *j,
                                             struct str *ice);
// What was replaced by something else and why, a line each (DESIGN L5).
const struct str *cpu_program_notes(const struct cpu_program *p, uint32_t *n);
void cpu_program_free(struct cpu_program *p); // accepts NULL

// The same code as text, every distinct kernel once, deterministic to the byte: LLVM IR (`assembly` false; before
// LLVM's own passes, with `; file: name` comments) or assembly. An empty string when it was refused.
struct str cpu_emit_text(struct front *f, const struct job_ir *j,
                         const struct cpu_options *o, bool assembly, struct str *ice);
// Names this machine ("znver4") and says whether a CPU name is known, for doctor and messages.
struct str cpu_host_name(struct arena *a);
bool cpu_name_known(struct str cpu);

#endif
