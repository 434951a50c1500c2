// plan.json (`stepc-plan/1`, DESIGN section 6): a plan as text, read back under the rules for untrusted files
// (DESIGN section 16), and the checks that any plan must pass before it is run.
//
// One object, its lists a line per item, each item with its number: configuration, memory, totals, events, notes,
// params, kernels, units, chunks, init, ops, buckets. Addresses are texts, "host 4096": a space and an offset. Below an
// operation stand its rows or copies, a line each:
//
//   [param, first, numel, phase, address of each pointer ...]      of PARAM and GRAD: of that parameter
//   [unit, host, arena, bytes]
//
// Members are those of the structs of plan.h under the same names, but for what follows from the rest: ranges of
// tables, units of rows. A member that does not apply to a kind of operation is refused.
#ifndef STEPRT_PLAN_PLAN_JSON_H
#define STEPRT_PLAN_PLAN_JSON_H

#include "plan/program.h"
#include "steprt.h"

// Sets `program_digest`, `agreed` and `digest`: SHA-256 over the program, over what all ranks must agree on (units,
// chunks by rank-invariant bytes, exchanges, configuration but for the rank) and over the canonical text without its
// "digest" line. `program` may be NULL: then its digest stays. False: out of memory.
bool rt_plan_seal(struct rt_plan *plan, const struct steprt_program *program);

// The canonical text, ended by a newline, deterministic to the byte; from malloc. NULL: out of memory.
char *rt_plan_to_json(const struct rt_plan *plan, uint64_t *n);

// Reads text: strict JSON, every id and range checked (rt_plan_check without a program), the digest compared. On
// failure `why` says what is wrong and where (STEPRT_BAD_INPUT) and *out is NULL.
steprt_status rt_plan_from_json(const char *text, uint64_t n, struct rt_plan **out,
                                char *why, size_t n_why);
void rt_plan_free(struct rt_plan *plan); // one that rt_plan_from_json made; accepts NULL

// Every id, index and byte range within its bounds, alignment of slots and addresses, kinds on their lanes, events on
// one lane each, no cycle within a chunk's waits, units a partition. With a program: parameters, kernels, rules, states
// and shapes are its own. STEPRT_BAD_PROGRAM with the reason, the thing named; or STEPRT_NO_MEMORY.
steprt_status rt_plan_check(const struct rt_plan *plan,
                            const struct steprt_program *program, char *why,
                            size_t n_why);

// The byte ranges that an operation reads and writes, one call each; the one place that knows them. Calls
// fn(ctx, at, bytes, is_write) until it returns false.
typedef bool (*rt_range_fn)(void *ctx, struct rt_at at, uint64_t bytes, bool is_write);
void rt_op_ranges(const struct rt_plan *plan, const struct rt_op *op, rt_range_fn fn,
                  void *ctx);
bool rt_plan_judges(const struct rt_plan *plan); // has a VERDICT

#endif
