// What the proof says of each kind of fault, in plans of the planner with one thing changed and in two made by hand.
#include "plan/prove.h"
#include "plan_job.h"
#include "support/plan_mutate.h"

#include <criterion/criterion.h>
#include <string.h>

static struct plan_job job;
static void close_job(void) {
  plan_job_close(&job);
}
TestSuite(prove_faults, .fini = close_job);

// Two matrices of momentum and a vector stream through three slots in seven chunks.
static struct rt_plan *open_plan(uint32_t rank) {
  static const char model[] =
      "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"mesh\": {\"ep\": {\"size\": "
      "2, "
      "\"stride\": 1}}, \"params\": ["
      "{ \"name\": \"w.{0..3}\", \"shape\": [2, 16, 16], \"place\": {\"ep\": 0} },"
      "{ \"name\": \"b\\n.{0..4}\", \"shape\": [64] } ] }";
  const struct plan_options o = {
      .offload = {"host", 4}, .chunk_bytes = 512, .slots = 3, .rank = rank};
  if (rank == 0) {
    plan_job_open(&job, "specs/gpt.opt", model, false);
  }
  struct rt_plan *p = plan_job_plan(&job, &o);
  cr_assert_not_null(p, "%s", plan_job_said(&job));
  return p;
}

// ---- one plan

static const struct {
  enum mutation change;
  uint32_t place;
  enum proof_kind kind;
  const char *text;
} faults[] = {
    {MUTATE_WAIT, 0, PROOF_UNORDERED,
     "nothing orders merge 2 (lane compute), which writes step [64, 104), before "
     "exchange "
     "3 (lane comm), which reads it"},
    {MUTATE_WAIT, 2, PROOF_UNORDERED,
     "nothing orders map 6 (lane compute, chunk 0), which reads arena [0, 256), before "
     "load 5 (lane load, chunk 0) of the next step, or of another subset of this one, "
     "which writes it"},
    {MUTATE_WAIT, 2, PROOF_UNORDERED,
     "nothing orders store 18 (lane store, chunk 3), which reads arena [0, 512), before "
     "load 5 (lane load, chunk 0) where that chunk comes next, which writes it"},
    {MUTATE_WAIT, 2, PROOF_UNORDERED,
     "nothing orders store 7 (lane store, chunk 0), which writes host [0, 512), before "
     "load 5 (lane load, chunk 0) of the next step, or of another subset of this one, "
     "which reads it"},
    {MUTATE_LANE, 18, PROOF_UNORDERED,
     "map 6 (lane store, chunk 0) and map 17 (lane compute, chunk 3) signal one event, "
     "slot 0 computed, on two lanes"},
    {MUTATE_COPY_TWICE, 0, PROOF_UNORDERED,
     "load 5 (lane load, chunk 0) writes arena [0, 256), which it touches twice at once"},
    {MUTATE_ROW_TWICE, 9, PROOF_UNORDERED,
     "map 6 (lane compute, chunk 0) reads and writes param [0, 256) for two of its rows "
     "at once"},
    {MUTATE_OP, 0, PROOF_UNWRITTEN,
     "reduce 0 (lane compute) reads step [32, 64), which nothing wrote before"},
    {MUTATE_ROW, 15, PROOF_UNWRITTEN,
     "map 14 (lane compute, chunk 2) reads arena [14336, 14848) for `w.0`, which nothing "
     "wrote before"},
    {MUTATE_COPY, 0, PROOF_REUSED,
     "map 6 (lane compute, chunk 0) reads arena [0, 256) for `b\\n.0`, which only other "
     "chunks write"},
    {MUTATE_ROWS, 12, PROOF_REUSED,
     "ortho 13 (lane compute, chunk 2) reads arena [13312, 13824) for `w.1`, which hold "
     "something else by then: map 12 (lane compute, chunk 2)"},
    {MUTATE_ROW, 0, PROOF_UNCOVERED,
     "elements [0, 256) of `w.0` are not summed for the norm"},
    {MUTATE_ROW, 9, PROOF_UNCOVERED, "elements [0, 64) of `b\\n.0` are not updated"},
    {MUTATE_ROW, 12, PROOF_UNCOVERED,
     "elements [0, 256) of `w.1` miss the phase before this one: ortho 13 (lane compute, "
     "chunk 2)"},
    {MUTATE_ROW_TWICE, 0, PROOF_TWICE,
     "elements [0, 256) of `w.0` are summed twice: reduce 1 (lane compute)"},
    {MUTATE_ROW_TWICE, 15, PROOF_TWICE,
     "elements [0, 256) of `w.0` go through a phase again: ortho 13 (lane compute, chunk "
     "2)"},
    {MUTATE_ROWS, 0, PROOF_MISPLACED,
     "reduce 1 (lane compute) reads grad [0, 1024) of `w.1` for elements [0, 256) of "
     "`w.0`, which are not there"},
    {MUTATE_ROWS, 8, PROOF_MISPLACED,
     "map 12 (lane compute, chunk 2) reads arena [9216, 10240) for `w.0`, where others' "
     "states are: load 11 (lane load, chunk 2)"},
    {MUTATE_SLOT, 0, PROOF_MISPLACED,
     "store 7 (lane store, chunk 0) reads arena [0, 256), which did not come from there: "
     "map 6 (lane compute, chunk 0)"},
    {MUTATE_OP, 24, PROOF_LOST,
     "map 23 (lane compute, chunk 5) writes arena [8192, 8448), which nothing stores"},
    {MUTATE_OP, 3, PROOF_LOST,
     "merge 2 (lane compute) writes step [64, 104), which nothing reads"},
};

