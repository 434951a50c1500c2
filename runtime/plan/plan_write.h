// Inside the writer of plan.json.
#ifndef STEPRT_PLAN_PLAN_WRITE_H
#define STEPRT_PLAN_PLAN_WRITE_H

#include "file/text.h"
#include "plan/plan.h"

// The whole text; `with_digest`: with its "digest" line, else what the digest is taken over.
void rt_plan_write(struct rt_text *t, const struct rt_plan *plan, bool with_digest);

// plan_write_ops.c: `"key": [...]`, one operation a line, then its rows or copies, one a line.
void rt_plan_write_ops(struct rt_text *t, const struct rt_plan *plan, const char *key,
                       const struct rt_op *op, uint32_t n);
// "host 4096": a space by name, and an offset. The parameter of PARAM and GRAD is the row's.
void rt_plan_write_at(struct rt_text *t, struct rt_at at);
// Addresses of each row.
uint32_t rt_op_pointers(const struct rt_plan *plan, const struct rt_op *op);

// plan_seal.c: what rt_plan_seal sets. False: memory ran out.
bool rt_plan_digest(const struct rt_plan *plan, char hex[65]);
bool rt_plan_agreed(const struct rt_plan *plan, char hex[65]);

#endif
