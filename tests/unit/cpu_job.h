// A spec bound to a model made by hand and taken to the CPU target's door.
#ifndef TESTS_CPU_JOB_H
#define TESTS_CPU_JOB_H

#include "emit/cpu.h"

struct job_param_spec {
  const char *name;
  enum storage dtype, grad;
  struct shape shape;
  bool frozen;
};

struct cpu_job {
  struct arena *arena;
  struct front front;
  struct model *model;
  struct job_ir *job; // NULL: the front end refused it
  struct str ice;
};

#define MATRIX(rows, cols)                                                               \
  {                                                                                      \
    2, {                                                                                 \
      (rows), (cols)                                                                     \
    }                                                                                    \
  }
#define VECTOR(n)                                                                        \
  {                                                                                      \
    1, {                                                                                 \
      (n)                                                                                \
    }                                                                                    \
  }

// `text`: a whole spec, or NULL to read `path` from disk.
struct cpu_job cpu_job_open(const char *path, const char *text, const char *pick,
                            const struct job_param_spec *param, uint32_t n);
struct cpu_job cpu_job_open_on(struct arena *a, const char *path, const char *text,
                               const char *pick, const struct job_param_spec *param,
                               uint32_t n);
void cpu_job_close(struct cpu_job *j);
// With a plan of resident states.
struct cpu_program *cpu_job_compile(struct cpu_job *j, const char *cpu);
// All messages so far.
const char *cpu_job_said(struct cpu_job *j);

#endif
