// Inside rt_plan_check. Each check may rely on those before it, in the order of plan_check.c.
#ifndef STEPRT_PLAN_PLAN_CHECK_H
#define STEPRT_PLAN_PLAN_CHECK_H

#include "core/handle.h" // rt_show, RT_TRY
#include "plan/plan_json.h"
#include "plan/pool.h"

enum {
  RT_SLOT_ALIGN = 256,
  RT_MAX_SLOTS = 1 << 16,
  RT_MAX_SIZE_BITS = 53 // sizes are numbers of a JSON text
};
#define RT_MAX_SIZE ((uint64_t)1 << RT_MAX_SIZE_BITS)

struct plan_check {
  const struct rt_plan *plan;
  const struct steprt_program *program; // NULL: none
  char *why;
  size_t n_why;
  struct rt_pool pool; // scratch
};

// Both fill `why`; the second names the operation.
__attribute__((format(printf, 2, 3))) steprt_status
rt_plan_bad(const struct plan_check *c, const char *format, ...);
__attribute__((format(printf, 3, 4))) steprt_status rt_op_bad(const struct plan_check *c,
                                                              const struct rt_op *op,
                                                              const char *format, ...);
steprt_status rt_plan_check_no_memory(const struct plan_check *c);

static inline bool rt_is_init(const struct rt_plan *p, const struct rt_op *op) {
  return p->n_init != 0 && op >= p->init && op < p->init + p->n_init;
}
// Where the operations end that follow op[i] and are of its chunk.
static inline uint32_t rt_chunk_end(const struct rt_op *op, uint32_t i, uint32_t n) {
  uint32_t end = i + 1;
  while (end < n && op[end].chunk == op[i].chunk) {
    end++;
  }
  return end;
}

// Bytes [offset, offset + bytes) of `size`.
static inline bool rt_within(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

steprt_status rt_plan_check_params(struct plan_check *c);  // plan_check_params.c
steprt_status rt_plan_check_units(struct plan_check *c);   // plan_check_units.c
steprt_status rt_plan_check_kernels(struct plan_check *c); // plan_check_ops.c, and
steprt_status rt_plan_check_ops(struct plan_check *c);
steprt_status rt_plan_check_events(struct plan_check *c);  // plan_check_events.c
steprt_status rt_plan_check_rows(struct plan_check *c);    // plan_check_rows.c
steprt_status rt_plan_check_copies(struct plan_check *c);  // plan_check_copies.c
steprt_status rt_plan_check_program(struct plan_check *c); // plan_check_program.c, and
steprt_status rt_plan_check_phases(struct plan_check *c);  // plan_check_phases.c

#endif