static bool has_fault(const struct proof *proof, enum proof_kind kind, const char *text) {
  for (uint32_t i = 0; i < proof->n_faults; i++) {
    if (proof->fault[i].kind == kind && str_is(proof->fault[i].text, text)) {
      return true;
    }
  }
  return false;
}

static const char *said(const struct proof *proof) {
  struct buf b = buf_new(job.arena);
  for (uint32_t i = 0; i < proof->n_faults; i++) {
    buf_printf(&b, "\n  %s: %.*s", proof_kind_names[proof->fault[i].kind],
               STR_FMT(proof->fault[i].text));
  }
  return buf_done(&b).p;
}

Test(prove_faults, name_what_is_wrong) {
  const struct rt_plan *good = open_plan(0);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    const struct rt_plan *bad =
        plan_mutant(job.arena, good, faults[i].change, faults[i].place);
    struct proof *proof = plan_prove(job.arena, &bad, 1);
    cr_expect(has_fault(proof, faults[i].kind, faults[i].text),
              "%s, place %u: no\n  %s: %s\namong%s", mutation_names[faults[i].change],
              faults[i].place, proof_kind_names[faults[i].kind], faults[i].text,
              said(proof));
  }
}

Test(prove_faults, end_after_twenty) {
  struct rt_plan plan = *open_plan(0);
  const struct rt_plan *p = &plan;
  struct rt_copy *copy = ARENA_ARRAY(job.arena, struct rt_copy, plan.n_copies);
  plan.copy = copy; // all of no bytes
  cr_expect_eq(plan_prove(job.arena, &p, 1)->n_faults, PROOF_MAX_FAULTS);
}

// ---- ranks

static void check_ranks(const struct rt_plan *a, const struct rt_plan *b,
                        enum proof_kind kind, const char *text) {
  const struct rt_plan *both[] = {a, b};
  struct proof *proof = plan_prove(job.arena, both, 2);
  cr_expect(has_fault(proof, kind, text), "no\n  %s: %s\namong%s", proof_kind_names[kind],
            text, said(proof));
}

