// Notes: whatever a reader would not guess stands in the plan, in words (DESIGN L5), and nothing else does.
#include "plan_job.h"

#include <criterion/criterion.h>
#include <string.h>

#define MODEL(mesh, params)                                                              \
  "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"mesh\": {" mesh                   \
  "}, \"params\": [" params "] }"
#define DP  "\"dp\": {\"size\": 2, \"stride\": 1}"
#define MIB "{\"name\": \"wte.{0..7}\", \"shape\": [32, 4096]}" // a MiB of states each

static const struct expectation {
  const char *notes; // a line each
  const char *model;
  struct plan_options o;
} expectations[] = {
    {"", MODEL("", "{\"name\": \"w\", \"shape\": [8, 8]}"), {.rank = 0}},
    {"",
     MODEL("", MIB),
     {.offload = {"host", 4}, .chunk_bytes = 1 << 20, .overlap = true}},
    {"no elements, so no states and no work: `a`\n",
     MODEL("", "{\"name\": \"a\", \"shape\": [0]}, {\"name\": \"b\", \"shape\": [4]}"),
     {.rank = 0}},
    {"this rank holds nothing of `e.0` and 1 more\n",
     MODEL(DP, "{\"name\": \"e.{0..3}\", \"shape\": [4], \"on\": {\"dp\": \"i/2\"}}"),
     {.rank = 1}},
    {"shards of different sizes: `b`\n",
     MODEL(DP, "{\"name\": \"b\", \"shape\": [5], \"place\": {\"dp\": 0}}"),
     {.rank = 1}},
    {"every replica orthogonalizes for itself: `w`\n",
     MODEL(DP, "{\"name\": \"w\", \"shape\": [8, 8]}, {\"name\": \"b\", \"shape\": [8]}"),
     {.rank = 0}},
    {"a chunk alone, larger than the chunk size of 1 MiB: unit 1 (`w.0` and 1 more), "
     "with 2 "
     "MiB of states\n",
     MODEL("", "{\"name\": \"wte\", \"shape\": [32, 4096]},"
               "{\"name\": \"w.{0..1}\", \"shape\": [64, 4096]},"
               "{\"name\": \"wpe.{0..2}\", \"shape\": [32, 4096]}"),
     {.offload = {"host", 4}, .chunk_bytes = 1 << 20, .overlap = true}},
    {"`wte.0`, with 1 MiB of states, is cut into 2 chunks\n"
     "`wte.1`, with 1 MiB of states, is cut into 2 chunks\n"
     "`wte.2`, with 1 MiB of states, is cut into 2 chunks\n"
     "`wte.3`, with 1 MiB of states, is cut into 2 chunks\n"
     "4 more units are cut\n"
     "slots of 512 KiB: copies below 1 MiB do not reach the speed of a link\n",
     MODEL("", MIB),
     {.offload = {"host", 4}, .chunk_bytes = 1 << 19, .overlap = true}},
    {"1 of 4 slots are set aside: no more chunks stream\n",
     MODEL("", "{\"name\": \"wte\", \"shape\": [32, 4096]}"),
     {.offload = {"host", 4}, .chunk_bytes = 1 << 20, .overlap = true}},
    {"4 MiB of states rest on the host, more than the 2 MiB asked for: a unit rests "
     "whole "
     "here or there\n"
     "1 of 4 slots are set aside: no more chunks stream\n",
     MODEL("", "{\"name\": \"wte\", \"shape\": [128, 4096]}"),
     {.offload = {"host:0.5", 8}, .overlap = true}},
    {"",
     MODEL("", MIB),
     {.offload = {"host:0.5", 8}, .chunk_bytes = 1 << 20, .overlap = true}},
    {"no state streams: all are resident, or there are none\n",
     MODEL("", MIB),
     {.offload = {"host:0", 6}}},
};

// Every parameter has its place in the forward pass, but for the last case.
static void check(const struct expectation *e) {
  struct plan_job j;
  plan_job_open(&j, "specs/gpt.opt", e->model, false);
  for (uint32_t i = 0; i < j.driver.model->n_params; i++) {
    j.driver.model->param[i].has_order = true;
  }
  struct rt_plan *p = plan_job_plan(&j, &e->o);
  cr_assert_not_null(p, "%s", plan_job_said(&j));
  struct buf b = buf_new(j.arena);
  for (uint32_t i = 0; i < p->n_notes; i++) {
    buf_printf(&b, "%s\n", p->note[i]);
  }
  cr_expect(str_is(buf_done(&b), e->notes), "expected:\n%s\ngot:\n%s", e->notes,
            b.n == 0 ? "" : b.p);
  plan_job_close(&j);
}

Test(plan_notes, say_what_a_reader_would_not_guess) {
  for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
    check(&expectations[i]);
  }
}

Test(plan_notes, name_what_has_no_order) {
  struct plan_job j;
  plan_job_open(&j, "specs/gpt.opt", MODEL("", "{\"name\": \"a\\n\", \"shape\": [4]}"),
                false);
  struct rt_plan *p = plan_job_plan(&j, &(struct plan_options){.overlap = true});
  cr_assert_eq(p->n_notes, 1);
  cr_expect_str_eq(p->note[0],
                   "`a\n` and what else has no `order` counts as needed first");
  plan_job_close(&j);
}
