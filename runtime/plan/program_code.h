// Host code and phases of a program as JSON.
#ifndef STEPRT_PLAN_PROGRAM_CODE_H
#define STEPRT_PLAN_PROGRAM_CODE_H

#include "plan/reader.h"

// `"key": {"registers": n, "code": [...]}`, or null where there is none.
void rt_code_write(struct rt_text *t, const char *key, const struct rt_host_ins *ins,
                   uint32_t n, uint32_t n_regs);
bool rt_code_read(struct rt_reader *r, const struct json *obj, const char *key,
                  const struct rt_host_ins **ins, uint32_t *n, uint32_t *n_regs);

// `"key": [...]`, one phase a line. Kernels must exist: a phase has a scalar for each of its kernel's.
void rt_phases_write(struct rt_text *t, const char *key, const struct steprt_program *p,
                     const struct rt_phase *phase, uint32_t n);
bool rt_phases_read(struct rt_reader *r, const struct json *obj, const char *key,
                    const struct steprt_program *p, const struct rt_phase **phase,
                    uint32_t *n);

// `"pointers": [[4, "rw"], ...]`
void rt_pointers_write(struct rt_text *t, const struct rt_access *a, uint32_t n);
bool rt_pointers_read(struct rt_reader *r, const struct json *obj,
                      const struct rt_access **access, uint32_t *n);
// "r", "w", "rw", or "-" for neither.
const char *rt_access_text(bool read, bool written);
bool rt_access_read(struct rt_reader *r, const struct json *v, bool *read, bool *written);

#endif