Test(prove_faults, ranks_differ) {
  struct rt_plan *a = open_plan(0), *b = open_plan(1), *c = open_plan(1);
  const struct rt_plan *both[] = {a, b};
  cr_expect_eq(plan_prove(job.arena, both, 2)->n_faults, 0);
  check_ranks(b, a, PROOF_DISAGREED, "plan 0 of 2 is of rank 1 of 2");
  check_ranks(a, plan_mutant(job.arena, b, MUTATE_OP, 3), PROOF_EXCHANGE,
              "rank 1 has 0 exchanges in a step, rank 0 has 1");
  check_ranks(a, plan_mutant(job.arena, b, MUTATE_LANE, 9), PROOF_EXCHANGE,
              "exchange 0 differs: rank 1 has lane load, 40 bytes out, 80 in; rank 0 has "
              "lane comm, 40 bytes out, 80 in");
  c->configuration.world = 3;
  check_ranks(
      a, c, PROOF_EXCHANGE,
      "exchange 0 differs: rank 1 has lane comm, 40 bytes out, 120 in; rank 0 has "
      "lane comm, 40 bytes out, 80 in");
  check_ranks(a, c, PROOF_DISAGREED, "plan 1 of 2 is of rank 1 of 3");
}

Test(prove_faults, ranks_disagree) {
  struct rt_plan *a = open_plan(0), *b = open_plan(1);
  struct rt_unit *unit = ARENA_ARRAY(job.arena, struct rt_unit, b->n_units);
  memcpy(unit, b->unit, b->n_units * sizeof *unit);
  b->unit = unit;
  b->agreed[0] = b->agreed[0] == '0' ? '1' : '0';
  check_ranks(a, b, PROOF_DISAGREED,
              "ranks 0 and 1 do not agree: the configurations or exchanges differ");
  b->program_digest[0] = b->program_digest[0] == '0' ? '1' : '0';
  check_ranks(a, b, PROOF_DISAGREED, "ranks 0 and 1 do not agree: the programs differ");
  unit[3].bytes++;
  check_ranks(a, b, PROOF_DISAGREED,
              "ranks 0 and 1 do not agree: unit 3 is the first that differs");
}

// Two exchanges on lanes of their own. The second waits for the first; which is first, differs between the ranks.
struct two_exchanges {
  struct rt_plan plan;
  struct rt_op op[2];
  uint32_t wait;
};

static const struct rt_event done = {RT_EVENT_GATHERED, 0};

static void exchange_twice(struct two_exchanges *x, uint32_t rank, uint32_t first_lane,
                           uint32_t second_lane) {
  const struct rt_op op = {.kind = RT_OP_EXCHANGE, .chunk = RT_NO_ID, .signal = RT_NO_ID};
  *x = (struct two_exchanges){.op = {op, op}, .wait = 0};
  x->op[0].lane = first_lane;
  x->op[0].signal = 0;
  x->op[1].lane = second_lane;
  x->op[1].n_waits = 1;
  x->plan = (struct rt_plan){.configuration = {.rank = rank, .world = 2},
                             .op = x->op,
                             .n_ops = 2,
                             .n_begin = 2,
                             .event = &done,
                             .n_events = 1,
                             .wait = &x->wait,
                             .n_waits = 1};
}

Test(prove_faults, exchanges_wait_for_each_other) {
  struct two_exchanges a, b;
  const char *text =
      "exchange 0 of lane compute waits for one that waits for it on another rank";
  job.arena = arena_new(0);
  exchange_twice(&a, 0, RT_LANE_COMM, RT_LANE_COMPUTE);
  exchange_twice(&b, 1, RT_LANE_COMPUTE, RT_LANE_COMM);
  check_ranks(&a.plan, &b.plan, PROOF_DEADLOCK, text);
  exchange_twice(&b, 1, RT_LANE_COMM, RT_LANE_COMPUTE);
  const struct rt_plan *both[] = {&a.plan, &b.plan};
  cr_expect(!has_fault(plan_prove(job.arena, both, 2), PROOF_DEADLOCK, text));
}
